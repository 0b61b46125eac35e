// Entry point of the page: with a server, as a saved page, or in a notebook.

import { address } from "./page";
import { api, follow } from "./api";
import { announcers } from "./announce";
import { bar } from "./bar";
import { boardView } from "./board";
import { watchAlternatives } from "./compare";
import { curvePanel } from "./curve";
import { h, replace, setRoot } from "./dom";
import { graphView } from "./graph";
import { jobChanged, jobsBar } from "./jobs";
import { compositionPanel, lastStepPanel, scoresPanel } from "./panels";
import { rulesPanel } from "./rules";
import { begin, on, receive, ruleWords, show, store, tell } from "./store";
import { storedSource, type Stored } from "./stored";
import { lang, t } from "./strings";
import { showTheme } from "./theme";
import { confirmSheet, openDialog } from "./upload";
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
  const place = h("div", { class: "welcome" });
  const draw = () => {
    const { board, source } = store;
    const { changes } = store.state;
    replace(
      place,
      !source.live && h("p", null, t.readOnly),
      changes.length > 0 && h("ul", { class: "changes", role: "status" }, ...changes.map((change) => h("li", null, changeWords(change)))),
      source.live &&
        board.restored &&
        h(
          "p",
          null,
          t.restored,
          " ",
          h("button", { type: "button", onclick: async () => opened(await api.open({ stored: board.mark, fresh: true })) }, t.fresh),
        ),
      board.notes.length > 0 &&
        h("details", null, h("summary", null, t.notes), h("ul", null, ...board.notes.map((note) => h("li", null, note[lang()])))),
    );
  };
  on(["board", "words", "state"], draw);
  draw();
  return place;
}

function changeWords(change: Change): string {
  const words = change.rule ? ruleWords(change.rule) : (change.name ?? "");
  return t.changes[change.kind](words);
}

function tabs(): HTMLElement {
  const place = h("div", { class: "tabs" });
  const draw = () => {
    const tab = (view: "board" | "graph", words: string) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(store.view === view),
          "data-view": view,
          onclick: () => {
            store.view = view;
            tell("view");
          },
        },
        words,
      );
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
    replace(place, h("div", { role: "group", "aria-label": t.views, class: "switch" }, tab("board", t.board), tab("graph", t.graph)), search);
  };
  on(["view", "words", "board"], draw);
  draw();
  return place;
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
  let wanted = 0;
  let asking = false;
  const refresh = async (revision: number) => {
    wanted = Math.max(wanted, revision);
    if (asking) return;
    asking = true;
    try {
      while (wanted > store.state.revision) {
        const state = await api.state();
        if (state.revision <= store.state.revision) break;
        await receive(state);
      }
    } catch {
      // The stream of events shows whether the server has ended.
    } finally {
      asking = false;
    }
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
