/** What every part of the page needs to draw itself. */

import type { Values, Words } from "../words/words.ts";
import { type Child, h } from "./dom.ts";

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
export function facts(rows: readonly (readonly [name: Child, value: Child])[]): HTMLElement {
  return h(
    "dl",
    {},
    rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}
