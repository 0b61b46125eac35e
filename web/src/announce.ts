// Messages for screen readers, also shown on the page.

import { button, h } from "./dom";
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
  const close = button("✕", () => notice.remove(), { class: "quiet", "aria-label": t.close });
  const notice = h("div", { class: "notice" }, h("span", null, text), close);
  while (notices.childElementCount > 2) notices.firstElementChild!.remove();
  notices.append(notice);
  setTimeout(() => notice.remove(), 12000);
}

// The result of a request, or a notice of why there is none.
export async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: Error) => void warn(error.message));
}
