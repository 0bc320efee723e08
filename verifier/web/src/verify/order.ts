/** What a hand waits for: declarations, seals, seeds, the deal, new stocks. Spec: HAND-3..6, HAND-12, HAND-14, SVO-1. */

import { hex } from "./bytes.ts";
import type { EventOf, HandEvent, Type } from "./events.ts";
import type { HandFile } from "./file.ts";
import type { DealingGame } from "./games/base.ts";

export type Phase = "declare" | "seal" | "open" | "deal" | "play" | "reopen" | "restock" | "exhausted";

const LAST_EPOCH = 32;

/** What stands in the way of an event of the play, by phase. */
const BLOCKED: Readonly<Record<Phase, string>> = {
  declare: "before the deal (HAND-6)",
  seal: "before the deal (HAND-6)",
  open: "where only seeds may be opened (HAND-5)",
  deal: "before the deal (HAND-6)",
  play: "",
  reopen: "where only seeds may be opened (HAND-12)",
  restock: "where a new stock was due (HAND-12)",
  exhausted: "where nothing more may come (HAND-14)",
};

export function seatsOf(bySeat: object): number[] {
  return Object.keys(bySeat).map(Number);
}

export class Order {
  /** The first fault, or "". */
  fault = "";
  phase: Phase;
  /** The newest epoch whose seeds have been due. */
  epoch = 0;
  /** The event under which the due seeds are opened. */
  head: HandEvent;
  readonly trumps = new Map<number, string>();
  readonly #contribute: readonly number[];
  readonly #table: EventOf<"table.opened">["body"];
  readonly #first: number;
  readonly #sealed = new Set<number>();
  readonly #opened = new Map<number, Set<number>>();
  /** Seats that have opened the seed that is due, since it is. */
  readonly #answered = new Set<number>();
  /** Commitments, and seals and seeds seen. */
  readonly #values: Set<string>;

  constructor(file: HandFile, game: DealingGame) {
    this.#table = file.table.body;
    this.#contribute = file.table.body.contribute;
    this.#first = file.opened.body.first ?? 0;
    this.head = file.opened;
    const { commitment, next_commitment } = file.opened.body;
    this.#values = new Set([this.#table.next_commitment, commitment, next_commitment]);
    this.phase = game.declares ? "declare" : "seal";
  }

  blame(fault: string): void {
    this.fault ||= fault;
  }

  /** Why an event of the play may not stand here, or "". */
  blocked(type: Type): string {
    const why = BLOCKED[this.phase];
    return why && `${type} stands ${why}`;
  }

  /** Contributing seats whose due seal or seed is missing. Spec: HAND-16. */
  get missing(): number[] {
    const there = this.phase === "declare" || this.phase === "seal" ? this.#sealed : this.#answered;
    return this.#contribute.filter((seat) => !there.has(seat));
  }

  /** Whether each contributing seat has opened its seed by now. */
  isOpen(epoch: number): boolean {
    return this.#contribute.every((seat) => this.#openedIn(epoch).has(seat));
  }

  #openedIn(epoch: number): Set<number> {
    let seats = this.#opened.get(epoch);
    if (!seats) this.#opened.set(epoch, (seats = new Set()));
    return seats;
  }

  declared({ body }: EventOf<"trumps.declared">): void {
    const seats = seatsOf(body.trumps);
    if (this.phase !== "declare") this.blame("a seat declared when no declaration was due (HAND-3)");
    else if (seats.length === 1 && seats[0] !== (this.trumps.size ? 1 - this.#first : this.#first)) this.blame("the seats did not declare in their order (HAND-3)");
    for (const seat of seats) {
      const suit = body.trumps[seat] as string; // `seat` is one of its keys
      if (this.trumps.has(seat)) this.blame(`seat ${seat} declared twice (HAND-3)`);
      if (!/^[CDHS]$/.test(suit)) this.blame(`seat ${seat} declared what is no suit (SVO-1)`);
      if (this.#table.ruleset["distinct_trumps"] === true && [...this.trumps].some(([other, same]) => other !== seat && same === suit)) {
        this.blame("both seats declared one suit (SVO-1)");
      }
      this.trumps.set(seat, suit);
    }
    if (this.phase === "declare" && this.trumps.size === this.#table.seats) this.phase = "seal";
  }

  get #isSealed(): boolean {
    return this.#contribute.every((seat) => this.#sealed.has(seat));
  }

  sealed(event: EventOf<"seeds.sealed">): void {
    if (this.phase !== "seal") this.blame("a seat sealed when no seal was due (HAND-4)");
    const wasSealed = this.#isSealed;
    this.#enter(event.body.seals, this.#sealed, "sealed");
    // Seals that come too late are followed by their seeds all the same.
    if (!wasSealed && this.#isSealed) {
      this.phase = "open";
      this.head = event;
      this.#answered.clear();
    }
  }

  opened({ body }: EventOf<"seeds.opened">): void {
    const { epoch, head, seeds } = body;
    const due = (this.phase === "open" || this.phase === "reopen") && epoch === this.epoch;
    if (!due) this.blame("a seed was opened when it was not due (HAND-5, HAND-12)");
    else if (head !== hex(this.head.digest)) this.blame("a seed was opened under another head than the one that asks for it (HAND-5, HAND-12)");
    this.#enter(seeds, this.#openedIn(epoch), "opened");
    if (due) for (const seat of seatsOf(seeds)) this.#answered.add(seat);
    if (due && this.missing.length === 0) this.phase = epoch === 0 ? "deal" : "restock";
  }

  #enter(values: { readonly [seat: string]: string }, seen: Set<number>, verb: string): void {
    for (const [key, value] of Object.entries(values)) {
      const seat = Number(key);
      if (!this.#contribute.includes(seat)) this.blame(`seat ${seat} ${verb} though it gives no seed (HAND-4)`);
      if (seen.has(seat)) this.blame(`seat ${seat} ${verb} twice (HAND-4, HAND-5)`);
      if (this.#values.has(value)) this.blame("a seal or a seed is that of another, or a commitment (SEAL-2)");
      seen.add(seat);
      this.#values.add(value);
    }
  }

  /** A second deal changes nothing. */
  dealt(again: boolean): void {
    if (this.phase !== "deal") this.blame("the cards were dealt when the deal was not due (HAND-6)");
    if (!again) this.phase = "play";
  }

  /** A reshuffle is due from this event on. Spec: HAND-12, HAND-14. */
  reshuffle(event: HandEvent): void {
    this.head = event;
    if (this.epoch === LAST_EPOCH) {
      this.phase = "exhausted";
      return;
    }
    this.epoch += 1;
    this.#answered.clear();
    // A seed that was opened before it was due does not answer.
    this.phase = "reopen";
  }

  restocked(): void {
    this.phase = "play";
  }
}
