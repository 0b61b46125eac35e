// The JSON API and events of the server. A failed request throws an Error with the sentence of the server.

import { lang, t } from "./strings";
import type { Board, Drawn, Inspected, Job, Preview, Refusal, Source, StoredBoard, State, Why } from "./types";

// The server writes errors about sheets, and lists, in the language of the page. Without a server, or with another one,
// the message of the browser ("Failed to fetch") would not help.
async function reach(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = { "accept-language": lang(), ...options.headers };
  const answer = await fetch(path, { credentials: "same-origin", ...options, headers }).catch(() => null);
  const said = answer?.headers.get("content-type")?.startsWith("application/json");
  if (!answer || !(answer.ok || said)) throw new Error(t.lost);
  if (!answer.ok) throw new Error(refusalWords(await answer.json()));
  return answer;
}

const ask = async <T>(path: string, options: RequestInit = {}): Promise<T> => (await reach(path, options)).json();

// An error in the language of the page; untranslated ones are marked as English.
export const refusalWords = ({ error, code, values }: Refusal): string => t.errors[code ?? ""]?.(values ?? {}) ?? t.english(error);

const send = <T>(path: string, content: unknown, method = "POST") =>
  ask<T>(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(content) });

export const api = {
  live: true,
  board: () => ask<Board>("/api/board"),
  offered: () => ask<{ offered?: Inspected }>("/api/board"),
  state: () => ask<State>("/api/state"),
  act: (payload: Record<string, unknown>) => send<State>("/api/act", payload),
  number: (number: number) => send<State>("/api/number", { number }),
  why: (who: number) => ask<Why>(`/api/why?who=${who}`),
  start: (kind: string) => send<Job>("/api/jobs", { kind }),
  cancel: (number: number) => ask<unknown>(`/api/jobs/${number}`, { method: "DELETE" }),
  graph: () => ask<Drawn>("/api/graph"),
  upload: (file: File) => ask<Inspected>(`/api/upload?name=${encodeURIComponent(file.name)}`, { method: "PUT", body: file }),
  preview: (payload: Record<string, unknown>) => send<Preview>("/api/preview", payload),
  open: (payload: Record<string, unknown>) => send<Board>("/api/open", payload),
  stored: () => ask<StoredBoard[]>("/api/stored"),
  forget: (mark: string) => ask<unknown>(`/api/stored/${mark}`, { method: "DELETE" }),
  download: async (kind: string): Promise<Blob> => (await reach(`/api/download/${kind}`)).blob(),
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
