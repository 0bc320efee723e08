/** The hand's file. Spec: FILE-1..5, VER-1. */

import { utf8 } from "./bytes.ts";
import type { Opening, Place } from "./decks.ts";
import { DISCLOSED, LONGEST, bytes, card, epoch, list, position, readEvent, record, salt } from "./events.ts";
import type { EventOf, HandEvent } from "./events.ts";
import { said } from "./findings.ts";
import { GAMES } from "./games/index.ts";
import { isList, isObject, tryRead } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { readReceipt } from "./note.ts";
import type { Receipt } from "./note.ts";
import type { Said, Step } from "./outcome.ts";

export const LARGEST = 5 * 1024 * 1024;

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

/** Why a file cannot be read (exit 4), or what is wrong with its form (FAIL of `format`). */
export type Refusal = { readonly reason: Said } | { readonly fault: string };

const MEMBERS = ["disclosed", "events", "format", "openings", "proof"];
const DISCLOSED_KIND = record(DISCLOSED);
const OPENINGS = list(record({ card, epoch, path: list(bytes(32)), position, salt }));
const LONGEST_PATH = 64;

/** The file that some bytes are, or why they are none. Yields between its events. */
export function* fileSteps(data: Uint8Array): Generator<void, HandFile | Refusal> {
  if (data.length > LARGEST) return { reason: said("unreadable.size") };
  const found = tryRead(data);
  if (typeof found === "string") return { reason: said(`unreadable.${found}`) };
  yield;
  const file = found.value;
  if (!isObject(file) || file["format"] !== "fairdeal-hand/1") return { reason: said("unreadable.format", { format: "fairdeal-hand/1" }) };
  const events = file["events"];
  const raws = isList(events) ? events.map((event) => (typeof event === "string" ? utf8(event) : null)) : [];
  for (const raw of raws) {
    const reason = raw && unknown(raw);
    if (reason) return { reason };
    yield;
  }
  const { canonical } = found;
  yield;
  if (!canonical) return { fault: "the file is not written in its one form (FILE-1)" };
  const fault = faultOf(file);
  if (fault) return { fault };
  return yield* assemble(file, raws);
}

/** The file that some bytes are, or null; `verify` says what is wrong with them. */
export function readFile(data: Uint8Array): HandFile | null {
  const steps = fileSteps(data);
  for (;;) {
    const step = steps.next();
    if (step.done) return "steps" in step.value ? step.value : null;
  }
}

/** A later version, or another game: no fault of the file. */
function unknown(raw: Uint8Array): Said | null {
  const found = raw.length <= LONGEST ? tryRead(raw) : "json";
  const event = typeof found === "string" ? null : found.value;
  if (!isObject(event)) return null;
  const { v, type, game } = event;
  if (typeof v === "string" && v !== "fairdeal/1") return said("unreadable.version");
  const known = type !== "table.opened" || typeof game !== "string" || GAMES.has(game);
  return known ? null : said("unreadable.game");
}

/** The service has lost its secret of this hand: it can open nothing. */
export function isLost({ last }: HandFile): boolean {
  return last.type === "hand.aborted" && last.body.reason === "lost";
}

function faultOf(file: JsonObject): string {
  const members = Object.keys(file);
  if (!MEMBERS.every((member) => member in file || member === "disclosed") || !members.every((member) => MEMBERS.includes(member))) {
    return "a member of the file is missing, or one is too many (FILE-1)";
  }
  const { openings } = file;
  if (openings === undefined || !OPENINGS(openings, 10)) return "openings is not a list of openings (FILE-4)";
  if ((openings as unknown as Opening[]).some((opening) => opening.path.length > LONGEST_PATH)) return "an opening's path is longer than any tree is high";
  return "";
}

/** `file` has the members of a file, each of its type but for the events and the proof. */
function* assemble(file: JsonObject, raws: readonly (Uint8Array | null)[]): Generator<void, HandFile | Refusal> {
  const steps: Step[] = [];
  for (const raw of raws) {
    if (!raw) return { fault: "an event is no string (FILE-1)" };
    const event = readEvent(raw, Number(steps[0]?.body["seats"] ?? 10));
    if (typeof event === "string") return { fault: event };
    steps.push(event);
    const { type } = event;
    const place = steps.length === 1 ? "table.opened" : steps.length === 2 ? "hand.opened" : "";
    if (place ? type !== place : OUTSIDE.includes(type)) return { fault: `${type} stands where it cannot (FILE-2)` };
    const before = steps.at(-2)?.type;
    if (before && ENDS.includes(before)) return { fault: "an event follows the end of the hand (FILE-2)" };
    yield;
  }
  const last = steps.at(-1);
  if (!last || steps.length < 2) return { fault: "the events do not begin a hand (FILE-2)" };
  const seats = Number(steps[0]?.body["seats"]);
  if (file["disclosed"] !== undefined && !DISCLOSED_KIND(file["disclosed"], seats)) return { fault: "disclosed is not a server seed and discards (FILE-3)" };
  const proof = typeof file["proof"] === "string" ? readReceipt(file["proof"]) : null;
  if (!proof) return { fault: "proof is no receipt (LOG-5)" };
  const { origin, lines } = proof.checkpoint;
  if (lines.length !== 1 || lines[0]?.name !== origin || lines[0].signature.length !== 64) return { fault: "proof has another signature line than the log's one (FILE-5)" };
  const disclosed = file["disclosed"] as unknown as { server_seed: string; discards: Record<string, Place[][]> } | undefined;
  const typed = steps as unknown as HandEvent[]; // readEvent has seen to the types
  return {
    steps: typed,
    table: typed[0] as EventOf<"table.opened">,
    opened: typed[1] as EventOf<"hand.opened">,
    last: last as unknown as HandEvent,
    final: ENDS.includes(last.type),
    disclosed: disclosed
      ? { serverSeed: disclosed.server_seed, discards: new Map(Object.entries(disclosed.discards).map(([seat, discards]) => [Number(seat), discards])) }
      : null,
    openings: file["openings"] as unknown as Opening[],
    proof,
  };
}

const ENDS = ["hand.closed", "hand.aborted"];
/** Events that have another place than within a hand. */
const OUTSIDE = ["table.opened", "hand.opened", "hand.disclosed", "seat.reissued", "table.closed"];
