// What follows from who is where by counting alone. Scores and rules come from Python.

import type { Board, Rule, State } from "./types";

export interface Values {
  // Colour and sign of the first value: no two values of a board share theirs, as long as there are enough.
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

// How many of the people whom each one wishes for are in the same cluster.
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

export const friendless = (wishes: number[][], kept: Int32Array): number[] =>
  wishes.flatMap((friends, who) => (friends.length && !kept[who] ? [who] : []));

// The clusters that break a rule about every cluster. That it is broken, Python says; this only finds where.
export function clustersBreaking(rule: Rule, state: State, members: number[][], people: People): number[] {
  if (!rule.broken) return [];
  const all = members.map((_, i) => i);
  const values = rule.attribute ? people.values[rule.attribute] : undefined;
  switch (rule.kind) {
    case "sizes":
      return all.filter((i) => {
        const [low, high] = rule.bounds!.length > 1 ? (rule.bounds![i] ?? [null, null]) : rule.bounds![0];
        return (low !== null && members[i].length < low) || (high !== null && members[i].length > high);
      });
    case "at_least":
    case "at_most": {
      const code = values!.names.indexOf(String(rule.value));
      const off = (n: number) => (rule.kind === "at_least" ? n < rule.least! : n > rule.most!);
      return all.filter((i) => off(countsOf(values!, members[i])[code]));
    }
    case "not_alone":
      return all.filter((i) => countsOf(values!, members[i]).some((n) => n > 0 && n < rule.least!));
    case "shares":
      return all.filter((i) =>
        countsOf(values!, members[i]).some((n, code) => {
          const share = values!.totals[code] / people.n;
          const size = members[i].length;
          return n < Math.floor((share - rule.within!) * size) || n > Math.ceil((share + rule.within!) * size);
        }),
      );
    default:
      return [...new Set(rule.people.map((who) => state.labels[who]))];
  }
}
