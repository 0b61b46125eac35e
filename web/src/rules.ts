// The rules with status and cost, and a form for new ones.

import { act, start } from "./actions";
import { say } from "./announce";
import { BLANK } from "./derive";
import { h, newId, replace } from "./dom";
import { panel } from "./panels";
import { on, ruleWords, running, select, store } from "./store";
import { t } from "./strings";
import type { Rule } from "./types";

export function rulesPanel(): HTMLElement {
  const list = h("div");
  const form = h("div");
  const shown = () => store.source.live || store.state.rules.length > 0;
  const draw = () => replace(list, shown() && panel(t.rules, ...contents()));
  on(["state", "board", "words", "jobs"], draw);
  on(["board", "words"], () => replace(form, ruleForm()));
  draw();
  replace(form, ruleForm());
  return h("div", { class: `panel-place ${shown() ? "rules-place" : ""}` }, list, form);
}

function contents(): Node[] {
  const { state, source } = store;
  if (!state.rules.length) return [h("p", { class: "hint" }, t.noRules)];
  return [
    h("ul", { class: "rules" }, ...state.rules.map(line)),
    ...(source.live && !state.costs
      ? [h("button", { type: "button", disabled: Boolean(running("price")), onclick: () => void start("price") }, t.price)]
      : []),
  ];
}

function line(rule: Rule, number: number): HTMLElement {
  const words = ruleWords(rule);
  const holds = rule.broken === 0;
  const cost = store.state.costs?.rules.find((one) => one.numbers.includes(number));
  return h(
    "li",
    { class: holds ? "" : "broken" },
    h("span", { class: `light ${holds ? "good" : "bad"}`, "aria-hidden": "true" }, holds ? "✓" : "!"),
    h(
      "span",
      { class: "rule-words" },
      rule.people.length
        ? h("button", { type: "button", class: "link", onclick: () => select(rule.people[0]) }, words)
        : words,
      h("small", null, ` ${holds ? t.holds : t.broken(rule.broken)}`),
      cost && cost.numbers[0] === number && h("small", { class: "cost" }, ` · ${t.ruleCost(cost.wishes, cost.numbers.length, store.board.directed)}`),
    ),
    store.source.live &&
      h(
        "button",
        { type: "button", class: "quiet", "aria-label": t.removeRule(words), onclick: () => void act({ do: "remove-rule", number }) },
        "✕",
      ),
  );
}

function ruleForm(): HTMLElement | string {
  if (!store.source.live) return "";
  const attributes = Object.keys(store.people.values);
  const kinds = Object.entries(t.ruleKinds).filter(([kind]) => attributes.length || kind === "sizes" || kind === "friends");
  const fields = h("div", { class: "fields" });
  const kind = h(
    "select",
    { "aria-label": t.addRule, onchange: () => draw() },
    ...kinds.map(([code, words]) => h("option", { value: code }, words)),
  );
  let read: () => Record<string, unknown> = () => ({});

  function draw(): void {
    const [content, reader] = fieldsOf(kind.value, attributes);
    replace(fields, ...content);
    read = reader;
  }
  draw();
  return h(
    "details",
    { class: "add-rule" },
    h("summary", null, t.addRule),
    kind,
    fields,
    h(
      "button",
      {
        type: "button",
        onclick: async () => {
          if (await act({ do: "add-rule", rule: read() })) say(t.ruleAdded(t.ruleKinds[kind.value]));
        },
      },
      t.add,
    ),
  );
}

function labelled(words: string, input: HTMLElement): HTMLElement {
  const id = newId("field");
  input.id = id;
  return h("span", { class: "field" }, h("label", { for: id }, words), input);
}

const numberInput = (value: number, step = 1) => h("input", { type: "number", min: 0, step, value: String(value) });

function fieldsOf(kind: string, attributes: string[]): [HTMLElement[], () => Record<string, unknown>] {
  const even = Math.floor(store.people.n / store.state.clusters.length);
  const attribute = h("select", null, ...attributes.map((name) => h("option", { value: name }, name)));
  const value = h("select");
  const list = () => replace(value, ...store.people.values[attribute.value].names.filter((name) => name !== BLANK).map((name) => h("option", { value: name }, name)));
  if (attributes.length) {
    attribute.addEventListener("change", list);
    list();
  }
  const number = numberInput({ friends: 1, not_alone: 2, shares: 10, at_least: 1, at_most: 5 }[kind] ?? 1);
  switch (kind) {
    case "sizes": {
      const low = numberInput(even);
      const high = numberInput(even + 1);
      return [[labelled(t.from, low), labelled(t.to, high)], () => ({ sizes: [Number(low.value), Number(high.value)] })];
    }
    case "friends":
      return [[labelled(t.howMany, number)], () => ({ friends: Number(number.value) })];
    case "not_alone":
      return [[labelled(t.attribute, attribute), labelled(t.howMany, number)], () => ({ not_alone: { [attribute.value]: Number(number.value) } })];
    case "shares":
      return [[labelled(t.attribute, attribute), labelled("± %", number)], () => ({ shares: { [attribute.value]: Number(number.value) / 100 } })];
    default:
      return [
        [labelled(t.attribute, attribute), labelled(t.value, value), labelled(t.howMany, number)],
        () => ({ [kind]: { [attribute.value]: { [value.value]: Number(number.value) } } }),
      ];
  }
}
