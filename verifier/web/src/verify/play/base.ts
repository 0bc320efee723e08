/**
 * What the games share in following the play of a hand, with every card known. Spec: play.md.
 *
 * A `Play` hears what each event says, by the names of cards, never by their places. Each method
 * gives "" if the event is legal, else the fault in one plain sentence with the requirement in
 * parentheses at the end; after a fault nothing more is asked of it.
 */

import { encode } from "../json.ts";
import type { Json, Laid, Said } from "../outcome.ts";

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

/** The play of one hand. A game has the moves that it has; any other is illegal in it. */
export interface Play {
  /** What is told of the play; grows with each event. */
  readonly told: readonly Said[];

  /** `cards.shown`, in the order listed. */
  shown(cards: readonly SeatCard[]): string;
  /** One seat's discard, the cards as disclosed. */
  thrown?(seat: number, cards: readonly string[]): string;
  returned?(): string;
  looked?(seat: number): string;
  called?(seat: number, call: string, amount: number | null): string;
  /** `play.declared`, when it is due. */
  declared?(what: string, seats: readonly number[]): string;
  /** `cards.drawn`, when it is due, in the order of service. */
  drawn?(cards: readonly SeatCard[]): string;

  /** Seats on turn; none while something is due. Spec: PLAY-6. */
  turn(): readonly number[];
  /** The type of the event that has to come next, or "". Spec: PLAY-4. */
  due(): string;
  /** What `hand.closed` must say; asked only when it is due. Spec: PLAY-5. */
  result(): { readonly [field: string]: Json };

  /** The seats' cards, what lies on the table, what the game counts: for a page (`Scene`). */
  hands(): readonly (readonly string[])[];
  laid(): readonly Laid[];
  counts(): Readonly<Record<string, number | string | readonly number[]>>;
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
  /** Seats that do not take part in a hand with this match, one without fault. */
  sitsOut(match: Match): ReadonlySet<number>;
  /** Begins the play of a hand that has been dealt; `match` has no fault. */
  begin(ruleset: Ruleset, match: Match, deal: Deal): Play;
}

export const SHOWN = "cards.shown";
export const DRAWN = "cards.drawn";
export const CLOSED = "hand.closed";
export const DECLARED = "play.declared";

/** An item that is there: a seat of an event is one of the table (EVT-3), and the lists by seat or team are as long. */
export const at = <T>(list: readonly T[], index: number): T => list[index] as T;

export const suitOf = (card: string): string => card.slice(-1);
export const rankOf = (card: string): string => card.slice(0, -1);

/** The numbers 0 .. n-1. */
export const range = (n: number): number[] => [...Array(n).keys()];

export const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Counts up one item of a list of numbers. */
export function add(list: number[], index: number, by: number): void {
  list[index] = at(list, index) + by;
}

/** Seats once round the table, from one on. */
export const from = (seat: number, seats: number): number[] => range(seats).map((i) => (seat + i) % seats);

/** An integer within bounds. */
export const isNumber = (value: Json | undefined, least: number, most = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

/** A list of so many integers within bounds. */
export const isNumbers = (value: Json | undefined, n: number, least: number, most?: number): value is number[] =>
  Array.isArray(value) && value.length === n && value.every((one) => isNumber(one, least, most));

/** Says if an object has exactly these fields. `fields` ascend. */
export const hasFields = (value: { readonly [key: string]: Json }, ...fields: string[]): boolean =>
  Object.keys(value).sort().join() === fields.join();

/** Says if two values of JSON are the same; the order of keys means nothing. */
export const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && encode(a) === encode(b));
