// The toolbar: actions on the whole board.

import { redo, start, undo } from "./actions";
import { api } from "./api";
import { warn } from "./announce";
import { arrivalDialog } from "./arrival";
import { findAlternatives } from "./compare";
import { downloadsDialog } from "./downloads";
import { h, replace } from "./dom";
import { on, receive, running, store, translate } from "./store";
import { languages, lang, speak, t } from "./strings";
import { toggleTheme } from "./theme";
import { openDialog } from "./upload";
import type { Board } from "./types";

export function bar(opened: (board: Board) => void): HTMLElement {
  const place = h("header", { class: "bar" });
  const draw = () => {
    const { state, board, source } = store;
    const ready = state.labels.length > 0;
    const active = document.activeElement as HTMLInputElement | null;
    const focused = active?.dataset?.do;
    // A number that is being typed is not overwritten.
    if (focused === "number" && active!.value !== String(state.clusters.length)) return;
    const button = (what: string, words: string, run: () => void, options: Record<string, unknown> = {}) =>
      h("button", { type: "button", "data-do": what, onclick: run, ...options }, words);
    replace(
      place,
      h("h1", null, board.title),
      source.live &&
        h(
          "div",
          { class: "tools", role: "toolbar", "aria-label": t.title },
          button("undo", `↶ ${t.undo}`, () => void undo(), { disabled: !state.can_undo }),
          button("redo", `↷ ${t.redo}`, () => void redo(), { disabled: !state.can_redo }),
          button("repair", t.repair, () => void start("repair"), { class: "primary", title: t.repairHelp, disabled: !ready || Boolean(running("repair")) }),
          button("alternatives", t.alternatives, () => void findAlternatives(), { title: t.alternativesHelp, disabled: !ready || Boolean(running("alternatives")) }),
          numberField(),
          button("arrival", t.arrival, arrivalDialog, { disabled: !ready }),
          button("open", t.open, () => openDialog(opened)),
          button("save", t.save, downloadsDialog, { disabled: !ready }),
        ),
      h(
        "div",
        { class: "tools settings" },
        h(
          "select",
          {
            "aria-label": t.languageLabel,
            "data-do": "language",
            onchange: (event: Event) => {
              speak((event.target as HTMLSelectElement).value);
              document.documentElement.lang = lang();
              translate();
            },
          },
          ...languages().map(([code, words]) => h("option", { value: code, selected: code === lang() }, words)),
        ),
        button("theme", "◐", toggleTheme, { "aria-label": t.theme, title: t.theme }),
      ),
    );
    if (focused) place.querySelector<HTMLElement>(`[data-do="${focused}"]`)?.focus();
  };
  on(["state", "board", "words", "jobs"], draw);
  addEventListener("keydown", (event) => {
    // Text fields have their own undo; the board behind a dialog does not change.
    const typing = (event.target as HTMLElement).matches?.("input:not([type=range], [type=checkbox], [type=number]), textarea") || document.querySelector("dialog[open]");
    const key = event.key.toLowerCase();
    if (typing || !(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    void (event.shiftKey || key === "y" ? redo() : undo());
  });
  draw();
  return place;
}

function numberField(): HTMLElement {
  const input = h("input", {
    type: "number",
    min: 2,
    max: Math.min(60, store.people.n),
    value: String(store.state.clusters.length),
    "data-do": "number",
    onchange: async () => {
      try {
        await receive(await api.number(Number(input.value)));
      } catch (error) {
        warn((error as Error).message);
        input.value = String(store.state.clusters.length);
      }
    },
  });
  return h("label", { class: "number" }, h("span", null, t.number), input);
}
