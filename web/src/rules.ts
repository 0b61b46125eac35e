// The rules with status and cost, and a form for new ones.

import { act, start } from "./actions";
import { say } from "./announce";
import { BLANK } from "./derive";
import { button, choice, field, h, replace, type Child } from "./dom";
import { failure, lastJob } from "./jobs";
import { panel } from "./panels";
import { drawn, ruleWords, running, select, store, valueName } from "./store";
import { t } from "./strings";
import type { Rule } from "./types";

export function rulesPanel(): HTMLElement {
  const shown = () => store.source.live || store.state.rules.length > 0;
  const list = drawn(h("div"), ["state", "board", "words", "jobs"], () => [shown() && panel(t.rules, ...contents())]);
  const form = drawn(h("div"), ["board", "words"], () => [store.source.live && ruleForm()]);
  return h("div", { class: `panel-place ${shown() ? "rules-place" : ""}` }, list, form);
}

function contents(): Child[] {
  const { state, source } = store;
  if (!state.rules.length) return [h("p", { class: "hint" }, t.noRules)];
  const last = lastJob("price");
  return [
    h("ul", { class: "rules" }, ...state.rules.map(line)),
    source.live && !state.costs && button(t.price, () => start("price"), { disabled: Boolean(running("price")) }),
    !state.costs && last?.status === "failed" && h("p", { class: "stale" }, failure(last)),
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
      rule.people.length ? button(words, () => select(rule.people[0]), { class: "link" }) : words,
      h("small", null, ` ${holds ? t.holds : t.broken(rule.broken)}`),
      cost && cost.numbers[0] === number && h("small", { class: "cost" }, ` · ${t.ruleCost(cost.wishes, cost.numbers.length, store.board.directed)}`),
    ),
    store.source.live && button("✕", () => act({ do: "remove-rule", number }), { class: "quiet", "aria-label": t.removeRule(words) }),
  );
}

function ruleForm(): HTMLElement {
  const attributes = Object.keys(store.people.values);
  const kinds = Object.entries(t.ruleKinds).filter(([kind]) => attributes.length || kind === "sizes" || kind === "friends");
  const fields = h("div", { class: "fields" });
  const kind = choice(kinds, null, { "aria-label": t.addRule, onchange: () => draw() });
  let read: () => Record<string, unknown> = () => ({});

  function draw(): void {
    const [content, reader] = fieldsOf(kind.value, attributes);
    replace(fields, ...content);
    read = reader;
  }
  draw();
  const add = async () => {
    if (await act({ do: "add-rule", rule: read() })) say(t.ruleAdded(t.ruleKinds[kind.value]));
  };
  return h("details", { class: "add-rule" }, h("summary", null, t.addRule), kind, fields, button(t.add, add));
}

const numberInput = (value: number, step = 1) => h("input", { type: "number", min: 0, step, value: String(value) });

function fieldsOf(kind: string, attributes: string[]): [HTMLElement[], () => Record<string, unknown>] {
  const even = Math.floor(store.people.n / store.state.clusters.length);
  const attribute = choice(attributes.map((name) => [name, name]), null);
  const value = h("select");
  const options = () => store.people.values[attribute.value].names.filter((name) => name !== BLANK);
  const list = () => replace(value, ...options().map((name) => h("option", { value: name }, valueName(name))));
  attribute.addEventListener("change", list);
  if (attributes.length) list();
  const number = numberInput({ friends: 1, not_alone: 2, shares: 10, at_least: 1, at_most: 5 }[kind] ?? 1);
  switch (kind) {
    case "sizes": {
      const low = numberInput(even);
      const high = numberInput(even + 1);
      return [[field(t.from, low), field(t.to, high)], () => ({ sizes: [Number(low.value), Number(high.value)] })];
    }
    case "friends":
      return [[field(t.howMany, number)], () => ({ friends: Number(number.value) })];
    case "not_alone":
      return [[field(t.attribute, attribute), field(t.howMany, number)], () => ({ not_alone: { [attribute.value]: Number(number.value) } })];
    case "shares":
      return [[field(t.attribute, attribute), field("± %", number)], () => ({ shares: { [attribute.value]: Number(number.value) / 100 } })];
    default:
      return [
        [field(t.attribute, attribute), field(t.value, value), field(t.howMany, number)],
        () => ({ [kind]: { [attribute.value]: { [value.value]: Number(number.value) } } }),
      ];
  }
}
