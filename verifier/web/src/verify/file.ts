/** The hand's file. Spec: FILE-1..5. */

import type { Opening, Place } from "./decks.ts";
import type { EventOf, HandEvent } from "./events.ts";
import type { Receipt } from "./note.ts";

/** What the service opened after the hand. */
export interface Disclosed {
  /** Hex. */
  readonly serverSeed: string;
  /** The discards of each seat, the k-th at k. */
  readonly discards: ReadonlyMap<number, readonly (readonly Place[])[]>;
}

/** A file whose form is right: what is in it may still be a lie. */
export interface HandFile {
  /** The first is `table.opened`, the second `hand.opened`. */
  readonly steps: readonly HandEvent[];
  readonly table: EventOf<"table.opened">;
  readonly opened: EventOf<"hand.opened">;
  readonly last: HandEvent;
  /** Whether the last event ends the hand. */
  readonly final: boolean;
  readonly disclosed: Disclosed | null;
  readonly openings: readonly Opening[];
  readonly proof: Receipt;
}
