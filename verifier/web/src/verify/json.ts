/**
 * A reader of JSON that forgets nothing: JSON.parse takes the last of two equal keys and rounds
 * large numbers, and both must be seen here. Spec: ENC-1..3, ENC-7, ENC-8, FILE-1.
 */

import { fromUtf8 } from "./bytes.ts";
import type { Json } from "./outcome.ts";

export type JsonObject = { readonly [member: string]: Json };

export const DEPTH = 16;
/** More values than any hand has; a file with more is refused (VER-5). */
const VALUES = 200_000;

/** Why some bytes are not read. */
export type Unread = "utf8" | "json" | "deep" | "parts";

class NotRead extends Error {
  readonly why: Unread;

  constructor(why: Unread) {
    super(why);
    this.why = why;
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const BACKSLASH = 0x5c;
const WORDS: readonly (readonly [string, Json])[] = [["true", true], ["false", false], ["null", null]];

class Reader {
  /** Whether all that was read can be written again: keys once, numbers as in ENC-3, no half characters. */
  plain = true;
  /** Whether all strings are of printable ASCII (ENC-2). */
  ascii = true;
  readonly #text: string;
  #at = 0;
  #count = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value(1);
    this.#match(SPACE);
    if (this.#at < this.#text.length) throw new NotRead("json");
    return value;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  /** The next character that is no space, if it is one of `marks`. */
  #take(marks: string): string {
    this.#match(SPACE);
    const found = this.#text.charAt(this.#at);
    if (found === "" || !marks.includes(found)) return "";
    this.#at += 1;
    return found;
  }

  #need(marks: string): string {
    const found = this.#take(marks);
    if (!found) throw new NotRead("json");
    return found;
  }

  #value(depth: number): Json {
    this.#count += 1;
    if (this.#count > VALUES) throw new NotRead("parts");
    const mark = this.#take('{["');
    if (mark === '"') return this.#string();
    if (mark) {
      if (depth > DEPTH) throw new NotRead("deep");
      return mark === "{" ? this.#object(depth) : this.#list(depth);
    }
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    const digits = this.#match(NUMBER);
    if (!digits) throw new NotRead("json");
    const number = Number(digits);
    if (!INTEGER.test(digits) || !Number.isSafeInteger(number)) this.plain = false;
    return number;
  }

  /** A string up to its closing mark; what stands in it JSON.parse knows, in which nothing of a string is lost. */
  #string(): string {
    const start = this.#at;
    let end = start - 1;
    let before: number;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end < 0) throw new NotRead("json");
      before = end;
      while (before > start && this.#text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    } while ((end - before) % 2 === 1);
    this.#at = end + 1;
    let text: string;
    try {
      text = JSON.parse(this.#text.slice(start - 1, end + 1)) as string;
    } catch {
      throw new NotRead("json");
    }
    if (!/^[ -~]*$/.test(text)) {
      this.ascii = false;
      if (/[\ud800-\udfff]/u.test(text)) this.plain = false;
    }
    return text;
  }

  #list(depth: number): Json {
    const list: Json[] = [];
    if (this.#take("]")) return list;
    do list.push(this.#value(depth + 1));
    while (this.#need(",]") === ",");
    return list;
  }

  #object(depth: number): Json {
    // Without a prototype, `__proto__` is a member like any other.
    const members = Object.create(null) as { [member: string]: Json };
    if (this.#take("}")) return members;
    do {
      this.#need('"');
      const key = this.#string();
      if (key in members || !/^[a-z0-9_]+$/.test(key)) this.plain = false;
      this.#need(":");
      members[key] = this.#value(depth + 1);
    } while (this.#need(",}") === ",");
    return members;
  }
}

/** A value that was read, and whether its bytes are its one form: to find that out it is written again. */
export interface Read {
  readonly value: Json;
  readonly plain: boolean;
  readonly canonical: boolean;
  readonly ascii: boolean;
}

/** A value, or why the bytes are not read. */
export function tryRead(bytes: Uint8Array): Read | Unread {
  const text = fromUtf8(bytes);
  if (text === null) return "utf8";
  const reader = new Reader(text);
  try {
    const value = reader.whole();
    const { plain, ascii } = reader;
    return { value, plain, get canonical() { return plain && encode(value) === text; }, ascii };
  } catch (error) {
    if (error instanceof NotRead) return error.why;
    throw error;
  }
}

/** The one form of a value. Spec: FILE-1. */
export function encode(value: Json): string {
  if (isObject(value)) {
    const members = Object.keys(value).sort();
    return `{${members.map((key) => `${JSON.stringify(key)}:${encode(value[key] as Json)}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map((one: Json) => encode(one)).join(",")}]`;
  return JSON.stringify(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
