/** What a player kept. Spec: NOTE-1. */

import { utf8 } from "./bytes.ts";
import { bytes, card, epoch, hand, list, position, record, seat, table } from "./events.ts";
import type { Kind } from "./events.ts";
import { LARGEST } from "./file.ts";
import { tryRead } from "./json.ts";
import { readKey } from "./note.ts";

export interface Noted {
  readonly card: string;
  readonly epoch: number;
  readonly position: number;
}

export interface Notes {
  readonly logKey: string;
  readonly table: string;
  readonly hand: number;
  readonly seat: number;
  /** Hex: x_0, x_1.. */
  readonly seeds: readonly string[];
  readonly receipts: readonly { readonly digest: string; readonly proof: string }[];
  readonly cards: readonly Noted[];
}

const isText: Kind = (value) => typeof value === "string";
const NOTES = record({
  format: (value) => value === "fairdeal-notes/1",
  log_key: (value) => typeof value === "string" && readKey(value) !== null,
  table,
  hand,
  seat,
  seeds: list(bytes(32)),
  receipts: list(record({ digest: bytes(32), proof: isText })),
  cards: list(record({ at: isText, card, epoch, position })),
});

/** The notes that some bytes are, or null. They need no canonical form, but each member stands in them once. */
export function readNotes(given: Uint8Array | string): Notes | null {
  const data = typeof given === "string" ? utf8(given) : given;
  const found = data.length <= LARGEST ? tryRead(data) : null;
  if (!found || typeof found === "string" || !found.plain || !NOTES(found.value, 10)) return null;
  const { log_key, ...notes } = found.value as unknown as Omit<Notes, "logKey"> & { readonly log_key: string };
  return { ...notes, logKey: log_key };
}
