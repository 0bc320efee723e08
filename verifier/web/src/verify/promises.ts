/** What the log and the player hold against the file. Spec: LOG-3, LOG-5, WIT-2, WIT-10, NOTE-1. */

import { equal, hex } from "./bytes.ts";
import { openedSeeds, sealedHead } from "./ceremony.ts";
import type { Dealt } from "./dealing.ts";
import { at } from "./decks.ts";
import type { Given, Shown } from "./events.ts";
import type { HandFile } from "./file.ts";
import type { Findings } from "./findings.ts";
import { said } from "./findings.ts";
import { leafHash } from "./merkle.ts";
import { WITNESS_KEY, cosigned, includes, readKey, readReceipt, signedBy } from "./note.ts";
import type { Key, Receipt } from "./note.ts";
import type { Noted } from "./notes.ts";
import type { Said } from "./outcome.ts";
import type { LogKeys } from "./rotation.ts";

/** More receipts than any player keeps of a hand (VER-5). */
const RECEIPTS = 256;

/** A receipt as it was given; of notes, with the digest of its event. */
export interface Kept {
  readonly proof: Uint8Array | string;
  readonly digest?: string;
}

export function* checkLog(file: HandFile, trusted: Key | string | null, keys: LogKeys, findings: Findings): Generator<void> {
  const { proof, last } = file;
  const { checkpoint, index } = proof;
  const fault = includes(proof, leafHash(last.raw)) ? "" : "the proof does not lead from the last event to the root (LOG-5)";
  findings.judge("log.inclusion", fault, undefined, `entry ${index} of ${checkpoint.size}, root ${hex(checkpoint.root)}`);
  yield;
  const own = ownKey(file);
  const values = `key ${hex(own.key)} of ${own.name}`;
  const rotated = trusted !== null && typeof trusted !== "string" && trusted.text !== own.text;
  if (typeof trusted === "string" || !keys.has(own)) {
    findings.fail("log.signature", "the table's log key is not the one that is trusted", values);
  } else if (!signedBy(own, checkpoint)) {
    findings.fail("log.signature", "the checkpoint is not signed by the log's key (LOG-3)", values);
  } else if (trusted === null) {
    findings.skip("log.signature", "note.own_key", values);
  } else if (keys.at(checkpoint.size).text !== own.text) {
    findings.fail("log.signature", "the table's log key is not in force at the size of the checkpoint (LOG-27)", values);
  } else {
    findings.pass("log.signature", rotated ? said("note.rotated", { key: trusted.text }) : undefined, values);
  }
}

/** The key that the file names. */
export function ownKey(file: HandFile): Key {
  return readKey(file.table.body.log_key) as Key; // EVT-1: a vkey, or there were no file
}

interface Judged {
  readonly receipt: Receipt | null;
  /** The digest of the event that it is of; "" if none of this file. */
  readonly digest: string;
  readonly fault: string;
  /** It comes from notes, and is of no event of this file. */
  readonly stray?: boolean;
}

/** What to say of notes and a file that are of two hands: the places of a sentence. */
export type Mixed = NonNullable<Said["values"]>;

function* judge(kept: Kept, keys: LogKeys, leaves: ReadonlyMap<string, Uint8Array>): Generator<void, Judged> {
  const receipt = readReceipt(kept.proof);
  if (!receipt) return { receipt, digest: "", fault: "a receipt is none (LOG-5)" };
  if (!signedBy(keys.at(receipt.checkpoint.size), receipt.checkpoint)) return { receipt, digest: "", fault: "a receipt is not signed by the log's key" };
  let digest = "";
  for (const [one, leaf] of leaves) {
    if (includes(receipt, leaf)) {
      digest = one;
      break;
    }
    yield;
  }
  if (!digest || (kept.digest !== undefined && kept.digest !== digest)) {
    return { receipt, digest, fault: "a receipt is of no event of this file: what you were shown is not what this file tells", stray: kept.digest !== undefined };
  }
  return { receipt, digest, fault: "" };
}

/** The checks `log.witness` and `receipt`. */
export function* checkReceipts(file: HandFile, trusted: Key | string | null, keys: LogKeys, receipts: readonly Kept[], mixed: Mixed | null, witnesses: readonly string[], findings: Findings): Generator<void> {
  const leaves = new Map<string, Uint8Array>();
  if (receipts.length > 0) {
    for (const { digest, raw } of file.steps) {
      leaves.set(hex(digest), leafHash(raw));
      yield;
    }
  }
  const judged: Judged[] = [];
  for (const kept of receipts.slice(0, RECEIPTS)) {
    judged.push(typeof trusted === "string" ? { receipt: null, digest: "", fault: "the key to trust is no vkey (LOG-3)" } : yield* judge(kept, keys, leaves));
    yield;
  }
  yield* checkWitnesses(judged, witnesses, findings);

  const { proof } = file;
  const of = [proof, ...judged.flatMap((one) => one.receipt ?? [])];
  const split = of.some(({ checkpoint: a }) => of.some(({ checkpoint: b }) => a.size === b.size && !equal(a.root, b.root)));
  // Notes of another hand are no evidence; whatever may be is told before that.
  const stray = mixed ? judged.findIndex((one) => one.stray) : -1;
  const fault = judged.find((one) => one.fault && !(mixed && one.stray))?.fault ?? (split ? "two checkpoints of one size have two roots" : receipts.length > RECEIPTS ? "more receipts than a hand has" : "");
  const head = sealedHead(file);
  const note = head && Object.keys(file.table.body.keys).length > 0 ? "note.no_receipt_keys" : "note.no_receipt";
  if (fault) findings.fail("receipt", fault);
  else if (mixed && stray >= 0) findings.fail("receipt", said("note.other_hand_receipt", { n: stray + 1, ...mixed }));
  else if (!head || !judged.some((one) => one.digest === hex(head.digest))) findings.na("receipt", note);
  else findings.pass("receipt", said("note.receipts", { n: receipts.length }));
}

function* checkWitnesses(judged: readonly Judged[], witnesses: readonly string[], findings: Findings): Generator<void> {
  const id = "log.witness";
  if (witnesses.length === 0) return findings.na(id, "note.no_witness");
  if (judged.length === 0) return findings.skip(id, "note.nothing_cosigned");
  const fitting = judged.filter((one) => one.fault === "").flatMap((one) => one.receipt ?? []);
  const values: string[] = [];
  let fault = "";
  for (const text of witnesses) {
    const witness = readKey(text, WITNESS_KEY);
    if (!witness) {
      fault ||= "a witness's key is no vkey (WIT-1)";
      continue;
    }
    let newest: bigint | null = null;
    for (const { checkpoint } of fitting) {
      const time = cosigned(witness, checkpoint);
      if (typeof time === "bigint" && (newest === null || time > newest)) newest = time;
      yield;
    }
    if (newest === null) fault ||= `${witness.name} has cosigned no receipt that fits (WIT-10)`;
    else values.push(`${witness.name} at ${shownTime(newest)}`);
  }
  findings.judge(id, fault, undefined, values.join(", "));
}

/** A time in seconds; one that no calendar has stays a number. */
function shownTime(seconds: bigint): string {
  return seconds < 253_402_300_800n ? new Date(Number(seconds) * 1000).toISOString().replace(".000", "") : String(seconds);
}

/** What is asked of `mine`. */
export interface Mine {
  readonly seeds: readonly (readonly [seat: number, seeds: readonly string[]])[];
  /** Of one seat, from its notes. */
  readonly seat: number;
  readonly cards: readonly Noted[];
  readonly fault: string | Said;
}

/** The cards that the events state, by place. */
function statedCards(file: HandFile): Map<string, string> {
  const stated = file.steps.flatMap((step): readonly (Shown | Given)[] => {
    if (step.type === "hand.dealt" || step.type === "cards.shown") return step.body.shown;
    return step.type === "cards.given" ? step.body.given : [];
  });
  return new Map(stated.map(({ epoch, position, card }) => [at(epoch, position), card]));
}

export function checkMine(file: HandFile, dealt: Dealt, mine: Mine | null, findings: Findings): void {
  if (!mine) return findings.na("mine", "note.nothing_noted");
  const opened = openedSeeds(file);
  const stated = statedCards(file);
  let { fault } = mine;
  let missing: ReturnType<typeof said> | null = null;
  for (const [seat, seeds] of mine.seeds) {
    seeds.forEach((seed, epoch) => {
      const used = opened.get(epoch)?.get(seat);
      if (used === undefined) missing ??= said("note.seed_not_opened", { seat, epoch });
      else if (used.some((one) => one !== seed)) fault ||= `seat ${seat}'s seed of epoch ${epoch} in this file is not the one noted`;
    });
  }
  // At a table whose terms are those of no game nobody can say who received what.
  if (mine.cards.length > 0 && dealt.received.size === 0) missing ??= said("note.cards_unchecked");
  else for (const { card, epoch, position } of mine.cards) {
    const place = at(epoch, position);
    const there = dealt.cards.get(place) ?? stated.get(place);
    if (!dealt.received.get(mine.seat)?.has(place)) fault ||= `position ${position} of epoch ${epoch} did not come to seat ${mine.seat}`;
    else if (there === undefined) missing ??= said("note.cards_undisclosed");
    else if (there !== card) fault ||= `position ${position} of epoch ${epoch} is ${there}, noted was ${card}`;
  }
  if (fault) findings.fail("mine", fault);
  else if (missing) findings.skip("mine", missing);
  else findings.pass("mine");
}
