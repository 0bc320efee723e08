/** What a player kept. Spec: NOTE-1. */

import { utf8 } from "./bytes.ts";
import { bytes, card, epoch, list, position } from "./events.ts";
import { LARGEST } from "./file.ts";
import { isObject, tryRead } from "./json.ts";
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

/** The notes that some bytes are, or null. They need no canonical form. */
export function readNotes(given: Uint8Array | string): Notes | null {
  const data = typeof given === "string" ? utf8(given) : given;
  const notes = data.length <= LARGEST ? tryRead(data) : null;
  if (!notes || typeof notes === "string" || !isObject(notes.value)) return null;
  const { format, log_key, table, hand, seat, seeds, receipts, cards } = notes.value;
  if (format !== "fairdeal-notes/1" || typeof log_key !== "string" || !readKey(log_key)) return null;
  if (typeof table !== "string" || typeof hand !== "number" || typeof seat !== "number") return null;
  if (seeds === undefined || !list(bytes(32))(seeds, 10)) return null;
  const isReceipt = list((one) => isObject(one) && bytes(32)(one["digest"] ?? null, 10) && typeof one["proof"] === "string");
  const isNoted = list((one) => isObject(one) && card(one["card"] ?? null, 10) && epoch(one["epoch"] ?? null, 10) && position(one["position"] ?? null, 10));
  if (receipts === undefined || !isReceipt(receipts, 10) || cards === undefined || !isNoted(cards, 10)) return null;
  return {
    logKey: log_key,
    table,
    hand,
    seat,
    seeds: seeds as unknown as string[],
    receipts: receipts as unknown as Notes["receipts"],
    cards: cards as unknown as Noted[],
  };
}

