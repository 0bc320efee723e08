/** The deck of one epoch, from its deal key. Spec: SHUF-2, DECK-1..3. */

import { concat, equal, fromHex, hex, u32be, utf8 } from "./bytes.ts";
import { Stream, shuffle } from "./hashing.ts";
import { leafHash, root, rootOf } from "./merkle.ts";
import type { Draw, Trace } from "./outcome.ts";

/** Where a card lies: epoch and position. */
export type Place = readonly [epoch: number, position: number];

/** A place as a key of a Map or Set. */
export function at(epoch: number, position: number): string {
  return `${epoch}/${position}`;
}

export function leaf(epoch: number, position: number, card: string, salt: string): Uint8Array {
  return leafHash(utf8(`${epoch} ${position} ${card} ${salt}`));
}

/** An order with its salts, sealed. */
export class Deck {
  readonly epoch: number;
  readonly key: Uint8Array;
  /** The cards before the shuffle, in canonical order. */
  readonly cards: readonly string[];
  /** Position 0 is on top. */
  readonly order: readonly string[];
  /** Hex. */
  readonly salts: readonly string[];
  /** Hex. */
  readonly root: string;
  readonly draws: readonly Draw[];

  constructor(key: Uint8Array, epoch: number, cards: readonly string[]) {
    const stream = new Stream(key, "salts");
    const { order, draws } = shuffle(key, cards);
    this.epoch = epoch;
    this.key = key;
    this.cards = cards;
    this.order = order;
    this.draws = draws;
    this.salts = order.map(() => hex(stream.take(16)));
    this.root = hex(root(this.leaves()));
  }

  leaves(): Uint8Array[] {
    return this.order.map((card, position) => leaf(this.epoch, position, card, this.salts[position] ?? ""));
  }

  trace(): Trace {
    const { epoch, cards, draws, order, root, salts } = this;
    return { epoch, cards, draws, order, key: hex(this.key), root, salts };
  }
}

/** One opening of a file: all in hex. */
export interface Opening {
  readonly card: string;
  readonly epoch: number;
  readonly path: readonly string[];
  readonly position: number;
  readonly salt: string;
}

/** Whether an opening leads to a root (hex) of `size` cards. The size comes from the rules. Spec: DECK-3. */
export function opens(opening: Opening, root: string, size: number): boolean {
  const { epoch, position, card, salt } = opening;
  const found = rootOf(leaf(epoch, position, card, salt), position, size, opening.path.map(fromHex));
  return found !== null && equal(found, fromHex(root));
}

/** The field of a lock that names its cards; `places` ascend. Spec: TAG-1, HAND-10. */
export function joinPlaces(places: readonly Place[]): Uint8Array {
  return concat(places.flat().map(u32be));
}
