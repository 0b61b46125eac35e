// Where the page begins: with the server that served it, with what is stored in it, or in a notebook.

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
import { begin, on, store, take, tell } from "./store";
import { storedSource, type Stored } from "./stored";
import { lang, t } from "./strings";
import { showTheme } from "./theme";
import { openDialog } from "./upload";
import type { Board, Source } from "./types";
import { fromAddress, keepAddress, languageOfAddress } from "./address";

async function show(place: HTMLElement, source: Source): Promise<void> {
  setRoot(place);
  place.classList.add("equigraph");
  showTheme();
  replace(place, h("p", { class: "wait", role: "status" }, t.loading));
  begin(source, await source.board());
  const opened = (board: Board) => {
    begin(source, board);
    tell("board");
    tell("state");
  };
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
    replace(
      place,
      !source.live && h("p", null, t.readOnly),
      source.live &&
        board.restored &&
        h(
          "p",
          null,
          t.restored,
          " ",
          h("button", { type: "button", onclick: async () => opened(await api.open({ kept: board.mark, fresh: true })) }, t.fresh),
        ),
      board.notes.length > 0 &&
        h("details", null, h("summary", null, t.notes), h("ul", null, ...board.notes.map((note) => h("li", null, note)))),
    );
  };
  on(["board", "words"], draw);
  draw();
  return place;
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
  await show(place, api);
  document.title = `${store.board.title} · equigraph`;
  await fromAddress();
  keepAddress();
  let asked = 0;
  const refresh = async (revision: number) => {
    if (revision <= store.state.revision || asked >= revision) return;
    asked = revision;
    take(await api.state());
  };
  const reopen = async () => {
    const board = await api.board();
    if (board.mark === store.board.mark && board.state.revision === store.state.revision) return;
    begin(api, board);
    asked = 0;
    tell("board");
    tell("state");
  };
  follow({
    job: jobChanged,
    state: (revision) => void refresh(revision),
    board: () => void reopen(),
    lost: (lost) => {
      if (lost === store.lost) return;
      store.lost = lost;
      tell("jobs");
      if (!lost) void reopen();
    },
  });
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = event.dataTransfer?.files;
    if (files?.length && !document.querySelector("dialog[open]")) {
      openDialog((board) => {
        begin(api, board);
        tell("board");
        tell("state");
      }, files);
    }
  });
}

async function stored(place: HTMLElement, content: Stored): Promise<void> {
  languageOfAddress();
  await show(place, storedSource(content));
}

const place = address();
const data = document.getElementById("equigraph-data");
if (place && data) void stored(place, JSON.parse(data.textContent ?? ""));
else if (place) void live(place);

// In a notebook: what anywidget calls.
export default {
  render({ model, el }: { model: { get(name: string): string }; el: HTMLElement }): void {
    void stored(el, JSON.parse(model.get("content")));
  },
};
