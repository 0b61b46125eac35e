// Light or dark theme: of the system, or as chosen.

import { root } from "./dom";
import { tell } from "./store";

const KEY = "equigraph-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const chosen = (): string | null => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};

export const isDark = (): boolean => (chosen() ?? (system.matches ? "dark" : "light")) === "dark";

export function showTheme(): void {
  root().dataset.theme = isDark() ? "dark" : "light";
}

export function toggleTheme(): void {
  const next = isDark() ? "light" : "dark";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, follow the system.
  }
  showTheme();
  tell("words");
}

system.addEventListener("change", showTheme);
