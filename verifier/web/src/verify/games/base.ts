/**
 * What the games share in dealing: decks, and who may have which cards after each event. Spec:
 * games.md, HAND-9..13.
 *
 * A `Dealing` knows cards by their places only, so that it follows a hand with and without its
 * disclosure. Each method gives "" if the event is legal where it stands, else the fault. After a
 * fault it goes on with as much of the event as can have happened, so that one fault is not found
 * again in all that follows.
 */

import { at } from "../decks.ts";
import type { Given, Shown, Type } from "../events.ts";
import type { Json } from "../outcome.ts";

export type Ruleset = { readonly [option: string]: Json };

/** A discard: its cards, or null if they are not disclosed. */
export interface Throw {
  readonly seat: number;
  readonly count: number;
  readonly places: readonly string[] | null;
}
export type SeatPlace = readonly [seat: number, place: string];

/** What a dealing is told at the deal. */
export interface Setting {
  readonly ruleset: Ruleset;
  /** The number of the hand at its table. */
  readonly hand: number;
  readonly seats: number;
  readonly first: number;
  readonly referee: boolean;
  readonly trumps: ReadonlyMap<number, string>;
  /** Seats that take no part in the hand: Azi with a referee. */
  readonly out: ReadonlySet<number>;
  /** What `hand.dealt` shows. */
  readonly shown: readonly Shown[];
  /** The card at a place, if the seeds are there. */
  card(place: string): string | undefined;
}

/** A game's deck and dealing. */
export interface DealingGame {
  /** The values of each option, the default first. Spec: GAME-3. */
  readonly options: Readonly<Record<string, readonly Json[]>>;
  /** How many seats a table may have. */
  readonly least: number;
  readonly most: number;
  /** What may come after the deal, beside the play that a referee follows. */
  readonly types: readonly Type[];
  /** Seats declare a suit before they seal. Spec: HAND-3. */
  readonly declares: boolean;
  /** Spec: SHUF-1. */
  deck(ruleset: Ruleset): string[];
  begin(setting: Setting): Dealing;
}

/** Cards in canonical order. Spec: SHUF-1. */
export function cards(suits: string, ranks: string): string[] {
  return [...suits].flatMap((suit) => ranks.split(" ").map((rank) => rank + suit));
}

export const FRENCH = "6 7 8 9 10 J Q K A";

/** The suit of a card. */
export function suit(card: string): string {
  return card.slice(-1);
}

/** Places of one epoch, top first. */
export function places(epoch: number, from: number, to: number): string[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => at(epoch, from + i));
}

/** A seat's cards. */
export class Holding {
  /** Places that it received and that have not left it. */
  readonly had = new Set<string>();
  /** How many of these it discarded: which ones is not known. */
  hidden = 0;

  get size(): number {
    return this.had.size - this.hidden;
  }
}

export class Dealing {
  readonly setting: Setting;
  /** Each seat's positions in the order of the deal. Spec: GAME-1. */
  readonly dealt: readonly (readonly number[])[];
  readonly holdings: readonly Holding[];
  /** Top first. */
  stock: string[];
  /** Whom and where `hand.dealt` has to show a card; the place is null if it cannot be told. */
  turned: readonly (readonly [seat: number | null, place: string])[] = [];
  /** The type of the event that has to come next, or "". `stock.reshuffled`: its seeds come first. */
  due: "" | "cards.drawn" | "cards.given" | "stock.reshuffled" = "";
  /** What may be due at the deal cannot be told without the cards. */
  unknown = false;
  /** Some seats have made their discard of a round, and not all. Spec: HAND-15. */
  halfLocked = false;

  constructor(setting: Setting, each: number, deck: number) {
    const { seats, first } = setting;
    this.setting = setting;
    this.dealt = Array.from({ length: seats }, (_, seat) =>
      Array.from({ length: each }, (_, round) => seats * round + ((seat - first + seats) % seats)),
    );
    this.holdings = this.dealt.map((positions) => {
      const holding = new Holding();
      for (const position of positions) holding.had.add(at(0, position));
      return holding;
    });
    this.stock = places(0, seats * each, deck);
  }

  /** Events that stand before the deal: the seats held nothing then. */
  catchUp(early: readonly ((dealing: Dealing) => void)[]): void {
    const dealt = this.holdings.map(({ had }) => [...had]);
    for (const { had } of this.holdings) had.clear();
    for (const one of early) one(this);
    for (const [seat, places] of dealt.entries()) for (const place of places) this.of(seat).had.add(place);
  }

  of(seat: number): Holding {
    return this.holdings[seat] as Holding; // a seat of an event is below the table's number (EVT-3)
  }

  /** Why an event may not come now: another one is due. Spec: HAND-9. */
  protected early(type: Type): string {
    return this.due && this.due !== type ? `${type} stands where ${this.due} was due (HAND-9)` : "";
  }

  /** `cards.drawn`, in the order of service. Spec: GAME-4. */
  drawn(draws: readonly SeatPlace[]): string {
    const fault = this.early("cards.drawn") || this.drawFault(draws);
    const top = this.stock.slice(0, draws.length);
    const gone = new Set(draws.map(([, place]) => place));
    for (const [seat, place] of draws) this.of(seat).had.add(place);
    this.stock = this.stock.filter((place) => !gone.has(place));
    return fault || (draws.every(([, place], i) => place === top[i]) ? "" : "a card was drawn that did not lie on top of the stock (GAME-4)");
  }

  /** Whether these seats may draw so many cards now. */
  protected drawFault(_draws: readonly SeatPlace[]): string {
    return "nothing is drawn in this game";
  }

  /** `cards.discarded`: one discard for each seat named. Spec: HAND-10, HAND-11. */
  discarded(throws: readonly Throw[]): string {
    let fault = this.early("cards.discarded") || this.discardFault(throws);
    for (const one of throws) fault = this.throwOut(one) || fault;
    return fault;
  }

  protected discardFault(_throws: readonly Throw[]): string {
    return "nothing is discarded at this table";
  }

  /** Takes a discard out of the holding. */
  protected throwOut({ seat, count, places }: Throw): string {
    const holding = this.of(seat);
    let fault = count > holding.size ? `seat ${seat} threw more cards than it had (HAND-11)` : "";
    if (!places) holding.hidden += count;
    // A place listed twice is gone at the second time.
    else for (const place of places) if (!holding.had.delete(place)) fault ||= `seat ${seat} threw a card that it did not hold (HAND-11)`;
    return fault;
  }

  /** `cards.shown`, in the order listed. Spec: HAND-11. */
  shown(cards: readonly Shown[]): string {
    let fault = this.early("cards.shown") || this.showFault(cards);
    for (const { seat, epoch, position } of cards) {
      if (seat === null) fault ||= "a card was shown by no seat";
      else fault = this.take(seat, at(epoch, position)) || fault;
    }
    return fault;
  }

  /** Cards that were shown before the deal are gone, and nothing else follows from it. */
  shownBefore(cards: readonly Shown[]): void {
    for (const { seat, epoch, position } of cards) if (seat !== null) this.of(seat).had.delete(at(epoch, position));
  }

  protected showFault(_cards: readonly Shown[]): string {
    return "";
  }

  /** A card leaves its holding, or has been shown and cannot be shown again. */
  protected take(seat: number, place: string): string {
    const holding = this.of(seat);
    return holding.size > 0 && holding.had.delete(place) ? "" : `seat ${seat} showed a card that it did not hold (HAND-11)`;
  }

  given(_given: readonly Given[]): string {
    return "nothing is given in this game";
  }

  returned(): string {
    return "nothing goes back in this game";
  }

  looked(_seat: number): string {
    return "nothing is looked at at this table";
  }

  /** `play.called`: Svoi Kozyri moves cards by it. Whether it is legal is the referee's. */
  called(_seat: number, _call: string, _amount: number | null): void {}

  /** What a reshuffle that is due brings back: how many cards, and which, as far as that can be told. Spec: MUS-4. */
  pool(): { readonly size: number; readonly places: readonly string[] | null } {
    return { size: 0, places: null };
  }

  /** The pool has become the stock of a new epoch. Spec: HAND-13. */
  restock(_epoch: number): void {}
}
