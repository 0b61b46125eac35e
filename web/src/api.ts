// The server: JSON in, JSON out, and events. A refusal is an Error with the sentence that the server said.

import { lang, t } from "./strings";
import type { Board, Drawn, Inspected, Job, StoredBoard, Preview, Source, State, Why } from "./types";

// Errors about a sheet and lists come in the language of the page.
// Where no server answers, the sentence of the browser ("Failed to fetch") helps nobody.
async function reach(path: string, options: RequestInit = {}): Promise<Response> {
  try {
    const headers = { "accept-language": lang(), ...options.headers };
    return await fetch(path, { credentials: "same-origin", ...options, headers });
  } catch {
    throw new Error(t.lost);
  }
}

async function ask<T>(path: string, options: RequestInit = {}): Promise<T> {
  const answer = await reach(path, options);
  const type = answer.headers.get("content-type") ?? "";
  const content = type.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(t.errors[content.code]?.(content.values) ?? String(content.error));
  return content as T;
}

const send = <T>(path: string, content: unknown, method = "POST") =>
  ask<T>(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(content) });

export const api = {
  live: true,
  board: () => ask<Board>("/api/board"),
  offered: () => ask<{ offered?: Inspected }>("/api/board"),
  state: () => ask<State>("/api/state"),
  act: (payload: Record<string, unknown>) => send<State>("/api/act", payload),
  number: (number: number) => send<State>("/api/number", { number, word: t.group }),
  why: (who: number) => ask<Why>(`/api/why?who=${who}`),
  start: (kind: string) => send<Job>("/api/jobs", { kind }),
  cancel: (number: number) => ask<unknown>(`/api/jobs/${number}`, { method: "DELETE" }),
  graph: () => ask<Drawn>("/api/graph"),
  upload: (file: File) => ask<Inspected>(`/api/upload?name=${encodeURIComponent(file.name)}`, { method: "PUT", body: file }),
  preview: (payload: Record<string, unknown>) => send<Preview>("/api/preview", payload),
  open: (payload: Record<string, unknown>) => send<Board>("/api/open", { ...payload, word: t.group }),
  stored: () => ask<StoredBoard[]>("/api/stored"),
  forget: (mark: string) => ask<unknown>(`/api/stored/${mark}`, { method: "DELETE" }),
  async download(kind: string): Promise<Blob> {
    const answer = await reach(`/api/download/${kind}`);
    if (!answer.ok) throw new Error(String((await answer.json()).error));
    return answer.blob();
  },
} satisfies Source & Record<string, unknown>;

export interface Handlers {
  job(job: Job): void;
  state(revision: number): void;
  board(): void;
  open(): void;
  lost(): void;
}

export function follow(handlers: Handlers): void {
  const events = new EventSource("/api/events");
  const content = (event: Event) => JSON.parse((event as MessageEvent<string>).data);
  events.addEventListener("job", (event) => handlers.job(content(event)));
  events.addEventListener("state", (event) => handlers.state(content(event).revision));
  events.addEventListener("board", () => handlers.board());
  events.addEventListener("open", () => handlers.open());
  events.addEventListener("error", () => handlers.lost());
}
