/**
 * What lies where after each event of a hand, for showing it. It judges nothing: whether an event is right is the
 * verifier's to say, so this follows a wrong one as well as it can, and never fails.
 */

import { at as place } from "../verify/decks.ts";
import type { HandEvent } from "../verify/events.ts";
import type { HandFile } from "../verify/file.ts";
import type { Trace } from "../verify/outcome.ts";

/** A card on the table, as the key of its place; `down` if it was laid face down. */
export interface Laid {
  readonly seat: number | null;
  readonly place: string;
  readonly down: boolean;
}

export interface Scene {
  /** The places that each seat holds, in the order in which they came. */
  readonly holdings: readonly ReadonlySet<string>[];
  /** Cards of the trick, or of the pile: the last one on top. */
  readonly middle: readonly Laid[];
  /** Cards thrown away that lie face down. */
  readonly heap: number;
  /** How many cards can be drawn; null before the deal. */
  readonly stock: number | null;
  /** What each seat has last called in this event's talk. */
  readonly calls: ReadonlyMap<number, { readonly call: string; readonly amount: number | null }>;
  readonly out: ReadonlySet<number>;
  /** Places that this event moved. */
  readonly moved: ReadonlySet<string>;
  /** This event is the deal, which moves all cards. */
  readonly dealing: boolean;
  /** Places whose card is known to everybody. */
  readonly open: ReadonlySet<string>;
}

/** Games in which a card that is shown leaves the hand. */
const PLAYS = new Set(["kozel", "azi", "svoi"]);
/** No holding of any game has as many cards; one of a false file may. */
const MOST_LOOKED_AT = 256;

/** The name of the card at each place, as far as seeds or the events tell. */
export function cardNames(file: HandFile, traces: readonly Trace[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { type, body } of file.steps) {
    if (type === "cards.shown" || type === "hand.dealt") for (const one of body.shown) names.set(place(one.epoch, one.position), one.card);
    if (type === "cards.given") for (const one of body.given) names.set(place(one.epoch, one.position), one.card);
  }
  // The events come first: what they state is what is shown of a false file too.
  for (const { epoch, order } of traces) {
    for (const [position, card] of order.entries()) {
      const key = place(epoch, position);
      if (!names.has(key)) names.set(key, card);
    }
  }
  return names;
}

/**
 * The scene after any step of a file. It goes on from the step that it was asked for last, so that nobody has to keep
 * a scene for each of the twenty thousand events that a file may have.
 */
export class Stage {
  readonly #file: HandFile;
  readonly #size: number;
  #table: Table;
  #next = 0;
  #scene: Scene | null = null;

  constructor(file: HandFile, deckSize: number) {
    this.#file = file;
    this.#size = deckSize;
    this.#table = new Table(file, deckSize);
  }

  /** The scene after a step, valid until the next one is asked for. */
  at(step: number): Scene {
    if (step < this.#next - 1 || !this.#scene) {
      this.#table = new Table(this.#file, this.#size);
      this.#next = 0;
    }
    for (; this.#next <= step; this.#next += 1) this.#table.apply(this.#file.steps[this.#next] as HandEvent, this.#next === step); // a step of the file
    this.#scene = this.#table.scene();
    return this.#scene;
  }
}

class Table {
  readonly #file: HandFile;
  readonly #game: string;
  readonly #size: number;
  readonly #holdings: readonly Set<string>[];
  #middle: Laid[] = [];
  /** The places of `#middle`, and how many of them each seat has laid. */
  #lying = new Set<string>();
  #laidBy: number[];
  /** All that was laid since the last draw: what a pull may bring back. */
  #since: Laid[] = [];
  #done = false;
  #heap = 0;
  #stock: number | null = null;
  #discards: number[];
  readonly #calls = new Map<number, { call: string; amount: number | null }>();
  readonly #out = new Set<number>();
  readonly #open = new Set<string>();
  #moved: Set<string> | null = null;
  #dealing = false;

  constructor(file: HandFile, size: number) {
    this.#file = file;
    this.#game = file.table.body.game;
    this.#size = size;
    const seats = Math.min(file.table.body.seats, 10);
    this.#holdings = Array.from({ length: seats }, () => new Set());
    this.#laidBy = Array.from({ length: seats }, () => 0);
    this.#discards = Array.from({ length: seats }, () => 0);
  }

  scene(): Scene {
    return {
      holdings: this.#holdings,
      middle: this.#middle,
      heap: this.#heap,
      stock: this.#stock,
      calls: this.#calls,
      out: this.#out,
      moved: this.#moved ?? new Set(),
      dealing: this.#dealing,
      open: this.#open,
    };
  }

  /** `isLast`: what it moves will be asked for. */
  apply(step: HandEvent, isLast: boolean): void {
    this.#moved = isLast ? new Set() : null;
    this.#dealing = step.type === "hand.dealt";
    if (step.type !== "play.called") this.#calls.clear();
    switch (step.type) {
      case "hand.dealt": {
        let dealt = 0;
        for (const [seat, positions] of Object.entries(step.body.positions)) {
          for (const position of positions) this.#receive(Number(seat), place(0, position));
          dealt += positions.length;
        }
        const turned = step.body.shown.filter((one) => one.seat === null);
        for (const one of step.body.shown) this.#open.add(place(one.epoch, one.position));
        this.#stock = Math.max(0, this.#size - dealt - (this.#game === "azi" ? turned.length : 0));
        break;
      }
      case "cards.drawn":
        for (const [seat, epoch, position] of step.body.draws) {
          this.#receive(seat, place(epoch, position));
          this.#stock = Math.max(0, (this.#stock ?? 0) - 1);
        }
        if (this.#game === "kozel") this.#clear();
        break;
      case "cards.shown":
        for (const one of step.body.shown) {
          const key = place(one.epoch, one.position);
          this.#open.add(key);
          if (PLAYS.has(this.#game)) this.#lay(one.seat, [key], false);
          else this.#moved?.add(key);
        }
        this.#done = this.#game !== "svoi" && this.#complete();
        break;
      case "cards.discarded":
        for (const [seat, { count }] of Object.entries(step.body.discards)) this.#discard(Number(seat), count);
        this.#done = this.#complete();
        break;
      case "cards.given":
        for (const one of step.body.given) {
          const key = place(one.epoch, one.position);
          this.#open.add(key);
          this.#leave(one.from, key);
          this.#receive(one.to, key);
        }
        break;
      case "cards.returned":
        for (const one of this.#file.table.body.referee ? this.#middle : this.#since) this.#back(one);
        this.#clear();
        break;
      case "play.called":
        this.#call(step.body.seat, step.body.call, step.body.amount);
        break;
      case "stock.reshuffled":
        this.#stock = step.body.count;
        this.#heap = Math.max(0, this.#heap - step.body.count);
        break;
    }
  }

  #call(seat: number, call: string, amount: number | null): void {
    this.#calls.set(seat, { call, amount });
    if (call === "fold") this.#out.add(seat);
    if (this.#game === "svoi" && call === "take" && amount !== null) {
      for (const one of this.#middle.splice(Math.max(0, this.#middle.length - amount))) {
        this.#lying.delete(one.place);
        this.#receive(seat, one.place);
      }
    }
  }

  #receive(seat: number, key: string): void {
    this.#holdings[seat]?.add(key);
    this.#moved?.add(key);
  }

  #back({ seat, place: key }: Laid): void {
    if (seat !== null) this.#receive(seat, key);
  }

  #leave(seat: number, key: string): void {
    this.#holdings[seat]?.delete(key);
  }

  #away(): void {
    this.#middle = [];
    this.#lying = new Set();
    this.#laidBy = this.#laidBy.map(() => 0);
  }

  #lay(seat: number | null, keys: readonly string[], down: boolean): void {
    if (this.#done) this.#away();
    this.#done = false;
    for (const key of keys) {
      const laid = { seat, place: key, down };
      this.#moved?.add(key);
      if (this.#lying.has(key)) continue; // no card lies twice
      this.#lying.add(key);
      this.#middle.push(laid);
      this.#since.push(laid);
      if (seat === null) continue;
      this.#leave(seat, key);
      this.#laidBy[seat] = (this.#laidBy[seat] ?? 0) + 1;
    }
  }

  #discard(seat: number, count: number): void {
    const k = this.#discards[seat] ?? 0;
    this.#discards[seat] = k + 1;
    const known = this.#file.disclosed?.discards.get(seat)?.[k]?.map(([epoch, position]) => place(epoch, position));
    const keys = known ?? this.#some(seat, count);
    if (this.#game === "kozel") this.#lay(seat, keys, true);
    else {
      for (const key of keys) this.#leave(seat, key);
      this.#heap += count;
    }
  }

  /** Undisclosed, nobody knows which cards these are; some that have not been seen have to leave the hand. */
  #some(seat: number, count: number): string[] {
    const found: string[] = [];
    let left = MOST_LOOKED_AT;
    for (const key of this.#holdings[seat] ?? []) {
      if (found.length === count || --left < 0) break;
      if (!this.#open.has(key)) found.push(key);
    }
    return found;
  }

  #clear(): void {
    this.#away();
    this.#since = [];
    this.#done = false;
  }

  /** Whether everybody has laid as many cards as the others: then the trick is over. */
  #complete(): boolean {
    const playing = this.#laidBy.filter((count, seat) => count > 0 || ((this.#holdings[seat]?.size ?? 0) > 0 && !this.#out.has(seat)));
    return playing.length > 1 && playing.every((count) => count > 0 && count === playing[0]);
  }
}
