// The form for a new person, who gets the best place while all others stay.

import { arrival } from "./actions";
import { focusCard } from "./board";
import { choice, dialog, field, h, newId } from "./dom";
import { store } from "./store";
import { t } from "./strings";

const MOST_CHOICES = 12;
const FRIENDS = 5;

export function arrivalDialog(): void {
  const { board } = store;
  const people = h("datalist", { id: newId("people") }, ...board.people.map((person) => h("option", { value: person })));
  const name = h("input", { type: "text", maxlength: 100, required: true });
  const values = new Map<string, HTMLInputElement | HTMLSelectElement>();
  const columns = Object.entries(board.columns).map(([column, known]) => {
    const options = known.map((value): [string, string] => [value, value]);
    const input = known.length <= MOST_CHOICES ? choice([["", "–"], ...options], "") : h("input", { type: "text", maxlength: 100 });
    values.set(column, input);
    return field(column, input, "field named");
  });
  const friends = Array.from({ length: FRIENDS }, () => h("input", { type: "text", list: people.id }));
  const error = h("p", { class: "error", role: "alert" });
  const box = dialog(
    t.arrival,
    t.close,
    h(
      "form",
      {
        class: "arrival",
        onsubmit: async (event: Event) => {
          event.preventDefault();
          const wished = friends.map((input) => input.value.trim()).filter(Boolean);
          const numbers = wished.map((friend) => board.people.indexOf(friend));
          const unknown = wished.filter((_, i) => numbers[i] < 0);
          error.textContent = unknown.length ? t.nobodyCalled(unknown[0]) : "";
          if (unknown.length) return;
          const given = Object.fromEntries([...values].map(([column, input]) => [column, input.value]).filter(([, value]) => value));
          try {
            await arrival({ name: name.value, values: given, friends: numbers });
            box.close();
            focusCard(store.selected!);
          } catch (problem) {
            error.textContent = (problem as Error).message;
          }
        },
      },
      h("p", { class: "hint" }, t.arrivalHelp),
      field(t.personName, name, "field named"),
      ...columns,
      ...friends.map((input, i) => field(`${board.directed ? t.wish : t.friend} ${i + 1}`, input, "field named")),
      people,
      error,
      h("p", null, h("button", { type: "submit", class: "primary" }, t.add)),
    ),
  );
  name.focus();
}
