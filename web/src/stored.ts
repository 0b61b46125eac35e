// A read-only board embedded in a page: every point of the curve with its labels.

import { t } from "./strings";
import type { Board, Drawn, Scores, Source, State } from "./types";

export interface Stored {
  board: Omit<Board, "state" | "wishes">;
  state: State;
  // Labels of the first point; for further ones the changes: offset to the next changed person, new cluster.
  first: number[];
  changes: number[][];
  scores: Scores[];
  links: number[];
  drawn: (Omit<Drawn, "links"> & { links: number[] | null }) | null;
}

function labelsOf(content: Stored): number[][] {
  const all = [content.first];
  for (const changes of content.changes) {
    const labels = [...all[all.length - 1]];
    let place = 0;
    for (let i = 0; i < changes.length; i += 2) labels[(place += changes[i])] = changes[i + 1];
    all.push(labels);
  }
  return all;
}

function wishesOf(n: number, links: number[]): number[][] {
  const wishes: number[][] = Array.from({ length: n }, () => []);
  for (let i = 0; i < links.length; i += 2) {
    wishes[links[i]].push(links[i + 1]);
    wishes[links[i + 1]].push(links[i]);
  }
  return wishes;
}

export function storedSource(content: Stored): Source {
  const labels = labelsOf(content);
  const board = { ...content.board, wishes: wishesOf(content.first.length, content.links) };
  let state = content.state;
  const at = (number: number): State => ({
    ...state,
    step: state.step + 1,
    revision: state.revision + 1,
    what: "point",
    labels: labels[number],
    scores: content.scores[number],
    curve: { ...state.curve, here: number },
  });
  return {
    live: false,
    board: async () => ({ ...board, state }),
    state: async () => state,
    act: async (payload) => (state = at(Number(payload.number))),
    graph: async () => {
      if (!content.drawn) throw new Error(t.noLinks);
      return { ...content.drawn, links: content.drawn.links ?? content.links };
    },
  };
}
