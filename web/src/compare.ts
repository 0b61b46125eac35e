// Alternatives side by side.

import { act, start } from "./actions";
import { warn } from "./announce";
import { api } from "./api";
import { countsOf, keptOf, membersOf, friendless } from "./derive";
import { dialog, h } from "./dom";
import { clusterColor } from "./palette";
import { on, store, valueName } from "./store";
import { t } from "./strings";
import type { Alternative } from "./types";

let wanted = false;

export function watchAlternatives(): void {
  on(["jobs"], () => {
    if (!wanted) return;
    const job = [...store.jobs.values()].filter((one) => one.kind === "alternatives").pop();
    if (job && (job.status === "failed" || job.status === "cancelled")) wanted = false;
    if (job?.status === "done") void sayNone();
  });
  on(["state"], () => {
    if (wanted && store.state.alternatives.length) {
      wanted = false;
      show();
    }
  });
}

async function sayNone(): Promise<void> {
  const { alternatives } = await api.state();
  if (!wanted || alternatives.length) return;
  wanted = false;
  warn(t.compareNone);
}

export async function findAlternatives(): Promise<void> {
  wanted = true;
  store.state.alternatives = [];
  await start("alternatives");
}

function show(): void {
  const { state } = store;
  const here: Alternative = { labels: state.labels, even: state.scores!.even ?? 0, kept: state.scores!.kept, moved: 0 };
  const box = dialog(
    t.compareTitle,
    t.close,
    h("div", { class: "compare" }, column(here, null), ...state.alternatives.map((one, i) => column(one, i))),
  );
  box.classList.add("wide");

  function column(one: Alternative, number: number | null): HTMLElement {
    const members = membersOf(one.labels, state.clusters.length);
    const lonely = friendless(store.board.wishes, keptOf(store.board.wishes, one.labels)).length;
    const attribute = state.even[0];
    const values = attribute ? store.people.values[attribute] : null;
    return h(
      "section",
      { class: "alternative" },
      h("h3", null, number === null ? t.compareThis : String.fromCharCode(65 + number)),
      h(
        "dl",
        null,
        h("dt", null, t.even),
        h("dd", null, t.percent(one.even)),
        h("dt", null, store.board.directed ? t.wishes : t.friends),
        h("dd", null, t.keptOf(one.kept, state.scores!.wished)),
        h("dt", null, t.alone),
        h("dd", null, String(lonely)),
      ),
      h(
        "ul",
        { class: "small-clusters" },
        ...members.map((people, i) =>
          h(
            "li",
            { style: { "--cluster": clusterColor(i) } },
            h("strong", null, `${state.clusters[i]} (${people.length})`),
            values && h("small", null, countsOf(values, people).map((n, code) => `${valueName(values.names[code])} ${n}`).join(", ")),
            people.length <= 60 && h("span", null, people.map((who) => mark(who, one)).join(", ")),
          ),
        ),
      ),
      number === null
        ? h("p", null, " ")
        : h("p", { class: "hint" }, t.compareMoves(one.moved)),
      number !== null &&
        h(
          "button",
          {
            type: "button",
            class: "primary",
            onclick: async () => {
              box.close();
              await act({ do: "alternative", number });
            },
          },
          t.compareTake,
        ),
    );
  }

  function mark(who: number, one: Alternative): string {
    return one.labels[who] === state.labels[who] ? store.board.people[who] : `▸${store.board.people[who]}`;
  }
}
