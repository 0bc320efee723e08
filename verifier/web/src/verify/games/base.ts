/** What the dealing of one game is asked. Spec: games.md. */

import type { Place } from "../decks.ts";
import type { Json } from "../outcome.ts";

export type Ruleset = { readonly [option: string]: Json };

/** A game's deck and the pure part of its dealing; what happens after the deal is `hand.ts`'s and its helpers'. */
export interface DealingGame {
  /** The values of each option, the default first. Spec: GAME-3. */
  readonly options: Readonly<Record<string, readonly Json[]>>;
  readonly least: number;
  readonly most: number;
  /** Spec: SHUF-1. */
  deck(ruleset: Ruleset): string[];
  /** How many cards each seat receives. */
  each(ruleset: Ruleset): number;
}

export type { Place };
