// The panels beside the board: scores, composition, last step.

import { act } from "./actions";
import { countsOf, friendless, type Values } from "./derive";
import { button, h, replace, type Child } from "./dom";
import { chip, clusterColor, groupColor, sign } from "./palette";
import { drawn, name, on, running, select, store, valueName } from "./store";
import { t } from "./strings";
import { isDark } from "./theme";
import { focusCard } from "./board";

const MOST_LISTED = 12;

export const panel = (title: string, ...content: Child[]): HTMLElement => h("section", { class: "panel" }, h("h2", null, title), ...content);

function place(content: () => Child[]): HTMLElement {
  const node = drawn(h("div", { class: "panel-place" }), ["state", "board", "words"], content);
  on(["jobs"], () => store.state.costs || replace(node, ...content()));
  return node;
}

export const scoresPanel = (): HTMLElement =>
  place(() => {
    const { state, board, kept } = store;
    const scores = state.scores;
    if (!scores) return [];
    const lonely = friendless(board.wishes, kept);
    const holding = state.rules.filter((rule) => !rule.broken).length;
    const tiles = [
      scores.even !== null &&
        tile("even", t.even, t.percent(scores.even), t.evenHelp, scores.even > 0.995 && !scores.uneven.length ? "good" : scores.even > 0.8 ? "fair" : "bad"),
      tile("kept", board.directed ? t.wishes : t.friends, t.keptOf(scores.kept, scores.wished), "", ""),
      tile("alone", t.alone, String(lonely.length), `${t.aloneHelp} ${lonely.slice(0, 20).map(name).join(", ")}`, lonely.length ? "bad" : "good"),
      (store.source.live || state.rules.length > 0) &&
        tile("rules", t.rulesKept, t.keptOf(holding, state.rules.length), "", holding < state.rules.length ? "bad" : "good"),
    ];
    return [h("dl", { class: "tiles" }, ...tiles)];
  });

function tile(key: string, label: string, value: string, help: string, light: string): HTMLElement {
  const mark = { good: "✓", fair: "≈", bad: "!" }[light];
  return h(
    "div",
    { class: "tile", "data-score": key, title: help || null },
    h("dt", null, label),
    h("dd", null, h("span", { class: "figure" }, value), mark && h("span", { class: `light ${light}`, "aria-hidden": "true" }, mark)),
  );
}

export const compositionPanel = (): HTMLElement =>
  place(() => {
    const { people, state } = store;
    const attributes = Object.keys(people.values);
    if (!attributes.length) return [panel(t.composition, h("p", null, t.noAttribute))];
    if (!state.scores) return [];
    return [panel(t.composition, ...attributes.map(composition))];
  });

function composition(attribute: string): HTMLElement {
  const { board, people, state, members, source } = store;
  const values = people.values[attribute];
  const even = state.scores!.even_by_attribute[attribute];
  const chosen = state.even.includes(attribute);
  const cost = chosen ? state.costs?.attributes[attribute] : undefined;
  const costs = cost !== undefined ? t.ruleCost(cost, 1, board.directed) : chosen && running("price") ? t.costWait : "";
  const box = h("input", {
    type: "checkbox",
    checked: chosen,
    disabled: !source.live,
    onchange: () => {
      const names = chosen ? state.even.filter((one) => one !== attribute) : [...state.even, attribute];
      void act({ do: "attributes", names });
    },
  });
  const rows = state.clusters.map((cluster, i) => bar(cluster, countsOf(values, members[i]), values, clusterColor(i)));
  return h(
    "div",
    { class: "composition" },
    h("p", { class: "composition-head" }, h("label", null, box, ` ${attribute}`), h("span", { class: "figure" }, t.percent(even))),
    costs && h("p", { class: "cost", "data-cost": attribute }, costs),
    legend(values),
    h("ul", { class: "bars" }, bar(t.everybody, values.totals, values, null), ...rows),
  );
}

function legend({ names, first }: Values): HTMLElement {
  const dark = isDark();
  const shown = names.slice(0, MOST_LISTED);
  return h(
    "p",
    { class: "legend" },
    ...shown.map((value, code) => chip(groupColor(first + code, dark), sign(first + code), valueName(value))),
    names.length > shown.length && ` ${t.andMore(names.length - shown.length)}`,
  );
}

function bar(label: string, counts: number[], values: Values, color: string | null): HTMLElement {
  const dark = isDark();
  const text = counts.map((n, i) => `${valueName(values.names[i])} ${n}`).filter((_, i) => counts[i]).join(", ");
  return h(
    "li",
    { title: text },
    h("span", { class: `bar-label${color ? "" : " all"}`, style: color ? { "--cluster": color } : {} }, label),
    h(
      "span",
      { class: "stack", role: "img", "aria-label": text },
      ...counts.map((n, code) => {
        const style = { "flex-grow": String(n), "background-color": groupColor(values.first + code, dark) };
        return n > 0 && h("span", { class: "part", style }, n);
      }),
    ),
  );
}

export const lastStepPanel = (): HTMLElement =>
  place(() => {
    const { moved, state } = store;
    const content = moved.length
      ? h(
          "ul",
          { class: "moved-list" },
          ...moved.slice(0, MOST_LISTED).map(({ who, from, to }) =>
            h(
              "li",
              null,
              button(t.movedFromTo(name(who), state.clusters[from], state.clusters[to]), () => (select(who), focusCard(who)), { class: "link" }),
            ),
          ),
          moved.length > MOST_LISTED && h("li", null, t.andMore(moved.length - MOST_LISTED)),
        )
      : h("p", { class: "hint" }, t.nobodyMoved);
    return [panel(t.lastStep, content)];
  });
