/** What every part of the page needs to draw itself. */

import type { Values, Words } from "../words/words.ts";
import { append, type Child, h } from "./dom.ts";

/** A disclosure whose inside is made when it is first opened, and which is open again after a redraw. */
export class Folds {
  readonly #open = new Map<string, boolean>();

  fold(id: string, attributes: { class?: string; open?: boolean }, summary: Child, inside: () => Child): HTMLElement {
    const handle = h("summary", {}, summary);
    const details = h("details", { class: attributes.class, open: this.#open.get(id) ?? attributes.open ?? false }, handle);
    let filled = false;
    const fillIn = (): void => {
      if (!details.open || filled) return;
      filled = true;
      details.append(h("div", { class: "inside" }, inside()));
    };
    fillIn();
    details.addEventListener("toggle", fillIn);
    // Only what the reader did is remembered; a click is also what the keyboard makes.
    handle.addEventListener("click", () => this.#open.set(id, !details.open));
    return details;
  }

  /** Another hand begins with everything closed. */
  clear(): void {
    this.#open.clear();
  }
}

/** As many items of a list as are drawn at once. */
const AT_ONCE = 200;

/** A list of any length: its beginning, and a button that draws as many again. */
export function inPieces<T>(view: View, into: HTMLElement, items: readonly T[], draw: (item: T, at: number) => Child): HTMLElement[] {
  let drawn = 0;
  const more = button("", () => {
    add();
    if (drawn === items.length) {
      more.remove();
      into.tabIndex = -1;
      into.focus();
    }
  });
  const add = (): void => {
    const next = items.slice(drawn, drawn + AT_ONCE);
    append(into, next.map((item, at) => draw(item, drawn + at)));
    drawn += next.length;
    more.textContent = view.t("page.more", { n: items.length - drawn });
  };
  add();
  return drawn < items.length ? [into, more] : [into];
}

export interface View {
  readonly words: Words;
  readonly folds: Folds;
  /** A text of the catalogue. */
  t(key: string, values?: Values): string;
}

/** A part of the page with its heading. */
export function section(id: string, title: Child, ...inside: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-h` }, h("h2", { id: `${id}-h` }, title), inside);
}

export function button(text: Child, onclick: () => void, attributes: Readonly<Record<string, string | boolean>> = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** Long values break anywhere, so that a hash does not widen the page. */
export function code(text: string): HTMLElement {
  return h("code", { translate: "no" }, text);
}

/** Names and values, one below the other. */
export function facts(view: View, rows: readonly (readonly [name: Child, value: Child])[]): HTMLElement[] {
  return inPieces(view, h("dl"), rows, ([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
}
