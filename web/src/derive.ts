// Counts derived from the labels. Scores and rules come from Python.

import type { Board } from "./types";

export interface Values {
  // Colour and sign of the first value; unique for each value of a board while there are enough.
  first: number;
  names: string[];
  codes: Int32Array;
  totals: number[];
}

export interface People {
  n: number;
  values: Record<string, Values>;
}

export function peopleOf(board: Board): People {
  const values: Record<string, Values> = {};
  let first = 0;
  for (const [attribute, column] of Object.entries(board.attributes)) {
    const totals = new Map<string, number>();
    for (const value of column) totals.set(value, (totals.get(value) ?? 0) + 1);
    const names = [...totals.keys()].sort((one, other) => one.localeCompare(other));
    const place = new Map(names.map((name, i) => [name, i]));
    values[attribute] = {
      first,
      names,
      codes: Int32Array.from(column, (value) => place.get(value)!),
      totals: names.map((name) => totals.get(name)!),
    };
    first += names.length;
  }
  return { n: board.people.length, values };
}

// Number of wishes kept of each person.
export function keptOf(wishes: number[][], labels: number[]): Int32Array {
  return Int32Array.from(wishes, (friends, who) => {
    let kept = 0;
    for (const friend of friends) if (labels[friend] === labels[who]) kept += 1;
    return kept;
  });
}

export function membersOf(labels: number[], k: number): number[][] {
  const members: number[][] = Array.from({ length: k }, () => []);
  labels.forEach((label, who) => members[label].push(who));
  return members;
}

export function countsOf(values: Values, members: number[]): number[] {
  const counts = new Array<number>(values.names.length).fill(0);
  for (const who of members) counts[values.codes[who]] += 1;
  return counts;
}

// Value of a blank cell; such people do not count for evenness.
export const BLANK = "–";

export const friendless = (wishes: number[][], kept: Int32Array): number[] =>
  wishes.flatMap((friends, who) => (friends.length && !kept[who] ? [who] : []));
