// The graph behind the board, drawn by sigma; the layout comes from Python.

import Graph from "graphology";
import Sigma from "sigma";
import { createNodeBorderProgram } from "@sigma/node-border";
import { button, h, replace } from "./dom";
import { chip, clusterColor, groupColor, sign } from "./palette";
import { name, on, select, store, valueName } from "./store";
import { t } from "./strings";
import { isDark } from "./theme";
import type { Drawn } from "./types";

// The disc shows the cluster, the ring the attribute.
const RingProgram = createNodeBorderProgram({
  borders: [
    { size: { value: 0.34 }, color: { attribute: "ring" } },
    { size: { fill: true }, color: { attribute: "color" } },
  ],
});

export function graphView(): HTMLElement {
  const place = h("div", { class: "graph" });
  let sigma: Sigma | null = null;
  let drawn: Drawn | null = null;
  let mark = "";
  const legend = h("span", { class: "legend" });

  function close(): void {
    sigma?.kill();
    sigma = null;
  }

  async function show(): Promise<void> {
    if (store.view !== "graph" || !store.state.labels.length) return;
    if (drawn === null || mark !== store.board.mark) {
      close();
      replace(place, h("p", { class: "wait", role: "status" }, t.graphWait));
      try {
        drawn = await store.source.graph();
      } catch (error) {
        replace(place, h("p", { class: "error", role: "alert" }, (error as Error).message));
        return;
      }
      mark = store.board.mark;
    }
    if (!hasWebGl()) return still();
    if (sigma) paint();
    else make(drawn);
  }

  // Without WebGL: the picture of the report.
  function still(): void {
    const { state, people } = store;
    const alt = t.graphAlt(people.n, state.clusters.length);
    replace(
      place,
      h("p", { class: "hint" }, t.graphNoGl),
      store.source.live ? h("img", { class: "still", alt, src: `/api/download/graph.png?show=1&step=${state.step}` }) : null,
    );
  }

  function make(drawn: Drawn): void {
    const graph = new Graph({ type: "undirected" });
    drawn.x.forEach((x, node) => graph.addNode(String(node), { x, y: drawn.y[node], size: 5, label: "", ring: "#888888" }));
    for (let i = 0; i < drawn.links.length; i += 2) graph.mergeEdge(String(drawn.links[i]), String(drawn.links[i + 1]));
    const canvas = h("div", { class: "canvas", role: "img", "aria-label": t.graphAlt(store.people.n, store.state.clusters.length) });
    replace(place, toolbar(), canvas);
    const many = graph.order > 40;
    sigma = new Sigma(graph, canvas, {
      renderEdgeLabels: false,
      defaultNodeType: "ring",
      nodeProgramClasses: { ring: RingProgram },
      labelDensity: many ? (graph.order > 300 ? 0.15 : 0.6) : 3,
      labelGridCellSize: many ? 100 : 30,
      labelRenderedSizeThreshold: graph.order > 300 ? 12 : 4,
      labelFont: "system-ui, sans-serif",
      hideEdgesOnMove: graph.size > 20000,
      zIndex: true,
      allowInvalidContainer: true,
      nodeReducer: (node, data) => nodeLook(drawn, Number(node), data),
      edgeReducer: (edge, data) => {
        const [one, other] = graph.extremities(edge);
        const chosen = store.selected !== null && drawn.kind === "people" && [one, other].includes(String(store.selected));
        const [strong, weak, usual] = isDark() ? ["#ffffff", "#2b3138", "#4a535c"] : ["#222222", "#eeeeee", "#c9ced4"];
        const color = chosen ? strong : store.selected === null ? usual : weak;
        return { ...data, color, size: chosen ? 2 : 0.6, zIndex: chosen ? 1 : 0 };
      },
    });
    if (drawn.kind === "people") {
      sigma.on("clickNode", ({ node }) => select(Number(node)));
      sigma.on("clickStage", () => select(null));
    }
    paint();
  }

  function nodeLook(drawn: Drawn, node: number, data: Record<string, unknown>): Record<string, unknown> {
    if (drawn.kind === "clusters") {
      const size = store.members[node]?.length ?? 0;
      return { ...data, color: clusterColor(node), ring: clusterColor(node), size: 6 + 24 * Math.sqrt(size / store.people.n), label: store.state.clusters[node] };
    }
    const { state, selected, board, people } = store;
    const chosen = node === selected;
    const near = selected !== null && board.wishes[selected].includes(node);
    const values = state.even.length ? people.values[state.even[0]] : null;
    const group = values ? values.first + values.codes[node] : 0;
    const base = people.n > 1000 ? 3.5 : people.n > 200 ? 6 : 10;
    const seen = selected === null || chosen || near;
    const shade = (color: string) => (seen ? color : fade(color));
    return {
      ...data,
      color: shade(clusterColor(state.labels[node])),
      ring: shade(values ? groupColor(group, isDark()) : clusterColor(state.labels[node])),
      size: base * (chosen ? 1.7 : near ? 1.25 : 1),
      label: values ? `${sign(group)} ${name(node)}` : name(node),
      forceLabel: chosen || near,
      highlighted: chosen,
      zIndex: chosen ? 2 : near ? 1 : 0,
    };
  }

  function toolbar(): HTMLElement {
    const camera = () => sigma!.getCamera();
    return h(
      "div",
      { class: "graph-tools" },
      button(t.zoomIn, () => camera().animatedZoom()),
      button(t.zoomOut, () => camera().animatedUnzoom()),
      button(t.zoomAll, () => camera().animatedReset()),
      legend,
    );
  }

  function paint(): void {
    const { state, people } = store;
    const values = state.even.length ? people.values[state.even[0]] : null;
    const signs = values?.names.slice(0, 8).map((value, code) => chip(groupColor(values.first + code, isDark()), sign(values.first + code), valueName(value)));
    replace(legend, ...state.clusters.slice(0, 12).map((cluster, i) => chip(clusterColor(i), "⬤", cluster)), ...(signs ?? []));
    sigma?.setSetting("labelColor", { color: isDark() ? "#e8eaed" : "#222222" });
    sigma?.refresh({ skipIndexation: true });
  }

  on(["view", "state", "board"], () => void show());
  on(["words"], () => {
    close();
    void show();
  });
  on(["selected"], () => sigma && paint());
  on(["search"], () => {
    const wanted = store.search.trim().toLocaleLowerCase();
    if (!wanted || store.view !== "graph") return;
    const found = store.board.people.findIndex((person) => person.toLocaleLowerCase().includes(wanted));
    if (found >= 0) select(found);
  });
  void show();
  return place;
}

function fade(color: string): string {
  return isDark() ? mix(color, 0x1b, 0.65) : mix(color, 0xff, 0.7);
}

function mix(color: string, ground: number, share: number): string {
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return `#${parts.map((part) => Math.round(part + (ground - part) * share).toString(16).padStart(2, "0")).join("")}`;
}

let webGl: boolean | null = null;
function hasWebGl(): boolean {
  if (webGl === null) {
    try {
      webGl = !new URLSearchParams(location.search).has("still") && Boolean(document.createElement("canvas").getContext("webgl2"));
    } catch {
      webGl = false;
    }
  }
  return webGl;
}
