// A board that was stored in a page: every point of the curve with its labels, and nothing that can be changed.

import type { Board, Drawn, Scores, Source, State } from "./types";

export interface Stored {
  board: Omit<Board, "state">;
  state: State;
  // One text per point: a letter from "0" on for each person.
  labels: string[];
  scores: Scores[];
  broken: number[][];
  drawn: Drawn | null;
}

const FIRST = 48;

export function storedSource(content: Stored): Source {
  let state = content.state;
  let step = 0;
  const at = (number: number): State => ({
    ...state,
    step: (step += 1),
    revision: state.revision + 1,
    what: "point",
    labels: Array.from(content.labels[number], (letter) => letter.charCodeAt(0) - FIRST),
    scores: content.scores[number],
    rules: state.rules.map((rule, i) => ({ ...rule, broken: content.broken[number]?.[i] ?? 0 })),
    curve: { ...state.curve, here: number },
  });
  return {
    live: false,
    board: async () => ({ ...content.board, state }),
    state: async () => state,
    act: async (told) => (state = at(Number(told.number))),
    graph: async () => {
      if (!content.drawn) throw new Error("");
      return content.drawn;
    },
  };
}
