// A read-only board embedded in a page: every point of the curve with its labels.

import { t } from "./strings";
import type { Board, Drawn, Scores, Source, State } from "./types";

export interface Stored {
  board: Board;
  points: ({ labels: number[] } & Scores)[];
  drawn: Drawn | null;
}

export function storedSource({ board, points, drawn }: Stored): Source {
  let state = board.state;
  const at = (number: number): State => ({
    ...state,
    step: state.step + 1,
    revision: state.revision + 1,
    what: "point",
    labels: points[number].labels,
    scores: points[number],
    curve: { ...state.curve, here: number },
  });
  return {
    live: false,
    board: async () => ({ ...board, state }),
    state: async () => state,
    act: async (payload) => (state = at(Number(payload.number))),
    graph: async () => {
      if (!drawn) throw new Error(t.noLinks);
      return drawn;
    },
  };
}
