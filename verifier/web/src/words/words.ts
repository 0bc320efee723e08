/**
 * Says the sentences of the catalogue in one language. What it makes are texts and cards, never HTML.
 *
 * A message holds `{name}` for a value, and plurals as `{name, plural, one {# card} other {# cards}}`, with the
 * categories of CLDR, which browsers know.
 */

import type { Said } from "../verify/outcome.ts";

export type Values = NonNullable<Said["values"]>;
/** A piece of a sentence. Cards are named as in the log; who shows the sentence draws them. */
export type Part = string | { readonly card: string };

export interface Language {
  /** As of BCP 47. */
  readonly tag: string;
  /** In the language itself. */
  readonly name: string;
  readonly messages: ReadonlyMap<string, string>;
  /** No native speaker has read all of it yet. */
  readonly unreviewed: boolean;
}

/** Placeholders whose values are words of the catalogue, and where these stand in it. */
const WORDS = new Map([["call", "call."], ["lance", "lance."], ["suit", "card.suit."]]);

export class Words {
  readonly language: Language;
  readonly #plural: Intl.PluralRules;
  readonly #number: Intl.NumberFormat;

  constructor(language: Language) {
    this.language = language;
    this.#plural = new Intl.PluralRules(language.tag);
    this.#number = new Intl.NumberFormat(language.tag);
  }

  has(key: string): boolean {
    return this.language.messages.has(key);
  }

  number(value: number): string {
    return this.#number.format(value);
  }

  /** The pieces of a sentence. A key that the catalogue lacks stands for itself: better than nothing. */
  parts(key: string, values: Values = {}): Part[] {
    const message = this.language.messages.get(key);
    return message === undefined ? [key] : this.#fill(message, values, "");
  }

  /** The sentence as a text, its cards as `card` writes them. */
  text(key: string, values: Values = {}, card: (name: string) => string = (name) => name): string {
    return this.parts(key, values)
      .map((part) => (typeof part === "string" ? part : card(part.card)))
      .join("");
  }

  #fill(message: string, values: Values, count: string): Part[] {
    const parts: Part[] = [];
    let at = 0;
    while (at < message.length) {
      const open = message.indexOf("{", at);
      const end = open < 0 ? message.length : open;
      if (end > at) parts.push(message.slice(at, end).replaceAll("#", count || "#"));
      if (open < 0) break;
      const close = closing(message, open);
      for (const part of this.#value(message.slice(open + 1, close), values)) parts.push(part);
      at = close + 1;
    }
    return parts;
  }

  #value(inside: string, values: Values): Part[] {
    const [name = "", kind, forms = ""] = inside.split(/,\s*(plural),\s*/s);
    const value = values[name];
    if (kind !== undefined && typeof value === "number") {
      const choice = branches(forms);
      return this.#fill(choice.get(this.#plural.select(value)) ?? choice.get("other") ?? "", values, this.number(value));
    }
    if (value === undefined) return [`{${name}}`];
    const list: readonly (string | number)[] = typeof value === "object" ? value : [value];
    if (list.length === 0) return this.parts("report.none");
    const cards = name === "card" || name === "cards";
    const words = WORDS.get(name);
    return list.flatMap((one, at): Part[] => {
      const before = at === 0 ? [] : [cards ? " " : ", "];
      if (typeof one === "number") return [...before, this.number(one)];
      if (cards) return [...before, { card: one }];
      return [...before, (words && this.language.messages.get(words + one)) ?? one];
    });
  }
}

/** Where the brace at `open` is closed. */
function closing(message: string, open: number): number {
  let depth = 0;
  for (let at = open; at < message.length; at++) {
    if (message[at] === "{") depth += 1;
    else if (message[at] === "}" && --depth === 0) return at;
  }
  return message.length;
}

/** The forms of a plural, by category. */
function branches(forms: string): Map<string, string> {
  const found = new Map<string, string>();
  let at = 0;
  for (;;) {
    const open = forms.indexOf("{", at);
    if (open < 0) return found;
    const close = closing(forms, open);
    found.set(forms.slice(at, open).trim(), forms.slice(open + 1, close));
    at = close + 1;
  }
}
