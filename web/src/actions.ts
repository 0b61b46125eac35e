// Actions on the board, with their announcements.

import { api } from "./api";
import { attempt, clear, say } from "./announce";
import { name, select, receive, running, store, ruleWords } from "./store";
import { t } from "./strings";
import type { Job, State } from "./types";

// Times of actions, from request to display, for the benchmark.
const times: { what: string; ms: number }[] = [];
(globalThis as Record<string, unknown>).equigraphTimes = times;

export async function act(payload: Record<string, unknown>, what = String(payload.do)): Promise<boolean> {
  const start = performance.now();
  const state = await attempt(store.source.act(payload));
  if (!state) return false;
  await receive(state);
  clear();
  requestAnimationFrame(() => setTimeout(() => times.push({ what, ms: performance.now() - start })));
  return true;
}

const broken = (state: State) => state.rules.filter((rule) => rule.broken).length;

export async function move(who: number, to: number): Promise<void> {
  if (store.state.labels[who] === to) return;
  if (await act({ do: "move", who, to }, "drop")) {
    const { state } = store;
    const scores = state.scores!;
    say(t.dropped(name(who), state.clusters[to], scores.even, scores.kept, scores.wished, store.board.directed, broken(state)));
  }
}

export async function undo(): Promise<void> {
  if (store.state.can_undo && (await act({ do: "undo" }))) say(t.undone);
}

export async function redo(): Promise<void> {
  if (store.state.can_redo && (await act({ do: "redo" }))) say(t.redone);
}

export async function lock(who: number): Promise<void> {
  if (await act({ do: "lock", who })) {
    say(store.state.locked.includes(who) ? t.lockedNow(name(who)) : t.unlockedNow(name(who)));
  }
}

export async function pair(kind: "together" | "apart", who: number, other: number): Promise<void> {
  if (await act({ do: kind, who, other })) {
    const { rules } = store.state;
    say(t.ruleAdded(ruleWords(rules[rules.length - 1])));
  }
}

// Throws the error sentence, which the dialog shows.
export async function arrival(person: { name: string; values: Record<string, string>; friends: number[] }): Promise<void> {
  await receive(await store.source.act({ do: "arrival", ...person }));
  const who = store.board.people.length - 1;
  const { state, kept, board } = store;
  select(who);
  say(t.arrived(name(who), state.clusters[state.labels[who]], kept[who], board.wishes[who].length));
}

export async function leaver(who: number): Promise<void> {
  const gone = name(who);
  if (await act({ do: "leaver", who })) say(t.hasLeft(gone));
}

// The dial may move faster than responses arrive: only the last request counts.
let wanted: number | null = null;
let asking = false;
export async function takePoint(number: number): Promise<void> {
  wanted = number;
  if (asking) return;
  asking = true;
  while (wanted !== null) {
    const next: number = wanted;
    wanted = null;
    await act({ do: "point", number: next }, "dial");
  }
  asking = false;
  say(t.moved(store.moved.length));
}

export async function start(kind: string): Promise<Job | undefined> {
  if (running(kind)) return;
  clear();
  return attempt(api.start(kind));
}
