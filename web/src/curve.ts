// The dial and the curve: evenness against friendships kept; every dot is a complete set of groups.

import { start, takePoint } from "./actions";
import { button, h, replace, svg } from "./dom";
import { failure, lastJob, line } from "./jobs";
import { on, running, store } from "./store";
import { panel } from "./panels";
import { t } from "./strings";
import type { Point } from "./types";

const WIDTH = 320;
const HEIGHT = 200;
const LEFT = 58;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 34;

export function curvePanel(): HTMLElement {
  const place = h("div", { class: "panel-place" });
  let slider: HTMLInputElement | null = null;
  const draw = () => {
    const dragged = slider !== null && document.activeElement === slider;
    const content = contents();
    slider = content.querySelector("input[type=range]");
    replace(place, content);
    if (dragged) slider?.focus();
  };
  on(["state", "board", "words", "jobs"], () => {
    // A slider that is being dragged is not overwritten.
    if (slider && slider.matches(":active") && slider.max === String(store.state.curve.points.length - 1)) {
      refresh(place, slider);
    } else draw();
  });
  draw();
  return place;
}

function contents(): HTMLElement {
  const { state, source } = store;
  const { points, current } = state.curve;
  if (!state.even.length) return panel(t.dial, h("p", null, Object.keys(store.people.values).length ? t.nothingEven : t.noAttribute));
  const busy = running("curve");
  const last = lastJob("curve");
  const stale = source.live && !current && !busy && (points.length > 0 || last !== undefined);
  return panel(
    t.dial,
    h("p", { class: "hint" }, points.length || !busy ? t.dialHelp : t.curveWait),
    h("div", { class: "chart" }, chart()),
    points.length > 1 && dial(),
    Boolean(busy) && line(busy!),
    last?.status === "failed" && h("p", { class: "stale" }, failure(last)),
    stale && h("p", { class: "stale" }, points.length > 0 && `${t.curveStale} `, button(t.curveAgain, () => start("curve"))),
  );
}

function nearest(): number {
  const { curve, scores } = store.state;
  if (curve.here !== null) return curve.here;
  const gap = (i: number) => Math.abs(curve.points[i].even - (scores?.even ?? 0));
  return curve.points.reduce((best, _, i) => (gap(i) < gap(best) ? i : best), 0);
}

function dial(): HTMLElement {
  const { points } = store.state.curve;
  const at = nearest();
  const output = h("output", { class: "dial-text" }, here());
  const input = h("input", {
    type: "range",
    min: 0,
    max: points.length - 1,
    step: 1,
    value: String(at),
    "aria-label": t.dialLabel,
    "aria-valuetext": here(),
    oninput: () => {
      const number = Number(input.value);
      output.textContent = text(number);
      input.setAttribute("aria-valuetext", text(number));
      void takePoint(number);
    },
  });
  return h(
    "div",
    { class: "dial" },
    input,
    h("div", { class: "dial-ends", "aria-hidden": "true" }, h("span", null, t.dialLow), h("span", null, t.dialHigh)),
    output,
  );
}

// The current board: a point of the curve, or beside it.
function here(): string {
  const { curve, scores } = store.state;
  if (curve.here !== null) return text(curve.here);
  return scores && scores.even !== null ? `${t.offCurve}: ${t.dialText(scores.even, scores.kept, scores.wished, store.board.directed)}` : "";
}

function text(number: number): string {
  const point = store.state.curve.points[number];
  return t.dialText(point.even, point.kept, store.state.scores?.wished ?? 0, store.board.directed);
}

function refresh(place: HTMLElement, slider: HTMLInputElement): void {
  replace(place.querySelector(".chart")!, chart());
  slider.setAttribute("aria-valuetext", text(Number(slider.value)));
}

function chart(): SVGElement {
  const { curve, scores } = store.state;
  const all = scores?.wished || 1;
  const shares = curve.points.map((point) => point.kept / all);
  const evens = curve.points.map((point) => point.even);
  if (scores && scores.even !== null) {
    shares.push(scores.kept / all);
    evens.push(scores.even);
  }
  const span = (values: number[]): [number, number] => {
    const low = Math.max(0, Math.floor(20 * Math.min(...values) - 0.5) / 20);
    const high = Math.min(1, Math.ceil(20 * Math.max(...values) + 0.5) / 20);
    return values.length ? [low, Math.max(high, low + 0.05)] : [0, 1];
  };
  const [x0, x1] = span(evens);
  const [y0, y1] = span(shares);
  const x = (even: number) => LEFT + ((even - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const y = (share: number) => HEIGHT - BOTTOM - ((share - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const dots = curve.points.map((point, i) =>
    svg("circle", {
      cx: x(point.even),
      cy: y(point.kept / all),
      r: i === curve.here ? 7 : 5,
      class: i === curve.here ? "dot here" : "dot",
      "data-point": i,
      onclick: () => void takePoint(i),
    }, svg("title", null, text(i))),
  );
  const off = scores && scores.even !== null && curve.here === null;
  const cx = off ? x(scores.even!) : 0;
  const cy = off ? y(scores.kept / all) : 0;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${t.even}, ${store.board.directed ? t.wishes : t.friends}` },
    svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    ...[y0, (y0 + y1) / 2, y1].map((share) =>
      svg("text", { class: "tick", x: LEFT - 5, y: y(share) + 4, "text-anchor": "end" }, t.percent(share)),
    ),
    ...[x0, (x0 + x1) / 2, x1].map((even, i) =>
      svg("text", { class: "tick", x: x(even), y: HEIGHT - BOTTOM + 14, "text-anchor": ["start", "middle", "end"][i] }, t.percent(even)),
    ),
    svg("text", { class: "axis-name", x: (LEFT + WIDTH) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, `${t.even} →`),
    svg(
      "text",
      { class: "axis-name", transform: `translate(12 ${(HEIGHT - BOTTOM) / 2 + TOP / 2}) rotate(-90)`, "text-anchor": "middle" },
      `${store.board.directed ? t.wishes : t.friends} →`,
    ),
    svg("polyline", { class: "line", points: best(curve.points).map((point) => `${x(point.even)},${y(point.kept / all)}`).join(" ") }),
    ...dots,
    off && svg("path", { class: "off", d: `M${cx} ${cy - 8}l8 8-8 8-8-8z` }, svg("title", null, t.offCurve)),
  );
}

// The nondominated points, which the line connects.
function best(points: Point[]): Point[] {
  return points.filter((one) => !points.some((other) => other.even >= one.even && other.kept >= one.kept && other.even + other.kept > one.even + one.kept));
}
