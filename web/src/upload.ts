// Opening a file, an example, or a board stored on this machine.

import { api, refusalWords } from "./api";
import { button, choice, dialog, field, h, replace } from "./dom";
import { lang, t } from "./strings";
import type { Board, Column, Inspected, Preview, Refusal, StoredBoard } from "./types";

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

  // Wait for a request; its error is shown below.
  async function ask<T>(work: Promise<T>): Promise<T | undefined> {
    error.textContent = "";
    return work.catch((problem: Error) => void (error.textContent = problem.message));
  }

  async function open(payload: Record<string, unknown>): Promise<void> {
    const board = await ask(api.open(number ? { ...payload, number } : payload));
    if (board) opened(board);
  }

  async function send(files: FileList | null): Promise<void> {
    if (!files?.length) return;
    replace(place, h("p", { role: "status" }, t.reading));
    const seen = await ask(Promise.all([...files].slice(0, 2).map(api.upload)));
    if (seen) show(seen);
    else choose();
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
      button(t.exampleClassroom, () => open({ example: "classroom" })),
      " ",
      button(t.exampleSchool, () => open({ example: "school" })),
      stored,
    );
    void listStored(stored);
  }

  // The stored boards, or those made from a file of this name.
  async function listStored(list: HTMLElement, title?: string): Promise<void> {
    const boards = (await api.stored()).filter((board) => title === undefined || board.title === title);
    const line = (board: StoredBoard) =>
      h(
        "li",
        null,
        button(board.title || "?", () => open({ stored: board.mark }), { class: "link" }),
        h("small", null, ` ${new Date(1000 * board.changed).toLocaleString(lang())}`),
        button(t.forget, () => api.forget(board.mark).then(() => listStored(list, title)), { class: "quiet", "aria-label": t.forgetBoard(board.title) }),
      );
    const lines = boards.slice(0, 12).map(line);
    replace(list, lines.length > 0 && h("h3", null, t.openStored), h("ul", { class: "stored" }, ...lines));
  }

  function show(seen: Inspected[]): void {
    if (seen[0].kind === "board") return void open({ upload: seen[0].key, kind: "board" });
    // Of two files, the one with more columns is the table of people.
    const [links, people] = [...seen].sort((one, other) => seen.length > 1 ? (one.columns?.length ?? 0) - (other.columns?.length ?? 0) : 0);
    replace(place, mapping(links, people));
  }

  function mapping(main: Inspected, people: Inspected | undefined): HTMLElement {
    let kind = people ? "links" : main.kind;
    const kinds: [string, string][] = [["people", t.kindPeople], ["links", t.kindLinks]];
    const holds = choice(kinds, kind, { onchange: () => ((kind = holds.value as "people" | "links"), draw()) });
    const details = h("div");
    const roles = new Map<string, HTMLSelectElement>();
    const groups = choice((people?.columns ?? []).slice(1).map((one) => [one.header, one.header]), null);

    function draw(): void {
      roles.clear();
      replace(
        details,
        Boolean(main.rows?.length) && h("h3", null, kind === "people" ? t.columns : `${t.firstRows}: ${main.name}`),
        kind === "people" ? columnList(main, roles) : plainTable(main),
        kind === "links" && people && h("div", null, h("h3", null, `${t.groupsFile}: ${people.name}`), plainTable(people), field(t.groupsColumn, groups)),
      );
    }
    draw();
    const goOn = () => {
      const undecided = [...roles.values()].find((select) => !select.value);
      if (undecided) {
        error.textContent = t.askColumns;
        return undecided.focus();
      }
      back = () => replace(place, page);
      void confirm(
        kind === "people"
          ? { upload: main.key, kind, columns: given(main.columns ?? [], roles), attribute: main.attribute }
          : { upload: main.key, kind, people: people?.key, attribute: people ? groups.value : null },
      );
    };
    const left = h("div");
    void listStored(left, main.name);
    const page = h(
      "div",
      null,
      left,
      Boolean(main.error) && h("p", { class: "error" }, refusalWords(main as Refusal)),
      field(t.fileHolds, holds),
      details,
      buttons(button(t.goOn, goOn, { class: "primary", "data-do": "go-on" })),
    );
    return page;
  }

  const buttons = (...others: HTMLElement[]) => h("p", { class: "buttons" }, ...others, button(t.cancel, choose));

  // Confirmation before groups are made; unknown names are resolved first.
  async function confirm(asked: Record<string, unknown>): Promise<void> {
    const seen = await ask(api.preview(number ? { ...asked, number } : asked));
    if (seen) replace(place, seen.unknown.length ? unknownNames(seen, asked) : understood(seen, asked));
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
      seen.notes.length > 0 && notes(seen.notes),
      field(t.number, numbers),
      buttons(button(t.openIt, () => open(asked), { class: "primary", "data-do": "make" }), button(t.changeColumns, () => back())),
    );
  }

  function unknownNames(seen: Preview, asked: Record<string, unknown>): HTMLElement {
    const choices = new Map<string, HTMLSelectElement>();
    const rows = seen.unknown.map(({ text, row, column, near }) => {
      // The names that are near come first, then everybody.
      const others = [...seen.people].sort((one, other) => one.localeCompare(other, lang()));
      const people = [...new Set([...near, ...others])].map((person): [string, string] => [person, person]);
      const select = choice([["", t.chooseName], ["none", t.ignoreName], ...people], "", { "aria-label": t.whoIs(text) });
      if (near.length === 1) select.value = near[0];
      choices.set(text, select);
      return h("li", null, h("b", null, text), h("small", null, ` (${t.cell(row, column)}) `), select);
    });
    const go = () => {
      const open = [...choices.values()].find((select) => !select.value);
      if (open) return open.focus();
      const names = Object.fromEntries([...choices].map(([text, select]) => [text, select.value === "none" ? null : select.value]));
      void confirm({ ...asked, names: { ...(asked.names as object), ...names } });
    };
    const primary = button(t.goOn, go, { class: "primary", "data-do": "go-on" });
    return h("div", { class: "unknown" }, h("h3", null, t.unknownNames(seen.unknown.length)), h("ul", null, ...rows), buttons(primary));
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

export const notes = (texts: Record<string, string>[]): HTMLElement =>
  h("details", null, h("summary", null, t.notes), h("ul", null, ...texts.map((note) => h("li", null, note[lang()]))));

// The roles of the columns by letter, as read_roster takes them.
function given(columns: Column[], roles: Map<string, HTMLSelectElement>): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column.letter, roles.get(column.letter)?.value || "unused"]));
}

// One line per column: header, first cells and role; columns with an open role come first.
function columnList(seen: Inspected, roles: Map<string, HTMLSelectElement>): HTMLElement {
  const columns = seen.columns ?? [];
  const line = (column: Column) => {
    const options: [string, string][] = column.role ? Object.entries(t.roles) : [["", t.askRole], ...Object.entries(t.roles)];
    const select = choice(options, column.role, { "aria-label": t.columnIs(column.header) });
    roles.set(column.letter, select);
    return h("li", { class: column.role ? "" : "ask" }, h("b", null, column.header || column.letter), select, h("small", null, column.cells.join(" · ")));
  };
  return h("ul", { class: "column-list" }, ...[...columns].sort((one, other) => Number(Boolean(one.role)) - Number(Boolean(other.role))).map(line));
}

function plainTable(seen: Inspected): HTMLElement {
  const rows = seen.rows ?? [];
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const line = (row: string[]) => h("tr", null, ...Array.from({ length: columns }, (_, i) => h("td", null, row[i] ?? "")));
  const table = h("table", { class: "rows" }, h("tbody", null, ...rows.map(line)));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t.firstRows }, table);
}
