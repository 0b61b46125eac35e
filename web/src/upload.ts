// Opening a file, an example, or a board stored on this machine.

import { api, refusalWords } from "./api";
import { dialog, h, newId, replace } from "./dom";
import { lang, t } from "./strings";
import type { Board, Column, Inspected, Preview } from "./types";

type Opened = (board: Board) => void;

export function openDialog(opened: Opened, first?: FileList): void {
  const place = h("div");
  const box = dialog(t.openTitle, t.close, place);
  box.classList.add("wide");
  const flow = opening(place, (board) => {
    box.close();
    opened(board);
  });
  if (first?.length) void flow.send(first);
  else flow.choose();
}

// Confirmation of a sheet given to the command, before there is a board.
export function confirmSheet(page: HTMLElement, sheet: Inspected): Promise<void> {
  document.title = `${sheet.name} · equigraph`;
  return new Promise((resolve) => {
    const place = h("div");
    replace(page, h("header", { class: "bar" }, h("h1", null, sheet.name)), h("main", { class: "confirm" }, place));
    opening(place, () => resolve()).offer(sheet);
  });
}

// Steps from a file to a board: choose it, set the roles of columns, resolve unknown names, and confirm.
function opening(content: HTMLElement, opened: Opened): { send(files: FileList | null): Promise<void>; choose(): void; offer(sheet: Inspected): void } {
  const place = h("div");
  const error = h("p", { class: "error", role: "alert" });
  replace(content, place, error);
  let number: number | null = null;
  let back = choose; // from the confirmation to the columns

  async function open(payload: Record<string, unknown>): Promise<void> {
    error.textContent = "";
    try {
      opened(await api.open(number ? { ...payload, number } : payload));
    } catch (problem) {
      error.textContent = (problem as Error).message;
    }
  }

  async function send(files: FileList | null): Promise<void> {
    if (!files?.length) return;
    error.textContent = "";
    replace(place, h("p", { role: "status" }, t.reading));
    try {
      const seen = await Promise.all([...files].slice(0, 2).map(api.upload));
      show(seen);
    } catch (problem) {
      error.textContent = (problem as Error).message;
      choose();
    }
  }

  function choose(): void {
    const input = h("input", { type: "file", multiple: true, class: "unseen", onchange: () => void send(input.files) });
    const zone = h(
      "div",
      { class: "drop" },
      h("p", null, t.openDrop, " ", h("label", { class: "button" }, t.openChoose, input)),
      h("p", { class: "hint" }, t.openKinds),
    );
    zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      void send((event as DragEvent).dataTransfer?.files ?? null);
    });
    const stored = h("div");
    replace(
      place,
      zone,
      h("h3", null, t.openExamples),
      h("button", { type: "button", onclick: () => void open({ example: "classroom" }) }, t.exampleClassroom),
      " ",
      h("button", { type: "button", onclick: () => void open({ example: "school" }) }, t.exampleSchool),
      stored,
    );
    void listStored(stored);
  }

  // The stored boards, or those made from a file of this name.
  async function listStored(list: HTMLElement, title?: string): Promise<void> {
    const boards = (await api.stored()).filter((board) => title === undefined || board.title === title);
    replace(list);
    if (!boards.length) return;
    replace(
      list,
      h("h3", null, t.openStored),
      h(
        "ul",
        { class: "stored" },
        ...boards.slice(0, 12).map((board) =>
          h(
            "li",
            null,
            h(
              "button",
              { type: "button", class: "link", onclick: () => void open({ stored: board.mark }) },
              board.title || "?",
            ),
            h("small", null, ` ${new Date(1000 * board.changed).toLocaleString(lang())}`),
            h(
              "button",
              {
                type: "button",
                class: "quiet",
                "aria-label": t.forgetBoard(board.title),
                onclick: async () => {
                  await api.forget(board.mark);
                  void listStored(list, title);
                },
              },
              t.forget,
            ),
          ),
        ),
      ),
    );
  }

  function show(seen: Inspected[]): void {
    if (seen[0].kind === "board") {
      void open({ upload: seen[0].key, kind: "board" });
      return;
    }
    // Of two files, the one with more columns is the table of people.
    const [links, people] =
      seen.length > 1 && (seen[0].columns?.length ?? 0) > (seen[1].columns?.length ?? 0) ? [seen[1], seen[0]] : [seen[0], seen[1]];
    replace(place, mapping(seen.length > 1 ? links : seen[0], people));
  }

  function mapping(main: Inspected, people: Inspected | undefined): HTMLElement {
    let kind = people ? "links" : main.kind;
    const details = h("div");
    const holds = h(
      "select",
      { onchange: () => ((kind = holds.value as "people" | "links"), draw()) },
      h("option", { value: "people", selected: kind === "people" }, t.kindPeople),
      h("option", { value: "links", selected: kind === "links" }, t.kindLinks),
    );
    const roles = new Map<string, HTMLSelectElement>();
    const groups = h("select", null, ...(people?.columns ?? []).slice(1).map((one) => h("option", { value: one.header }, one.header)));

    function draw(): void {
      roles.clear();
      replace(
        details,
        main.rows?.length ? h("h3", null, kind === "people" ? t.columns : `${t.firstRows}: ${main.name}`) : "",
        kind === "people" ? columnList(main, roles) : plainTable(main),
        kind === "links" && people
          ? h("div", null, h("h3", null, `${t.groupsFile}: ${people.name}`), plainTable(people), field(t.groupsColumn, groups))
          : "",
      );
    }
    draw();
    const left = h("div");
    void listStored(left, main.name);
    const page = h(
      "div",
      null,
      left,
      main.error ? h("p", { class: "error" }, refusalWords({ ...main, error: main.error })) : "",
      field(t.fileHolds, holds),
      details,
      h(
        "p",
        { class: "buttons" },
        h(
          "button",
          {
            type: "button",
            class: "primary",
            "data-do": "go-on",
            onclick: () => {
              const undecided = [...roles.values()].filter((select) => !select.value);
              if (kind === "people" && undecided.length) {
                error.textContent = t.askColumns;
                undecided[0].focus();
                return;
              }
              back = () => replace(place, page);
              void confirm(
                kind === "people"
                  ? { upload: main.key, kind, columns: given(main.columns ?? [], roles), attribute: main.attribute }
                  : { upload: main.key, kind, people: people?.key, attribute: people ? groups.value : null },
              );
            },
          },
          t.goOn,
        ),
        h("button", { type: "button", onclick: choose }, t.cancel),
      ),
    );
    return page;
  }

  // Confirmation before groups are made; unknown names are resolved first.
  async function confirm(asked: Record<string, unknown>): Promise<void> {
    error.textContent = "";
    try {
      const seen = await api.preview(number ? { ...asked, number } : asked);
      if (seen.unknown.length) replace(place, unknownNames(seen, asked));
      else replace(place, understood(seen, asked));
    } catch (problem) {
      error.textContent = (problem as Error).message;
    }
  }

  function understood(seen: Preview, asked: Record<string, unknown>): HTMLElement {
    const numbers = h("input", {
      type: "number",
      min: 2,
      max: 60,
      value: String(seen.number),
      onchange: () => {
        number = Number(numbers.value) || null;
        void confirm(asked); // which columns can be spread depends on it
      },
    });
    return h(
      "div",
      { class: "understood" },
      h("h3", null, t.understood),
      h("ul", { class: "facts" }, ...t.understoodFacts(seen.understood!).map((fact) => h("li", null, fact))),
      seen.notes.length > 0 && h("details", null, h("summary", null, t.notes), h("ul", null, ...seen.notes.map((note) => h("li", null, note[lang()])))),
      field(t.number, numbers),
      h(
        "p",
        { class: "buttons" },
        h("button", { type: "button", class: "primary", "data-do": "make", onclick: () => void open(asked) }, t.openIt),
        h("button", { type: "button", onclick: () => back() }, t.changeColumns),
        h("button", { type: "button", onclick: choose }, t.cancel),
      ),
    );
  }

  function unknownNames(seen: Preview, asked: Record<string, unknown>): HTMLElement {
    const choices = new Map<string, HTMLSelectElement>();
    const rows = seen.unknown.map(({ text, row, column, near }) => {
      const select = h(
        "select",
        { "aria-label": t.whoIs(text) },
        h("option", { value: "" }, t.chooseName),
        ...near.map((person) => h("option", { value: person }, person)),
        h("option", { value: "none" }, t.ignoreName),
      );
      if (near.length === 1) select.value = near[0];
      choices.set(text, select);
      return h("li", null, h("b", null, text), h("small", null, ` (${t.cell(row, column)}) `), select);
    });
    const go = () => {
      const open = [...choices.values()].filter((select) => !select.value);
      if (open.length) {
        open[0].focus();
        return;
      }
      const names = Object.fromEntries([...choices].map(([text, select]) => [text, select.value === "none" ? null : select.value]));
      void confirm({ ...asked, names: { ...(asked.names as object), ...names } });
    };
    return h(
      "div",
      { class: "unknown" },
      h("h3", null, t.unknownNames(seen.unknown.length)),
      h("ul", null, ...rows),
      h("p", { class: "buttons" }, h("button", { type: "button", class: "primary", "data-do": "go-on", onclick: go }, t.goOn), h("button", { type: "button", onclick: choose }, t.cancel)),
    );
  }

  // A sheet without questions goes straight to its confirmation.
  function offer(sheet: Inspected): void {
    number = sheet.number ?? null;
    const columns = mapping(sheet, undefined);
    back = () => replace(place, columns);
    if (sheet.error || (sheet.columns ?? []).some((column) => !column.role)) back();
    else columns.querySelector<HTMLElement>("button.primary")!.click();
  }

  return { send, choose, offer };
}

function field(words: string, input: HTMLElement): HTMLElement {
  input.id = newId("field");
  return h("p", { class: "field" }, h("label", { for: input.id }, words), input);
}

// The roles of the columns by letter, as read_roster takes them.
function given(columns: Column[], roles: Map<string, HTMLSelectElement>): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column.letter, roles.get(column.letter)?.value || "unused"]));
}

// One line per column: header, first cells and role; columns with an open role come first.
function columnList(seen: Inspected, roles: Map<string, HTMLSelectElement>): HTMLElement {
  const columns = seen.columns ?? [];
  const lines = columns.map((column) => {
    const select = h(
      "select",
      { "aria-label": t.columnIs(column.header) },
      !column.role && h("option", { value: "", selected: true }, t.askRole),
      ...Object.entries(t.roles).map(([role, words]) => h("option", { value: role, selected: role === column.role }, words)),
    );
    roles.set(column.letter, select);
    return { asked: !column.role, node: h("li", { class: column.role ? "" : "ask" }, h("b", null, column.header || column.letter), select, h("small", null, column.cells.join(" · "))) };
  });
  return h("ul", { class: "column-list" }, ...lines.filter((one) => one.asked).map((one) => one.node), ...lines.filter((one) => !one.asked).map((one) => one.node));
}

function plainTable(seen: Inspected): HTMLElement {
  const rows = seen.rows ?? [];
  return scrolling(h("table", { class: "rows" }, body(rows, Math.max(0, ...rows.map((row) => row.length)))));
}

const body = (rows: string[][], width: number) =>
  h("tbody", null, ...rows.map((row) => h("tr", null, ...Array.from({ length: width }, (_, i) => h("td", null, row[i] ?? "")))));

const scrolling = (content: HTMLElement) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t.firstRows }, content);
