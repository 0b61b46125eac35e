// Messages for screen readers, also shown on the page.

import { h } from "./dom";
import { t } from "./strings";

const polite = h("div", { class: "unseen", role: "status", "aria-live": "polite" });
const notices = h("div", { class: "notices", role: "alert" });

export const announcers = (): HTMLElement[] => [polite, notices];

export function say(text: string): void {
  polite.textContent = "";
  requestAnimationFrame(() => (polite.textContent = text));
}

// An error disappears with the next action.
export const clear = (): void => notices.replaceChildren();

export function warn(text: string): void {
  const notice = h(
    "div",
    { class: "notice" },
    h("span", null, text),
    h("button", { type: "button", class: "quiet", "aria-label": t.close, onclick: () => notice.remove() }, "✕"),
  );
  while (notices.childElementCount > 2) notices.firstElementChild!.remove();
  notices.append(notice);
  setTimeout(() => notice.remove(), 12000);
}
