/** The events of a hand, their members and types. Spec: ENC-1..8, EVT-1..3. */

import type { Json, Step } from "./outcome.ts";

/** A map by seat; its keys are decimal (ENC-4), so JavaScript keeps them ascending. */
export type BySeat<T> = { readonly [seat: string]: T };
export type Shown = { readonly card: string; readonly epoch: number; readonly position: number; readonly salt: string; readonly seat: number | null };
export type Given = { readonly from: number; readonly to: number; readonly epoch: number; readonly position: number; readonly card: string; readonly salt: string };
export type Locked = { readonly count: number; readonly lock: string };
type Object_ = { readonly [member: string]: Json };
type Sigs = { readonly sigs: BySeat<string> };

/** The members of each type beside the common ones. Bytes are lower-case hex of the right length. */
export type Members = {
  "table.opened": {
    readonly origin: string; readonly log_key: string; readonly game: string; readonly ruleset: Object_;
    readonly seats: number; readonly contribute: readonly number[]; readonly keys: BySeat<string>;
    readonly custody: "seats" | "operator"; readonly disclosure: "hand" | "table"; readonly referee: boolean;
    readonly timeouts: { readonly seal: number; readonly open: number; readonly hand: number; readonly table: number; readonly turn: number };
    readonly beacon: null; readonly next_commitment: string;
  };
  "hand.opened": { readonly terms: string; readonly commitment: string; readonly next_commitment: string; readonly first: number | null; readonly match: Object_ | null; readonly round: null };
  "trumps.declared": { readonly trumps: BySeat<string> } & Sigs;
  "seeds.sealed": { readonly seals: BySeat<string> } & Sigs;
  "seeds.opened": { readonly epoch: number; readonly head: string; readonly seeds: BySeat<string> } & Sigs;
  "hand.dealt": { readonly deck_root: string; readonly first: number; readonly positions: BySeat<readonly number[]>; readonly indicator: string | null; readonly shown: readonly Shown[]; readonly beacon: null };
  "cards.drawn": { readonly draws: readonly (readonly [seat: number, epoch: number, position: number])[] };
  "cards.discarded": { readonly discards: BySeat<Locked> } & Sigs;
  "cards.shown": { readonly shown: readonly Shown[] };
  "cards.given": { readonly given: readonly Given[] };
  "cards.returned": object;
  "cards.looked": { readonly seat: number };
  "play.called": { readonly seat: number; readonly call: string; readonly amount: number | null };
  "play.declared": { readonly what: string; readonly seats: readonly number[] };
  "stock.reshuffled": { readonly epoch: number; readonly count: number; readonly deck_root: string };
  "hand.closed": { readonly result: Object_ | null };
  "hand.aborted": { readonly reason: string; readonly missing: readonly number[] };
};
export type Type = keyof Members;
type Common = { readonly v: string; readonly table: string; readonly seq: number; readonly prev: string; readonly at: string; readonly hand: number };

/** An event of one type: `if (event.type === "hand.dealt") event.body.positions`. */
export type EventOf<T extends Type> = Omit<Step, "type" | "body"> & { readonly type: T; readonly body: Common & Members[T] };
export type HandEvent = { [T in Type]: EventOf<T> }[Type];
