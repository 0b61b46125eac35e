// Colours safe for colour-blind people, and a sign for every colour.

import { h } from "./dom";

const CLUSTERS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A900", "#8a8a8a"];
const GROUPS = ["#7b3f9d", "#b35806", "#1b7837", "#2166ac", "#b2182b", "#4d4d4d", "#8c510a", "#01665e"];
const GROUPS_DARK = ["#d3a6ee", "#fdb863", "#a6dba0", "#92c5de", "#f4a582", "#cccccc", "#dfc27d", "#80cdc1"];
const SIGNS = ["●", "■", "▲", "◆", "▼", "✚", "✖", "★", "◖", "◗", "⬢", "⬟"];

export const clusterColor = (i: number): string => CLUSTERS[i % CLUSTERS.length];
export const groupColor = (i: number, dark: boolean): string => (dark ? GROUPS_DARK : GROUPS)[i % GROUPS.length];
export const sign = (i: number): string => SIGNS[i % SIGNS.length];

// A word with its sign.
export const chip = (color: string, mark: string, words: string, title: string | null = null): HTMLElement =>
  h("span", { class: "chip", title }, h("span", { class: "sign", style: { color } }, mark), words);
