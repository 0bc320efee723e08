/** Mus. Spec: MUS-1..5. */

import { Dealing, cards, places, type DealingGame, type SeatPlace, type Setting, type Throw } from "./base.ts";
import type { Shown } from "../events.ts";

const SIZE = 4;
const DECK = 40;

class MusDealing extends Dealing {
  #round = 0;
  /** Seats of this round that have thrown, in the order of their turn. */
  #locked: Throw[] = [];
  #turns = 0;
  /** A seat for each card that is still owed, in the order of service. */
  #owed: number[] = [];
  /** Discards that lie on the table. */
  #heap: { thrown: Throw; round: number }[] = [];
  #shown = false;

  constructor(setting: Setting) {
    super(setting, SIZE, DECK);
  }

  /** Spec: MUS-1. */
  #starter(): number {
    const { ruleset, hand, first } = this.setting;
    return ruleset["mus_corrido"] === true && hand === 1 ? (first + this.#round) % 4 : first;
  }

  protected override discardFault(throws: readonly Throw[]): string {
    if (this.#shown) return "cards were thrown after one had been shown (MUS-5)";
    if (throws.some(({ count }) => count > SIZE)) return "more than four cards were thrown at once (MUS-1)";
    return "";
  }

  override discarded(throws: readonly Throw[]): string {
    const starter = this.#starter();
    const inTurn = [...throws].sort((a, b) => ((a.seat - starter + 4) % 4) - ((b.seat - starter + 4) % 4));
    const due = this.due;
    const fault = super.discarded(inTurn);
    if (due) return fault;
    let turn = "";
    for (const one of inTurn) {
      const index = (one.seat - starter + 4) % 4;
      if (index !== this.#turns) turn = "the seats did not throw in turn from the round's first seat (MUS-1)";
      // A seat that was passed over is not waited for.
      if (index < this.#turns) continue;
      this.#turns += 1;
      this.#locked.push(one);
      this.#heap.push({ thrown: one, round: this.#round });
    }
    this.halfLocked = this.#turns > 0;
    if (this.#turns >= 4) this.#serve();
    return fault || turn;
  }

  /** All four have thrown. Spec: MUS-2. */
  #serve(): void {
    const passes = this.setting.ruleset["service"] === "one_by_one_if_all_four" && this.#locked.every(({ count }) => count === SIZE) ? SIZE : 1;
    for (let pass = 0; pass < passes; pass++) {
      // No seat is owed more than the cards that it can have.
      for (const { seat, count } of this.#locked) this.#owed.push(...Array.from({ length: Math.min(count, SIZE) / passes }, () => seat));
    }
    this.#locked = [];
    this.#turns = 0;
    this.halfLocked = false;
    this.#next();
  }

  /** What is due while cards are owed. Spec: MUS-3. */
  #next(): void {
    this.due = this.#owed.length === 0 ? "" : this.stock.length ? "cards.drawn" : "stock.reshuffled";
    if (!this.due) this.#round += 1;
  }

  protected override drawFault(draws: readonly SeatPlace[]): string {
    if (this.#owed.length === 0) return "cards were drawn although nobody was owed any (MUS-3)";
    const due = Math.min(this.#owed.length, this.stock.length);
    return draws.length === due && draws.every(([seat], i) => seat === this.#owed[i]) ? "" : "the seats were not served all that was owed, in the order of their discards (MUS-3)";
  }

  override drawn(draws: readonly SeatPlace[]): string {
    const fault = super.drawn(draws);
    if (this.#owed.length) {
      this.#owed.splice(0, draws.length);
      this.#next();
    }
    return fault;
  }

  /** The discards that a reshuffle brings back. Spec: MUS-4. */
  #isPooled({ thrown, round }: { thrown: Throw; round: number }): boolean {
    const mode = this.setting.ruleset["reshuffle"];
    const own = round === this.#round;
    if (mode === "previous") return !own;
    const [last] = this.#owed;
    return mode !== "all_but_own_last" || !own || thrown.seat !== last || this.#owed.some((seat) => seat !== last);
  }

  override pool(): { size: number; places: string[] | null } {
    const back = this.#heap.filter((one) => this.#isPooled(one)).map(({ thrown }) => thrown);
    return {
      size: back.reduce((sum, { count }) => sum + count, 0),
      places: back.every(({ places }) => places) ? back.flatMap(({ places }) => places ?? []) : null,
    };
  }

  override restock(epoch: number): void {
    const { size } = this.pool();
    this.#heap = this.#heap.filter((one) => !this.#isPooled(one));
    // Only after a fault is it more than the deck, and each draw goes through all of it.
    this.stock = places(epoch, 0, Math.min(size, DECK));
    this.#next();
  }

  override shown(cards: readonly Shown[]): string {
    return super.shown(cards) || (this.halfLocked ? "cards were shown in the middle of a round of discards (MUS-5)" : "");
  }

  protected override take(seat: number, place: string): string {
    const fault = super.take(seat, place);
    if (!fault) this.#shown = true;
    return fault;
  }
}

export const mus: DealingGame = {
  options: {
    first_mano: ["random"],
    min_discard: [1],
    mus_corrido: [false, true],
    reshuffle: ["all", "previous", "all_but_own_last"],
    service: ["block", "one_by_one_if_all_four"],
  },
  least: 4,
  most: 4,
  types: ["cards.drawn", "cards.discarded", "cards.shown", "stock.reshuffled"],
  declares: false,
  deck: () => cards("oceb", "1 2 3 4 5 6 7 10 11 12"),
  begin: (setting) => new MusDealing(setting),
};
