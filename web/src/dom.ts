// Create elements in one call. Text is never parsed as markup.

export type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";

function fill(node: Element, props: Props | null, children: Child[]): void {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on") && typeof value === "function") {
      node.addEventListener(key.slice(2), value as EventListener);
    } else if (key === "style") {
      // Set through the DOM: the policy of the page blocks inline styles.
      for (const [name, part] of Object.entries(value as Record<string, string>)) {
        (node as HTMLElement).style.setProperty(name, part);
      }
    } else if (key === "value" || key === "checked" || key === "selected" || key === "disabled") {
      (node as unknown as Props)[key] = value;
    } else {
      node.setAttribute(key, value === true ? "" : String(value));
    }
  }
  node.append(...nodes(children));
}

const nodes = (children: Child[]): (Node | string)[] =>
  children.flatMap((child) => (child === null || child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)]));

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, props, children);
  return node;
}

export function svg(tag: string, props: Props | null = null, ...children: Child[]): SVGElement {
  const node = document.createElementNS(SVG, tag);
  fill(node, props, children);
  return node;
}

export const replace = (node: Element, ...children: Child[]): void => node.replaceChildren(...nodes(children));

export const button = (words: Child, onclick: ((event: Event) => unknown) | null, props: Props = {}): HTMLButtonElement =>
  h("button", { type: "button", onclick, ...props }, words);

// A choice between values, each with its words.
export const choice = (options: [string, string][], chosen: string | null, props: Props = {}): HTMLSelectElement =>
  h("select", props, ...options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));

export function field(words: string, input: HTMLElement, kind = "field"): HTMLElement {
  input.id = newId("field");
  return h("p", { class: kind }, h("label", { for: input.id }, words), input);
}

let count = 0;
export const newId = (prefix: string): string => `${prefix}-${++count}`;

// A dialog that closes by keyboard and restores the focus.
export function dialog(title: string, close: string, ...children: Child[]): HTMLDialogElement {
  const id = newId("title");
  const node: HTMLDialogElement = h(
    "dialog",
    { "aria-labelledby": id, class: "dialog" },
    h(
      "header",
      null,
      h("h2", { id }, title),
      button("✕", () => node.close(), { class: "quiet", "aria-label": close }),
    ),
    h("div", { class: "dialog-body" }, ...children),
  );
  node.addEventListener("close", () => node.remove());
  node.addEventListener("click", (event) => {
    if (event.target === node) node.close();
  });
  root().append(node);
  node.showModal();
  return node;
}

let place: HTMLElement | null = null;
export const root = (): HTMLElement => place ?? document.body;
export function setRoot(node: HTMLElement): void {
  place = node;
}
