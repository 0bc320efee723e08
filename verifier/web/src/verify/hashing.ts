/** Framed hashes, streams, and what is drawn from them. Spec: ENC-9, TAG-1, KEY-1, STREAM-1, STREAM-2. */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as noble } from "@noble/hashes/sha2.js";
import { concat, u32be, utf8 } from "./bytes.ts";
import type { Draw } from "./outcome.ts";

export type Tag = "server seed" | "link" | "seat seed" | "deal" | "discard" | "declare" | "seal" | "open" | "lock" | "rotate";

/** SHA-256; the digest of an event's bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return noble(bytes);
}

/** `M` of TAG-1. */
export function message(tag: Tag, ...fields: readonly Uint8Array[]): Uint8Array {
  return concat([utf8("fairdeal/1 " + tag), ...fields].flatMap((field) => [u32be(field.length), field]));
}

/** `H` of TAG-1. */
export function hash(tag: Tag, ...fields: readonly Uint8Array[]): Uint8Array {
  return sha256(message(tag, ...fields));
}

/** HKDF-Extract with SHA-256. */
export function extract(salt: Uint8Array, secret: Uint8Array): Uint8Array {
  return hmac(noble, salt, secret);
}

/** A stream of a deal key, made 32 bytes at a time as they are taken. */
export class Stream {
  readonly #key: Uint8Array;
  readonly #label: Uint8Array;
  #block: Uint8Array = new Uint8Array(0);
  #count = 0;
  #at = 0;

  constructor(key: Uint8Array, name: string) {
    this.#key = key;
    this.#label = utf8("fairdeal/1 " + name);
  }

  byte(): number {
    if (this.#at === this.#block.length) {
      if (this.#count === 255) throw new RangeError("a stream ends after 8160 bytes (STREAM-1)");
      this.#count += 1;
      this.#block = hmac(noble, this.#key, concat([this.#block, this.#label, Uint8Array.of(this.#count)]));
      this.#at = 0;
    }
    return this.#block[this.#at++] ?? 0; // `at` is below the length: see above
  }

  take(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.byte());
  }
}

/** A uniform number below m, and the bytes taken for it: the last one counted. Spec: STREAM-2. */
export function uniform(stream: { byte(): number }, m: number): { number: number; taken: number[] } {
  const taken: number[] = [];
  for (;;) {
    const byte = stream.byte();
    taken.push(byte);
    if (byte < 256 - (256 % m)) return { number: byte % m, taken };
  }
}

/** Spec: SHUF-2. */
export function shuffle(key: Uint8Array, cards: readonly string[]): { order: string[]; draws: Draw[] } {
  const stream = new Stream(key, "shuffle");
  const order = [...cards];
  const draws: Draw[] = [];
  for (let i = order.length - 1; i > 0; i--) {
    const { number: j, taken } = uniform(stream, i + 1);
    const card = order[i] as string; // i and j are places of the order
    order[i] = order[j] as string;
    order[j] = card;
    draws.push({ i, j, taken });
  }
  return { order, draws };
}

/** `pick(name, m)` of K_0. Spec: SHUF-3. */
export function pick(key: Uint8Array, name: string, m: number): number {
  return uniform(new Stream(key, "pick " + name), m).number;
}
