// Alternatives side by side.

import { act, start } from "./actions";
import { warn } from "./announce";
import { api } from "./api";
import { countsOf, keptOf, membersOf, friendless } from "./derive";
import { button, dialog, h } from "./dom";
import { clusterColor } from "./palette";
import { name, on, receive, store, valueName } from "./store";
import { t } from "./strings";
import type { Alternative } from "./types";

let wanted: number | undefined; // of the job whose end is waited for

export const watchAlternatives = (): void => on(["jobs"], () => void showFound());

export async function findAlternatives(): Promise<void> {
  wanted = (await start("alternatives"))?.number;
  await showFound();
}

async function showFound(): Promise<void> {
  const job = wanted === undefined ? undefined : store.jobs.get(wanted);
  if (!job || job.status === "running") return;
  wanted = undefined;
  if (job.status !== "done") return;
  await receive(await api.state());
  if (store.state.alternatives.length) show();
  else warn(t.compareNone);
}

function show(): void {
  const { state } = store;
  const here: Alternative = { labels: state.labels, even: state.scores!.even, kept: state.scores!.kept, moved: 0 };
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
        ...[
          [t.even, one.even === null ? "–" : t.percent(one.even)],
          [store.board.directed ? t.wishes : t.friends, t.keptOf(one.kept, state.scores!.wished)],
          [t.alone, String(lonely)],
        ].flatMap(([words, value]) => [h("dt", null, words), h("dd", null, value)]),
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
      number !== null && h("p", { class: "hint" }, t.compareMoves(one.moved)),
      number !== null && button(t.compareTake, () => (box.close(), act({ do: "alternative", number })), { class: "primary" }),
    );
  }

  function mark(who: number, one: Alternative): string {
    return one.labels[who] === state.labels[who] ? name(who) : `▸${name(who)}`;
  }
}
