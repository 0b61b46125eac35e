// Reasons for the cluster of a person: effects of every other cluster.

import { api } from "./api";
import { attempt } from "./announce";
import { dialog, h } from "./dom";
import { clusterColor } from "./palette";
import { name, ruleWords, store } from "./store";
import { t } from "./strings";
import type { Option } from "./types";

export async function whyDialog(who: number): Promise<void> {
  const why = await attempt(api.why(who));
  if (!why) return;
  const here = store.state.clusters[store.state.labels[who]];
  dialog(
    t.whyTitle(name(who)),
    t.close,
    why.locked && h("p", null, h("span", { class: "lock" }), ` ${t.whyLocked}`),
    h("p", null, t.whyIntro(name(who), here)),
    h("ul", { class: "why" }, ...why.options.map(line)),
  );
}

function line(option: Option): HTMLElement {
  const rules = (numbers: number[]) => numbers.map((number) => ruleWords(store.state.rules[number]));
  const facts = option.here
    ? [t.whyHereNow, t.whyFriends(option.friends.map(name))]
    : [
        t.whyFriends(option.friends.map(name)),
        t.whyKept(option.kept, store.board.directed),
        option.even === null ? "" : t.whyEven(option.even),
        option.breaks.length ? t.whyBreaks(rules(option.breaks)) : "",
        option.mends.length ? t.whyMends(rules(option.mends)) : "",
      ];
  return h(
    "li",
    { class: option.here ? "here" : "", style: { "--cluster": clusterColor(option.cluster) } },
    h("strong", null, store.state.clusters[option.cluster]),
    h("span", null, facts.filter(Boolean).join(" · ")),
  );
}
