// The board: a column per cluster, a card per person.

import { act, lock, move, start } from "./actions";
import { say } from "./announce";
import { BLANK } from "./derive";
import { button, h, replace } from "./dom";
import { dragFrom } from "./drag";
import { failure, lastJob } from "./jobs";
import { openMenu } from "./menu";
import { chip, clusterColor, groupColor, sign } from "./palette";
import { isLocked, name, on, select, store, valueName } from "./store";
import { lang, t } from "./strings";
import { isDark } from "./theme";

const MOST_CARDS = 60;
// Value of a blank cell, which cards do not show.
const BLANKS = [BLANK, "(blank)"];
const place = h("div", { class: "columns", id: "board" });
const shown = new Map<number, number>();
let grabbed: { who: number; to: number } | null = null;

export function boardView(): HTMLElement {
  on(["board", "words"], () => {
    shown.clear();
    cards.clear();
    columns = [];
    draw();
  });
  on(["state", "search"], draw);
  on(["jobs"], () => store.state.labels.length || draw());
  on(["selected"], mark);
  place.addEventListener("keydown", onKey);
  place.addEventListener("focusin", (event) => {
    const who = whoIs(event.target);
    if (who !== null) select(who);
  });
  draw();
  return place;
}

function whoIs(target: EventTarget | null): number | null {
  const card = (target as Element | null)?.closest<HTMLElement>("[data-who]");
  return card ? Number(card.dataset.who) : null;
}

function draw(): void {
  const { state } = store;
  if (!state.labels.length) {
    columns = [];
    replace(place, waiting());
    return;
  }
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const who = place.contains(focused) ? whoIs(focused) : null;
  const part = focused?.dataset.part;
  if (columns.length !== state.clusters.length) {
    columns = state.clusters.map((_, cluster) => newColumn(cluster));
    replace(place, ...columns.map((one) => one.node));
  }
  const movers = new Set(store.moved.map((one) => one.who));
  columns.forEach((one, cluster) => fillColumn(one, cluster, movers));
  mark();
  if (who !== null && document.activeElement !== focused) focusCard(who, part);
}

function waiting(): HTMLElement {
  const job = lastJob("first");
  if (!job || job.status === "running" || job.status === "done")
    return h("div", { class: "wait", role: "status" }, h("p", null, t.making), h("p", { class: "hint" }, t.makingFirst));
  return h(
    "div",
    { class: "wait" },
    h("p", { class: "error" }, job.status === "failed" ? failure(job) : t.jobCancelled(t.jobs.first)),
    h("p", null, button(t.openIt, () => start("first"), { class: "primary" })),
  );
}

export function focusCard(who: number, part = "card"): void {
  const label = store.state.labels[who];
  const at = store.members[label]?.indexOf(who) ?? -1;
  if (at >= (shown.get(label) ?? MOST_CARDS)) {
    shown.set(label, at + 1);
    draw();
  }
  const target = place.querySelector<HTMLElement>(`[data-who="${who}"] [data-part="${part}"]`);
  target?.focus();
  target?.scrollIntoView({ inline: "nearest", block: "nearest" });
}

type Light = "good" | "alone" | "fair" | "bad";

function light(cluster: number): Light {
  const { state, members, board, kept } = store;
  if (state.rules.some((rule) => rule.where.includes(cluster))) return "bad";
  if (members[cluster].some((who) => board.wishes[who].length && !kept[who])) return "alone";
  return state.scores?.uneven.includes(cluster) ? "fair" : "good";
}

interface ColumnParts {
  node: HTMLElement;
  head: HTMLElement;
  list: HTMLElement;
  foot: HTMLElement;
  said: string;
}

let columns: ColumnParts[] = [];
const cards = new Map<number, { said: string; node: HTMLElement }>();

function newColumn(cluster: number): ColumnParts {
  const [head, list, foot] = [h("header"), h("ul", { class: "cards" }), h("div")];
  const style = { "--cluster": clusterColor(cluster) };
  const node = h("section", { class: "column", "data-cluster": cluster, "aria-labelledby": `cluster-${cluster}`, style }, head, list, foot);
  return { node, head, list, foot, said: "" };
}

// Only changed cards are updated: a board may have thousands, and a step changes few.
function fillColumn(column: ColumnParts, cluster: number, movers: Set<number>): void {
  const here = filtered(store.members[cluster]);
  const many = shown.get(cluster) ?? MOST_CARDS;
  column.node.classList.toggle("target", grabbed?.to === cluster);
  fillHead(column, cluster, light(cluster));
  arrange(column.list, here.slice(0, many).map((who) => card(who, movers)));
  const rest = here.length - many;
  const more = () => {
    shown.set(cluster, many + 4 * MOST_CARDS);
    draw();
  };
  replace(column.foot, rest > 0 && button(t.more(rest), more, { class: "more" }));
}

function fillHead(column: ColumnParts, cluster: number, state: Light): void {
  const name = store.state.clusters[cluster];
  const size = store.members[cluster].length;
  const said = JSON.stringify([name, size, state, lang(), store.source.live]);
  if (said === column.said) return;
  column.said = said;
  const label = store.source.live
    ? h("input", {
        class: "cluster-name",
        value: name,
        maxlength: 60,
        "aria-label": t.rename(name),
        onchange: (event: Event) => rename(cluster, event.target as HTMLInputElement),
      })
    : h("span", { class: "cluster-name" }, name);
  replace(
    column.head,
    h("h2", { id: `cluster-${cluster}`, class: "unseen" }, name),
    label,
    h("span", { class: "size", title: t.people(size) }, t.sizeOf(size)),
    h(
      "span",
      { class: `light ${state}`, title: t.light[state], role: "img", "aria-label": t.light[state] },
      { good: "✓", alone: "!", fair: "≈", bad: "!" }[state],
    ),
  );
}

// Reorder the children of a list with as few moves as possible.
function arrange(list: HTMLElement, wanted: HTMLElement[]): void {
  const staying = new Set<Element>(wanted);
  for (const child of [...list.children]) if (!staying.has(child)) child.remove();
  let at = list.firstElementChild;
  for (const node of wanted) {
    if (node === at) at = at.nextElementSibling;
    else list.insertBefore(node, at);
  }
}

function filtered(members: number[]): number[] {
  const wanted = store.search.trim().toLocaleLowerCase();
  return wanted ? members.filter((who) => name(who).toLocaleLowerCase().includes(wanted)) : members;
}

async function rename(cluster: number, input: HTMLInputElement): Promise<void> {
  if (input.value === store.state.clusters[cluster]) return;
  if (!(await act({ do: "rename", cluster, name: input.value }))) input.value = store.state.clusters[cluster];
}

function card(who: number, movers: Set<number>): HTMLElement {
  const state = [
    store.helped.has(who) && "helped",
    store.hurt.has(who) && "hurt",
    movers.has(who) && "moved",
    isLocked(who) && "locked",
    grabbed?.who === who && "grabbed",
  ].filter(Boolean);
  const said = JSON.stringify([name(who), state, store.kept[who], lang(), isDark(), store.source.live]);
  const known = cards.get(who);
  if (known?.said === said) return known.node;
  const node = newCard(who, state.join(" "));
  cards.set(who, { said, node });
  return node;
}

function newCard(who: number, state: string): HTMLElement {
  const { board, people, kept, helped, hurt, source } = store;
  const locked = isLocked(who);
  const wished = board.wishes[who].length;
  const groups = Object.entries(people.values).map(([attribute, values]) => ({ attribute, values, code: values.codes[who] }));
  const known = groups.filter(({ values, code }) => !BLANKS.includes(values.names[code]));
  const spoken = known.map((group) => valueName(group.values.names[group.code])).join(", ");
  const dark = isDark();
  const change = helped.has(who) ? t.helped : hurt.has(who) ? t.hurt : "";
  return h(
    "li",
    { class: `card ${state}`, "data-who": who },
    h(
      "button",
      {
        type: "button",
        class: "card-main",
        "data-part": "card",
        "aria-label": t.card(name(who), spoken, kept[who], wished, locked) + (change ? `, ${change}` : ""),
        title: board.wishes[who].map(name).slice(0, 12).join(", "),
        onclick: () => select(who),
        onpointerdown: source.live && !locked ? (event: PointerEvent) => dragFrom(event, who) : null,
      },
      h("span", { class: "card-name" }, name(who), locked && h("span", { class: "lock", title: t.locked, role: "img", "aria-label": t.locked })),
      h(
        "span",
        { class: "chips" },
        ...known.slice(0, 4).map(({ attribute, values, code }) => {
          const [place, words] = [values.first + code, valueName(values.names[code])];
          return chip(groupColor(place, dark), sign(place), words, `${attribute}: ${words}`);
        }),
      ),
      h(
        "span",
        { class: `friends ${wished && !kept[who] ? "none" : ""}`, title: wished ? t.friendsHere(kept[who], wished) : store.board.mutual ? t.noMutualWishes : t.noWishes },
        wished ? `${kept[who]}/${wished}` : "–",
        h("span", { class: "change" }, helped.has(who) ? " ▲" : hurt.has(who) ? " ▼" : ""),
      ),
    ),
    source.live &&
      button("⋯", (event) => openMenu(who, event.currentTarget as HTMLElement), {
        class: "card-menu",
        "data-part": "menu",
        "aria-label": t.menu(name(who)),
        "aria-haspopup": "menu",
      }),
  );
}

// Mark the selected card, and the cards linked to it by a wish.
function mark(): void {
  const { selected, board } = store;
  const friends = new Set(selected === null ? [] : board.wishes[selected]);
  for (const node of place.querySelectorAll<HTMLElement>("[data-who]")) {
    const who = Number(node.dataset.who);
    node.classList.toggle("selected", who === selected);
    node.classList.toggle("friend", friends.has(who));
  }
}

function onKey(event: KeyboardEvent): void {
  const part = (event.target as HTMLElement).dataset.part;
  const who = whoIs(event.target);
  if (who === null || part !== "card" || event.ctrlKey || event.metaKey || event.altKey) return;
  const handled = grabbed ? onKeyGrabbed(event.key) : onKeyFree(event.key, who, event.target as HTMLElement);
  if (handled) event.preventDefault();
}

function onKeyGrabbed(key: string): boolean {
  const { who, to } = grabbed!;
  const k = store.state.clusters.length;
  if (key === "ArrowRight" || key === "ArrowLeft") {
    grabbed!.to = (to + (key === "ArrowRight" ? 1 : k - 1)) % k;
    say(t.over(store.state.clusters[grabbed!.to], store.members[grabbed!.to].length));
    draw();
    place.querySelector(".column.target")?.scrollIntoView({ inline: "nearest", block: "nearest" });
  } else if (key === "Enter" || key === " ") {
    grabbed = null;
    if (store.state.labels[who] === to) {
      say(t.putBack(name(who)));
      draw();
    } else void move(who, to).then(() => draw());
  } else if (key === "Escape" || key === "Tab") {
    grabbed = null;
    say(t.putBack(name(who)));
    draw();
    return key === "Escape";
  } else return false;
  return true;
}

function onKeyFree(key: string, who: number, target: HTMLElement): boolean {
  const label = store.state.labels[who];
  const members = filtered(store.members[label]);
  const at = members.indexOf(who);
  const beside = (step: number) => {
    const k = store.state.clusters.length;
    for (let next = (label + step + k) % k; next !== label; next = (next + step + k) % k) {
      const others = filtered(store.members[next]);
      if (others.length) return others[Math.min(at, others.length - 1)];
    }
    return who;
  };
  const neighbour: Record<string, () => number> = {
    ArrowDown: () => members[Math.min(at + 1, members.length - 1)],
    ArrowUp: () => members[Math.max(at - 1, 0)],
    ArrowRight: () => beside(1),
    ArrowLeft: () => beside(-1),
    Home: () => members[0],
    End: () => members[members.length - 1],
  };
  if (neighbour[key]) {
    focusCard(neighbour[key]());
    return true;
  }
  if (!store.source.live) return false;
  if (key === "Enter" || key === " ") {
    if (isLocked(who)) {
      say(t.lockedNow(name(who)));
      return true;
    }
    grabbed = { who, to: label };
    say(`${t.grabbed(name(who), store.state.clusters[label])} ${t.cardHelp}`);
    draw();
    return true;
  }
  if (key === "l" || key === "L") void lock(who);
  else if (key === "m" || key === "M" || key === "ContextMenu") openMenu(who, target);
  else return false;
  return true;
}
