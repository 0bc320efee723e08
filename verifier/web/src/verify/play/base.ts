/**
 * What the games share in following the play of a hand, with every card known. Spec: play.md.
 *
 * A `Play` hears what each event says, by the names of cards, never by their places. Each method
 * gives "" if the event is legal, else the fault in one plain sentence with the requirement in
 * parentheses at the end; after a fault nothing more is asked of it.
 */

import type { Json, Said } from "../outcome.ts";

export type Ruleset = { readonly [option: string]: Json };
export type Match = { readonly [field: string]: Json };
export type SeatCard = readonly [seat: number, card: string];

/** What a game needs to know of the deal. */
export interface Deal {
  /** The number of the hand at its table. */
  readonly hand: number;
  readonly seats: number;
  /** The seat that received the first card. */
  readonly first: number;
  /** The seats' cards, after an exchange of sixes. */
  readonly hands: readonly (readonly string[])[];
  /** How many cards can be drawn. */
  readonly stock: number;
  /** The card that lies open: Kozel's indicator, Azi's turned card. */
  readonly turned: string | null;
  /** The seats' declarations in Svoi Kozyri. */
  readonly trumps: ReadonlyMap<number, string>;
}

/** The play of one hand. */
export interface Play {
  /** What is told of the play since the last call; the caller joins it with its event. */
  takeStory(): { said: Said; indented: boolean }[];

  /** `cards.shown`, in the order listed. */
  shown(cards: readonly SeatCard[]): string;
  /** One seat's discard, the cards as disclosed. */
  thrown(seat: number, cards: readonly string[]): string;
  returned(): string;
  looked(seat: number): string;
  called(seat: number, call: string, amount: number | null): string;
  declared(what: string, seats: readonly number[]): string;
  /** `cards.drawn`, in the order of service. */
  drawn(cards: readonly SeatCard[]): string;

  /** Seats on turn; none while something is due. Spec: PLAY-6. */
  readonly turn: ReadonlySet<number>;
  /** The type of the event that has to come next, or "". Spec: PLAY-4. */
  readonly due: string;
  /** What `hand.closed` must say; asked only when it is due. Spec: PLAY-5. */
  result(): { readonly [field: string]: Json };
}

/** Values of an option: a list, or an integer within bounds. */
export type Values = readonly (string | number | boolean)[] | { readonly least: number; readonly most: number };

/** The rules of play of one game. */
export interface PlayRules {
  /** The options of play, beside those of the deal. Spec: PLAY-1. */
  readonly options: Readonly<Record<string, Values>>;
  /** One event may hold several seats' discards (PLAY-3). */
  readonly throwsTogether: boolean;
  /** The match before the first hand. Spec: PLAY-2. */
  fresh(ruleset: Ruleset, seats: number): Match;
  /** Why no match can be like this before a hand, or "". `match` is any JSON object at all. */
  matchFault(ruleset: Ruleset, seats: number, match: Match): string;
  /** Seats that do not take part in a hand with this match. */
  sitsOut(match: Match): ReadonlySet<number>;
  /** Begins the play of a hand that has been dealt; `match` has no fault. */
  begin(ruleset: Ruleset, match: Match, deal: Deal): Play;
}
