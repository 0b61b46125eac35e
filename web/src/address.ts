// The view in the address, so that reload and back work.

import { act } from "./actions";
import { focusCard } from "./board";
import { on, select, setView, store } from "./store";
import { lang, speak } from "./strings";

export function languageOfAddress(): void {
  speak(read().get("lang") ?? navigator.language.slice(0, 2));
}

const read = () => new URLSearchParams(location.hash.slice(1));

function written(): string {
  const parts = new URLSearchParams();
  parts.set("view", store.view);
  if (store.state.labels.length) parts.set("step", String(store.state.step));
  if (store.selected !== null) parts.set("who", String(store.selected));
  parts.set("lang", lang());
  return `#${parts}`;
}

let quiet = false;

function write(push: boolean): void {
  if (quiet || written() === location.hash) return;
  if (push) history.pushState(null, "", written());
  else history.replaceState(null, "", written());
}

export async function fromAddress(): Promise<void> {
  const parts = read();
  quiet = true;
  const view = parts.get("view");
  if ((view === "board" || view === "graph") && view !== store.view) setView(view);
  const step = parts.get("step");
  if (store.source.live && step !== null && Number(step) !== store.state.step) await act({ do: "goto", step: Number(step) });
  const who = parts.get("who");
  select(who !== null && Number(who) < store.people.n ? Number(who) : null);
  quiet = false;
}

export function keepAddress(): void {
  let step = store.state.step;
  on(["state"], () => {
    write(store.state.step !== step);
    step = store.state.step;
  });
  on(["view"], () => write(true));
  on(["selected", "words", "board"], () => write(false));
  addEventListener("popstate", () => void fromAddress());
  const who = Number(read().get("who") ?? NaN);
  if (Number.isInteger(who) && who >= 0 && who < store.people.n) {
    select(who);
    if (store.view === "board") focusCard(who);
  }
}
