// The toolbar: actions on the whole board.

import { redo, start, undo } from "./actions";
import { api } from "./api";
import { attempt } from "./announce";
import { arrivalDialog } from "./arrival";
import { findAlternatives } from "./compare";
import { downloadsDialog } from "./downloads";
import { button, choice, h, replace } from "./dom";
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
    const tool = (what: string, words: string, run: () => unknown, options: Record<string, unknown> = {}) => button(words, run, { "data-do": what, ...options });
    replace(
      place,
      h("h1", null, board.title),
      source.live &&
        h(
          "div",
          { class: "tools", role: "toolbar", "aria-label": t.title },
          tool("undo", `↶ ${t.undo}`, () => undo(), { disabled: !state.can_undo }),
          tool("redo", `↷ ${t.redo}`, () => redo(), { disabled: !state.can_redo }),
          tool("repair", t.repair, () => start("repair"), { class: "primary", title: t.repairHelp, disabled: !ready || Boolean(running("repair")) }),
          tool("alternatives", t.alternatives, () => findAlternatives(), { title: t.alternativesHelp, disabled: !ready || Boolean(running("alternatives")) }),
          numberField(),
          tool("arrival", t.arrival, arrivalDialog, { disabled: !ready }),
          tool("open", t.open, () => openDialog(opened)),
          tool("save", t.save, downloadsDialog, { disabled: !ready }),
        ),
      h(
        "div",
        { class: "tools settings" },
        choice(languages(), lang(), { "aria-label": t.languageLabel, "data-do": "language", onchange: (event: Event) => speakOn((event.target as HTMLSelectElement).value) }),
        tool("theme", "◐", toggleTheme, { "aria-label": t.theme, title: t.theme }),
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

function speakOn(code: string): void {
  speak(code);
  document.documentElement.lang = lang();
  translate();
}

function numberField(): HTMLElement {
  const input = h("input", {
    type: "number",
    min: 2,
    max: Math.min(60, store.people.n),
    value: String(store.state.clusters.length),
    "data-do": "number",
    onchange: async () => {
      const state = await attempt(api.number(Number(input.value)));
      if (state) await receive(state);
      else input.value = String(store.state.clusters.length);
    },
  });
  return h("label", { class: "number" }, h("span", null, t.number), input);
}
