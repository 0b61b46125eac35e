// The downloads.

import { api } from "./api";
import { say, warn } from "./announce";
import { dialog, h } from "./dom";
import { store } from "./store";
import { t } from "./strings";

export function downloadsDialog(): void {
  dialog(
    t.saveTitle,
    t.close,
    h(
      "ul",
      { class: "downloads" },
      ...Object.entries(t.downloads).map(([kind, words]) =>
        h("li", null, h("button", { type: "button", "data-download": kind, onclick: () => void save(kind, words) }, words)),
      ),
    ),
  );
}

async function save(kind: string, words: string): Promise<void> {
  try {
    const blob = await api.download(kind);
    const link = h("a", { href: URL.createObjectURL(blob), download: `${stem()}-${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(t.saved(words));
  } catch (error) {
    warn((error as Error).message);
  }
}

const stem = () => store.board.title.replace(/\.[^. ]*$/, "").replace(/[^\p{L}\p{N}]+/gu, "-") || "board";
