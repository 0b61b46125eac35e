// Create elements in one call. Text is never parsed as markup.

type Child = Node | string | number | null | undefined | false;
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
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

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

export function replace(node: Element, ...children: Child[]): void {
  node.replaceChildren(
    ...children.filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false).map((child) => (child instanceof Node ? child : String(child))),
  );
}

let count = 0;
export const newId = (prefix: string): string => `${prefix}-${++count}`;

// A dialog that closes by keyboard and restores the focus.
export function dialog(title: string, close: string, ...children: Child[]): HTMLDialogElement {
  const id = newId("title");
  const node = h(
    "dialog",
    { "aria-labelledby": id, class: "dialog" },
    h(
      "header",
      null,
      h("h2", { id }, title),
      h("button", { type: "button", class: "quiet", "aria-label": close, onclick: () => node.close() }, "✕"),
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
