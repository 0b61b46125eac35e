// Entry point of the page: with a server, as a saved page, or in a notebook.

import { address } from "./page";
import { api, follow } from "./api";
import { announcers } from "./announce";
import { bar } from "./bar";
import { boardView } from "./board";
import { watchAlternatives } from "./compare";
import { curvePanel } from "./curve";
import { button, h, replace, setRoot } from "./dom";
import { graphView } from "./graph";
import { jobChanged, jobsBar } from "./jobs";
import { compositionPanel, lastStepPanel, scoresPanel } from "./panels";
import { rulesPanel } from "./rules";
import { begin, drawn, on, receive, ruleWords, setView, show, store, tell, type View } from "./store";
import { storedSource, type Stored } from "./stored";
import { lang, t } from "./strings";
import { showTheme } from "./theme";
import { confirmSheet, notes, openDialog } from "./upload";
import type { Board, Change, Source } from "./types";
import { fromAddress, keepAddress, languageOfAddress } from "./address";

function prepare(place: HTMLElement): void {
  setRoot(place);
  place.classList.add("equigraph");
  showTheme();
  replace(place, h("p", { class: "wait", role: "status" }, t.loading));
}

async function showPage(place: HTMLElement, source: Source): Promise<void> {
  begin(source, await source.board());
  const opened = (board: Board) => show(source, board);
  replace(
    place,
    h("a", { class: "skip", href: "#board" }, t.skip),
    ...announcers(),
    bar(opened),
    jobsBar(),
    notice(opened),
    h(
      "main",
      { class: "main" },
      h("div", { class: "stage" }, tabs(), h("div", { class: "view board-view" }, boardView()), h("div", { class: "view graph-view" }, graphView())),
      h("aside", { class: "side", "aria-label": t.even }, scoresPanel(), curvePanel(), rulesPanel(), compositionPanel(), lastStepPanel()),
    ),
  );
  showView();
  on(["view", "words"], showView);
  watchAlternatives();

  function showView(): void {
    place.dataset.view = store.view;
  }
}

function notice(opened: (board: Board) => void): HTMLElement {
  return drawn(h("div", { class: "welcome" }), ["board", "words", "state"], () => {
    const { board, source, state } = store;
    const fresh = async () => opened(await api.open({ stored: board.mark, fresh: true }));
    return [
      !source.live && h("p", null, t.readOnly),
      state.changes.length > 0 && h("ul", { class: "changes", role: "status" }, ...state.changes.map((change) => h("li", null, changeWords(change)))),
      source.live && board.restored && h("p", null, t.restored, " ", button(t.fresh, fresh)),
      board.notes.length > 0 && notes(board.notes),
    ];
  });
}

function changeWords(change: Change): string {
  const words = change.rule ? ruleWords(change.rule) : (change.name ?? "");
  return t.changes[change.kind](words);
}

function tabs(): HTMLElement {
  return drawn(h("div", { class: "tabs" }), ["view", "words", "board"], () => {
    const tab = (view: View, words: string) => button(words, () => setView(view), { "aria-pressed": String(store.view === view), "data-view": view });
    const search = h("input", {
      type: "search",
      placeholder: t.search,
      "aria-label": t.search,
      value: store.search,
      oninput: () => {
        store.search = search.value;
        tell("search");
      },
    });
    return [h("div", { role: "group", "aria-label": t.views, class: "switch" }, tab("board", t.board), tab("graph", t.graph)), search];
  });
}

async function live(place: HTMLElement): Promise<void> {
  languageOfAddress();
  document.documentElement.lang = lang();
  prepare(place);
  const { offered } = await api.offered();
  if (offered) await confirmSheet(place, offered);
  await showPage(place, api);
  document.title = `${store.board.title} · equigraph`;
  await fromAddress();
  keepAddress();
  // The stream of events shows whether the server has ended.
  const refresh = async (revision: number) => {
    const state = revision > store.state.revision ? await api.state().catch(() => null) : null;
    if (state && state.revision > store.state.revision) await receive(state);
  };
  follow({
    job: jobChanged,
    state: (revision) => void refresh(revision),
    board: async () => show(api, await api.board()),
    // Results found before the stream opened, or while it was broken, were not sent.
    open: () => {
      setLost(false);
      void refresh(store.state.revision + 1);
    },
    lost: () => setLost(true),
  });
  function setLost(lost: boolean): void {
    if (lost === store.lost) return;
    store.lost = lost;
    tell("jobs");
  }
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = event.dataTransfer?.files;
    if (files?.length && !document.querySelector("dialog[open]")) {
      openDialog((board) => show(api, board), files);
    }
  });
}

async function stored(place: HTMLElement, content: Stored): Promise<void> {
  languageOfAddress();
  prepare(place);
  await showPage(place, storedSource(content));
}

const place = address();
const data = document.getElementById("equigraph-data");
if (place && data) void stored(place, JSON.parse(data.textContent ?? ""));
else if (place) live(place).catch((error: Error) => replace(place, h("p", { class: "error", role: "alert" }, error.message)));

// In a notebook, called by anywidget.
export default {
  render({ model, el }: { model: { get(name: string): string }; el: HTMLElement }): void {
    void stored(el, JSON.parse(model.get("content")));
  },
};
