// The state of the page, and its subscribers.

import { keptOf, membersOf, peopleOf, type People } from "./derive";
import { replace, type Child } from "./dom";
import type { Board, Job, Rule, Source, State } from "./types";
import { lang, t } from "./strings";

export type View = "board" | "graph";

export interface Moved {
  who: number;
  from: number;
  to: number;
}

export interface Store {
  source: Source;
  board: Board;
  people: People;
  state: State;
  kept: Int32Array;
  members: number[][];
  helped: Set<number>;
  hurt: Set<number>;
  moved: Moved[];
  selected: number | null;
  view: View;
  jobs: Map<number, Job>;
  search: string;
  lost: boolean;
}

type Part = "board" | "state" | "view" | "selected" | "jobs" | "words" | "search";
const listeners = new Map<Part, (() => void)[]>();
export let store: Store;

export function on(parts: Part[], listener: () => void): void {
  for (const part of parts) listeners.set(part, [...(listeners.get(part) ?? []), listener]);
}

export function tell(part: Part): void {
  for (const listener of listeners.get(part) ?? []) listener();
}

// Draw the content of an element, now and whenever a part changes.
export function drawn<T extends Element>(place: T, parts: Part[], content: () => Child[]): T {
  const draw = () => replace(place, ...content());
  on(parts, draw);
  draw();
  return place;
}

export function begin(source: Source, board: Board): void {
  store = {
    source,
    board,
    people: peopleOf(board),
    state: board.state,
    kept: new Int32Array(0),
    members: [],
    helped: new Set(),
    hurt: new Set(),
    moved: [],
    selected: null,
    view: store?.view ?? "board",
    jobs: store?.jobs ?? new Map(),
    search: "",
    lost: false,
  };
  count(board.state);
}

// Groups without a given name have a default name in the language of the page.
const inWords = (cluster: string): string => cluster.replace(/^(Group|Gruppe) (?=\d+$)/, `${t.group} `);

function count(given: State): void {
  const { board } = store;
  const state = (store.state = { ...given, clusters: given.clusters.map(inWords) });
  store.members = membersOf(state.labels, state.clusters.length);
  store.kept = state.labels.length ? keptOf(board.wishes, state.labels) : new Int32Array(board.people.length);
}

// Apply a new state, and find people moved, helped and hurt by the step.
export function take(state: State): void {
  const before = store.state;
  const kept = store.kept;
  const comparable = before.labels.length > 0 && before.labels.length === state.labels.length;
  count(state);
  if (comparable && state.step !== before.step) {
    store.moved = [];
    store.helped = new Set();
    store.hurt = new Set();
    state.labels.forEach((to, who) => {
      const from = before.labels[who];
      if (from !== to) store.moved.push({ who, from, to });
      if (store.kept[who] > kept[who]) store.helped.add(who);
      if (store.kept[who] < kept[who]) store.hurt.add(who);
    });
  }
  tell("state");
}

// Apply a state from the server; load the whole board if its people changed.
export async function receive(state: State): Promise<void> {
  if (state.mark === store.board.mark) take(state);
  else show(store.source, await store.source.board());
}

// Show everything in the chosen language.
export function translate(): void {
  count(store.state);
  tell("words");
}

export function show(source: Source, board: Board): void {
  begin(source, board);
  tell("board");
  tell("state");
}

export function select(who: number | null): void {
  if (store.selected === who) return;
  store.selected = who;
  tell("selected");
}

export function setView(view: View): void {
  store.view = view;
  tell("view");
}

export const name = (who: number): string => store.board.people[who];
// A value in the language of the page, such as that of unmarked people or a range of numbers.
export const valueName = (value: string): string =>
  value === "(blank)" ? t.unmarked : value.replace(/^(-?[\d.]+) to (-?[\d.]+)$/, (_, low, high) => `${amount(low)}–${amount(high)}`);
const amount = (text: string): string => Number(text).toLocaleString(lang(), { maximumFractionDigits: 9, useGrouping: false });
export const isLocked = (who: number): boolean => store.state.locked.includes(who);
export const running = (kind: string): Job | undefined =>
  [...store.jobs.values()].find((job) => job.kind === kind && job.status === "running");

export function ruleWords(rule: Rule): string {
  const groups = rule.clusters ?? (rule.cluster === undefined ? [] : [rule.cluster]);
  const say = t.ruleWords[rule.kind];
  const given = rule.value === undefined ? rule : { ...rule, value: valueName(rule.value) };
  return say ? say(given, rule.names ?? rule.people.map(name), groups.map((i) => store.state.clusters[i] ?? "?")) : rule.says.replace(/\.$/, "");
}
