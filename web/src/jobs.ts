// Running jobs with progress and a button to cancel.

import { api, refusalWords } from "./api";
import { say, warn } from "./announce";
import { button, h } from "./dom";
import { drawn, ruleWords, store, tell } from "./store";
import { t } from "./strings";
import type { Job } from "./types";

// These start automatically, and are shown where their results will be.
const QUIET = new Set(["curve", "price"]);

export function jobsBar(): HTMLElement {
  return drawn(h("div", { class: "jobs" }), ["jobs", "words", "state"], () => [
    store.lost && h("p", { class: "error", role: "alert" }, t.lost),
    !store.state.stored && h("p", { class: "error" }, t.notStored),
    ...[...store.jobs.values()].filter((job) => job.status === "running" && !QUIET.has(job.kind)).map(line),
  ]);
}

export function line(job: Job): HTMLElement {
  const words = t.jobs[job.kind] ?? job.kind;
  return h(
    "div",
    { class: "job", "data-job": job.kind },
    h("span", null, `${words}…`),
    h("progress", { ...(job.total > 0 && { max: job.total, value: String(job.step) }), "aria-label": words }),
    button(t.cancel, () => api.cancel(job.number)),
  );
}

// The last job of a kind.
export const lastJob = (kind: string): Job | undefined => [...store.jobs.values()].filter((job) => job.kind === kind).pop();

export const failure = (job: Job): string =>
  job.code === "conflict" ? t.conflict(job.values.rules.map(ruleWords)) : refusalWords(job);

export function jobChanged(job: Job): void {
  const before = store.jobs.get(job.number);
  store.jobs.set(job.number, job);
  while (store.jobs.size > 20) store.jobs.delete(store.jobs.keys().next().value!);
  if (before?.status !== job.status) {
    if (job.status === "failed" && !QUIET.has(job.kind)) warn(failure(job));
    if (job.status === "cancelled") say(t.jobCancelled(t.jobs[job.kind] ?? job.kind));
  }
  tell("jobs");
}
