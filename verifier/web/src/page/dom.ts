/** Makes elements. Nothing here takes HTML: a text from a file can only become a text. */

export type Child = Node | string | number | null | undefined | false | readonly Child[];
type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);
export type Attributes = Readonly<Record<string, Attribute>>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  append(element, children);
}

export function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child as readonly Child[]);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** An HTML element; `onclick` and the like are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function s(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): Element {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

/** A symbol of index.html; decoration, so a screen reader passes it over. */
export function icon(name: string, kind = "icon"): Element {
  return s("svg", { class: kind, "aria-hidden": "true" }, s("use", { href: `#${name}` }));
}
