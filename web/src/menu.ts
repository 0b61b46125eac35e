// The menu of a card, and the choice of a second person.

import { leaver, lock, move, pair } from "./actions";
import { button, dialog, h, replace, root } from "./dom";
import { isLocked, name, select, setView, store } from "./store";
import { t } from "./strings";
import { whyDialog } from "./why";

const MOST_SHOWN = 40;

export function openMenu(who: number, anchor: HTMLElement): void {
  document.querySelector(".menu")?.remove();
  select(who);
  const here = store.state.labels[who];
  const locked = isLocked(who);
  const items: [string, () => unknown][] = [
    [t.whyHere, () => whyDialog(who)],
    [locked ? t.unlock : t.lock, () => lock(who)],
    [t.keepTogether, () => choose("together", who)],
    [t.keepApart, () => choose("apart", who)],
    [t.showInGraph, () => setView("graph")],
  ];
  if (!locked) {
    store.state.clusters.forEach((cluster, to) => {
      if (to !== here) items.push([t.moveTo(cluster), () => move(who, to)]);
    });
  }
  items.push([t.leaves, () => leaver(who)]);
  const menu = h(
    "div",
    { class: "menu", role: "menu", "aria-label": t.menu(name(who)) },
    ...items.map(([label, run]) => button(label, () => (close(), run()), { role: "menuitem", tabindex: -1 })),
  );
  const buttons = [...menu.children] as HTMLElement[];

  function close(): void {
    menu.remove();
    window.removeEventListener("pointerdown", outside, true);
    if (document.activeElement === document.body || menu.contains(document.activeElement)) anchor.focus();
  }
  function outside(event: Event): void {
    if (!menu.contains(event.target as Node)) close();
  }
  menu.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to !== undefined) buttons[(to + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") {
      anchor.focus();
      close();
    } else return;
    event.preventDefault();
  });
  root().append(menu);
  const box = anchor.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  menu.style.setProperty("left", `${Math.max(4, Math.min(box.right - size.width, innerWidth - size.width - 4))}px`);
  menu.style.setProperty("top", `${Math.max(4, Math.min(box.bottom + 2, innerHeight - size.height - 4))}px`);
  window.addEventListener("pointerdown", outside, true);
  buttons[0].focus();
}

function choose(kind: "together" | "apart", who: number): void {
  const results = h("ul", { class: "choices" });
  const input = h("input", { type: "search", "aria-label": t.search, placeholder: t.search, oninput: () => list() });
  const count = h("p", { class: "hint", role: "status" });
  const box = dialog(kind === "together" ? t.keepTogether : t.keepApart, t.close, h("p", null, t.choose(name(who))), input, count, results);

  function list(): void {
    const wanted = input.value.trim().toLocaleLowerCase();
    const friends = new Set(store.board.wishes[who]);
    const found = store.board.people
      .map((_, other) => other)
      .filter((other) => other !== who && name(other).toLocaleLowerCase().includes(wanted))
      .sort((one, other) => Number(friends.has(other)) - Number(friends.has(one)));
    count.textContent = t.found(found.length);
    replace(
      results,
      ...found.slice(0, MOST_SHOWN).map((other) => {
        const where = h("small", null, ` ${store.state.clusters[store.state.labels[other]]}`);
        return h("li", null, button(h("span", null, name(other), where), () => (box.close(), pair(kind, who, other))));
      }),
    );
  }
  list();
  input.focus();
}
