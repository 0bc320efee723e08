/** The checks from `order` to `disclosure`, by replaying the hand. */

import type { Hand, Scene, Told, Trace } from "./outcome.ts";

/** What the checks after the deal, and the report, take from the replay. */
export interface Dealt {
  readonly hand: Hand;
  readonly story: readonly Told[];
  readonly scenes: ReadonlyMap<number, Scene>;
  readonly traces: readonly Trace[];
  /** The card at a place, if the seeds are good; key as of `at` in decks.ts. */
  readonly cards: ReadonlyMap<string, string>;
  /** The places that each seat received, dealt, drawn or given; keys as above. */
  readonly received: ReadonlyMap<number, ReadonlySet<string>>;
}
