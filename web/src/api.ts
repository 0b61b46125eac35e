// The server: JSON in, JSON out, and events. A refusal is an Error with the sentence that the server said.

import type { Board, Drawn, Inspected, Job, KeptBoard, Source, State, Why } from "./types";

async function ask<T>(path: string, options: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  const type = answer.headers.get("content-type") ?? "";
  const content = type.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(String(content.error));
  return content as T;
}

const send = <T>(path: string, content: unknown, method = "POST") =>
  ask<T>(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(content) });

export const api = {
  live: true,
  board: () => ask<Board>("/api/board"),
  state: () => ask<State>("/api/state"),
  act: (told: Record<string, unknown>) => send<State>("/api/act", told),
  number: (number: number) => send<State>("/api/number", { number }),
  why: (who: number) => ask<Why>(`/api/why?who=${who}`),
  start: (kind: string) => send<Job>("/api/jobs", { kind }),
  cancel: (number: number) => ask<unknown>(`/api/jobs/${number}`, { method: "DELETE" }),
  graph: () => ask<Drawn>("/api/graph"),
  upload: (file: File) => ask<Inspected>(`/api/upload?name=${encodeURIComponent(file.name)}`, { method: "PUT", body: file }),
  open: (told: Record<string, unknown>) => send<Board>("/api/open", told),
  kept: () => ask<KeptBoard[]>("/api/kept"),
  forget: (mark: string) => ask<unknown>(`/api/kept/${mark}`, { method: "DELETE" }),
  async download(kind: string): Promise<Blob> {
    const answer = await fetch(`/api/download/${kind}`, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(String((await answer.json()).error));
    return answer.blob();
  },
} satisfies Source & Record<string, unknown>;

export interface Handlers {
  job(job: Job): void;
  state(revision: number): void;
  board(): void;
  lost(lost: boolean): void;
}

export function follow(handlers: Handlers): void {
  const events = new EventSource("/api/events");
  const content = (event: Event) => JSON.parse((event as MessageEvent<string>).data);
  events.addEventListener("job", (event) => handlers.job(content(event)));
  events.addEventListener("state", (event) => handlers.state(content(event).revision));
  events.addEventListener("board", () => handlers.board());
  events.addEventListener("open", () => handlers.lost(false));
  events.addEventListener("error", () => handlers.lost(true));
}
