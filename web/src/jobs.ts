// Running jobs with progress and a button to cancel.

import { api, refusalWords } from "./api";
import { say, warn } from "./announce";
import { h, replace } from "./dom";
import { on, ruleWords, store, tell } from "./store";
import { t } from "./strings";
import type { Job } from "./types";

// These start automatically, and are shown where their results will be.
const QUIET = new Set(["curve", "price"]);

export function jobsBar(): HTMLElement {
  const place = h("div", { class: "jobs" });
  const draw = () =>
    replace(
      place,
      store.lost && h("p", { class: "error", role: "alert" }, t.lost),
      !store.state.stored && h("p", { class: "error" }, t.notStored),
      ...[...store.jobs.values()].filter((job) => job.status === "running" && !QUIET.has(job.kind)).map(line),
    );
  on(["jobs", "words", "state"], draw);
  return place;
}

export function line(job: Job): HTMLElement {
  const words = t.jobs[job.kind] ?? job.kind;
  return h(
    "div",
    { class: "job", "data-job": job.kind },
    h("span", null, `${words}…`),
    job.total > 0
      ? h("progress", { max: job.total, value: String(job.step), "aria-label": words })
      : h("progress", { "aria-label": words }),
    h("button", { type: "button", onclick: () => void api.cancel(job.number) }, t.cancel),
  );
}

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
