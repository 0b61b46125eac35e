// The downloads.

import { api } from "./api";
import { attempt, say } from "./announce";
import { button, dialog, h } from "./dom";
import { store } from "./store";
import { t } from "./strings";

export function downloadsDialog(): void {
  dialog(
    t.saveTitle,
    t.close,
    h(
      "ul",
      { class: "downloads" },
      ...Object.entries(t.downloads).map(([kind, words]) => h("li", null, button(words, () => save(kind, words), { "data-download": kind }))),
    ),
  );
}

async function save(kind: string, words: string): Promise<void> {
  const blob = await attempt(api.download(kind));
  if (!blob) return;
  const link = h("a", { href: URL.createObjectURL(blob), download: `${stem()}-${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(t.saved(words));
}

const stem = () => store.board.title.replace(/\.[^. ]*$/, "").replace(/[^\p{L}\p{N}]+/gu, "-") || "board";
