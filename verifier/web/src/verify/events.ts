/** The events of a hand, their members and types. Spec: ENC-1..8, EVT-1..3. */

import { sha256 } from "./hashing.ts";
import { isList, isObject, tryRead } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { readKey } from "./note.ts";
import type { Json, Step } from "./outcome.ts";

/** A map by seat; its keys are decimal (ENC-4), so JavaScript keeps them ascending. */
export type BySeat<T> = { readonly [seat: string]: T };
export type Shown = { readonly card: string; readonly epoch: number; readonly position: number; readonly salt: string; readonly seat: number | null };
export type Given = { readonly from: number; readonly to: number; readonly epoch: number; readonly position: number; readonly card: string; readonly salt: string };
export type Locked = { readonly count: number; readonly lock: string };
type Sigs = { readonly sigs: BySeat<string> };

/** The members of each type beside the common ones. Bytes are lower-case hex of the right length. */
export type Members = {
  "table.opened": {
    readonly origin: string; readonly log_key: string; readonly game: string; readonly ruleset: JsonObject;
    readonly seats: number; readonly contribute: readonly number[]; readonly keys: BySeat<string>;
    readonly custody: "seats" | "operator"; readonly disclosure: "hand" | "table"; readonly referee: boolean;
    readonly timeouts: { readonly seal: number; readonly open: number; readonly hand: number; readonly table: number; readonly turn: number };
    readonly beacon: null; readonly next_commitment: string;
  };
  "hand.opened": { readonly terms: string; readonly commitment: string; readonly next_commitment: string; readonly first: number | null; readonly match: JsonObject | null; readonly round: null };
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
  "hand.closed": { readonly result: JsonObject | null };
  "hand.aborted": { readonly reason: string; readonly missing: readonly number[] };
};
export type Type = keyof Members;
type Common = { readonly v: string; readonly table: string; readonly seq: number; readonly prev: string; readonly at: string; readonly hand: number };

/** An event of one type: `if (event.type === "hand.dealt") event.body.positions`. */
export type EventOf<T extends Type> = Omit<Step, "type" | "body"> & { readonly type: T; readonly body: Common & Members[T] };
export type HandEvent = { [T in Type]: EventOf<T> }[Type];

/** Whether a value is of a type; `seats` is the table's number of seats. */
export type Kind = (value: Json, seats: number) => boolean;
type Fields = Readonly<Record<string, Kind>>;

function text(pattern: RegExp): Kind {
  return (value) => typeof value === "string" && pattern.test(value);
}

function whole(least: number, most: number): Kind {
  return (value) => typeof value === "number" && value >= least && value <= most;
}

function oneOf(...values: readonly Json[]): Kind {
  return (value) => values.includes(value);
}

function orNull(kind: Kind): Kind {
  return (value, seats) => value === null || kind(value, seats);
}

export function list(kind: Kind, least = 0): Kind {
  return (value, seats) => isList(value) && value.length >= least && value.every((one) => kind(one, seats));
}

/** A map by seat. Spec: ENC-4. */
export function bySeat(kind: Kind, least = 1): Kind {
  return (value, seats) => {
    if (!isObject(value)) return false;
    const keys = Object.keys(value);
    return keys.length >= least && keys.every((key) => /^\d$/.test(key) && Number(key) < seats && kind(value[key] as Json, seats));
  };
}

/** An object with exactly these members. */
export function record(fields: Fields): Kind {
  return (value, seats) => isObject(value) && strange(value, fields, seats) === null;
}

/** The first member that is missing, too many or of another type. */
function strange(value: JsonObject, fields: Fields, seats: number): string | null {
  for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key)) return key;
  for (const [key, kind] of Object.entries(fields)) {
    const member = value[key];
    if (member === undefined || !kind(member, seats)) return key;
  }
  return null;
}

export function bytes(length: number): Kind {
  return text(new RegExp(`^[0-9a-f]{${2 * length}}$`));
}

export const seat: Kind = (value, seats) => whole(0, seats - 1)(value, seats);
const seats: Kind = (value, count) => list(seat)(value, count) && (value as number[]).every((one, at, all) => at === 0 || one > (all[at - 1] ?? one));
const truth = oneOf(true, false);
const nothing = oneOf(null);
const anything = text(/^/);
const hash = bytes(32);
const seconds = whole(1, 31_536_000);
const called = text(/^[a-z_]{1,16}$/);
const object: Kind = isObject;
export const epoch = whole(0, 32);
export const position = whole(0, 255);
export const card = text(/^(?:(?:[6-9]|10|[JQKA])[CDHS]|(?:[1-7]|1[0-2])[oceb])$/);
export const salt = bytes(16);
export const table = text(/^tbl_[0-9a-hjkmnp-tv-z]{26}$/);
export const hand = whole(1, 0xffffffff);
const shown = list(record({ card, epoch, position, salt, seat: orNull(seat) }));
const sigs = bySeat(bytes(64), 0);
/** Three numbers: seat, epoch, position. */
const draw: Kind = (value, count) => isList(value) && value.length === 3 && [seat, epoch, position].every((kind, at) => kind(value[at] as Json, count));

/** A real instant, from the year 2000 on. Spec: ENC-6. */
export const instant: Kind = (value) => {
  if (typeof value !== "string" || !/^[2-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
};

const COMMON: Fields = {
  v: oneOf("fairdeal/1"),
  type: anything,
  table,
  seq: whole(0, Number.MAX_SAFE_INTEGER),
  prev: text(/^(?:[0-9a-f]{64})?$/),
  at: instant,
};
const IN_HAND: Fields = { ...COMMON, hand };

const FIELDS: Readonly<Record<Type, Fields>> = {
  "table.opened": {
    ...COMMON,
    origin: anything,
    log_key: (value) => typeof value === "string" && readKey(value) !== null,
    game: anything,
    ruleset: object,
    seats: whole(1, 10),
    contribute: seats,
    keys: bySeat(hash, 0),
    custody: oneOf("seats", "operator"),
    timeouts: record({ seal: seconds, open: seconds, hand: seconds, table: seconds, turn: seconds }),
    disclosure: oneOf("hand", "table"),
    referee: truth,
    beacon: nothing,
    next_commitment: hash,
  },
  "hand.opened": { ...IN_HAND, terms: hash, commitment: hash, next_commitment: hash, first: orNull(seat), match: orNull(object), round: nothing },
  "trumps.declared": { ...IN_HAND, trumps: bySeat(text(/^[CDHSoceb]$/)), sigs },
  "seeds.sealed": { ...IN_HAND, seals: bySeat(hash), sigs },
  "seeds.opened": { ...IN_HAND, epoch, head: hash, seeds: bySeat(hash), sigs },
  "hand.dealt": { ...IN_HAND, deck_root: hash, first: seat, positions: bySeat(list(position)), indicator: orNull(card), shown, beacon: nothing },
  "cards.drawn": { ...IN_HAND, draws: list(draw, 1) },
  "cards.discarded": { ...IN_HAND, discards: bySeat(record({ count: whole(1, 255), lock: hash })), sigs },
  "cards.shown": { ...IN_HAND, shown: (value, count) => shown(value, count) && (value as readonly Json[]).length > 0 },
  "cards.given": { ...IN_HAND, given: list(record({ from: seat, to: seat, epoch, position, card, salt }), 1) },
  "cards.returned": IN_HAND,
  "cards.looked": { ...IN_HAND, seat },
  "play.called": { ...IN_HAND, seat, call: called, amount: orNull(whole(0, Number.MAX_SAFE_INTEGER)) },
  "play.declared": { ...IN_HAND, what: called, seats },
  "stock.reshuffled": { ...IN_HAND, epoch, count: whole(1, 255), deck_root: hash },
  "hand.closed": { ...IN_HAND, result: orNull(object) },
  "hand.aborted": {
    ...IN_HAND,
    reason: oneOf("seal_timeout", "open_timeout", "turn_timeout", "idle", "operator", "epochs", "lost"),
    missing: seats,
  },
};
/** Epoch and position. */
const place: Kind = (value, count) => isList(value) && value.length === 2 && [epoch, position].every((kind, at) => kind(value[at] as Json, count));
export const DISCLOSED: Fields = { server_seed: hash, discards: bySeat(list(list(place)), 0) };

/** Events of a table that stand in no hand's file. */
const OTHERS: Readonly<Record<string, Fields>> = {
  "hand.disclosed": { ...IN_HAND, ...DISCLOSED },
  "seat.reissued": { ...COMMON, seat },
  "table.closed": { ...COMMON, unused_seed: hash },
};
const KNOWN: Readonly<Record<string, Fields>> = { ...FIELDS, ...OTHERS };

export const LONGEST = 65_535;

/** The event that some bytes are, or what is wrong with them; `seats` is what the table's terms say. */
export function readEvent(raw: Uint8Array, seats: number): Step | string {
  if (raw.length > LONGEST) return "an event is longer than 65,535 bytes (ENC-8)";
  const found = tryRead(raw);
  if (typeof found === "string") return "an event is no JSON, or nested deeper than 16 (ENC-1, ENC-8)";
  const { value, canonical, ascii } = found;
  if (!canonical || !ascii) return "an event is not written in its one form (ENC-2, ENC-7)";
  if (!isObject(value)) return "an event is no object (ENC-1)";
  const type = value["type"];
  const fields = typeof type === "string" && Object.hasOwn(KNOWN, type) ? KNOWN[type] : undefined;
  if (!fields) return "an event is of no type that there is (EVT-1)";
  const own = type === "table.opened" ? Number(value["seats"]) : seats;
  const wrong = strange(value, fields, own);
  if (wrong !== null) return `${wrong.slice(0, 40)} of ${type} is missing, too many, or not of its type (EVT-1, EVT-3)`;
  return { type: type as string, seq: value["seq"] as number, body: value, raw, digest: sha256(raw) };
}
