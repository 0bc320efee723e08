/** The seeds of a hand: what was sealed, opened and signed, and which deal keys they make. Spec: SEED-1, SEED-3, SEAL-1, KEY-1, SIG-2. */

import { fromHex, hex, u32be, utf8 } from "./bytes.ts";
import { verifySignature } from "./ed25519.ts";
import type { BySeat, HandEvent } from "./events.ts";
import { isLost } from "./file.ts";
import type { HandFile } from "./file.ts";
import type { Findings } from "./findings.ts";
import { extract, hash, message } from "./hashing.ts";

/** More signatures than any hand has (VER-5). */
const SIGNATURES = 4096;

/** What the later checks need to know of the seeds. */
export interface Seeds {
  /** `server.commitment`, every `seal.N` and every `chain.E.N` has passed (VER-3). */
  readonly good: boolean;
  /** Whether each contributing seat has opened its `x_epoch` in the file. */
  complete(epoch: number): boolean;
  /** K_epoch; null unless the server seed is disclosed and the epoch's seeds are complete. */
  key(epoch: number): Uint8Array | null;
}

const NO_BEACON = new Uint8Array(0);

export function u8(n: number): Uint8Array {
  return Uint8Array.of(n);
}

/** Every seed of the file by epoch and seat, in hex, in order. A seat opens once; who opens twice has two (and fails `order`). */
export function openedSeeds(file: HandFile): Map<number, Map<number, string[]>> {
  const found = new Map<number, Map<number, string[]>>();
  for (const step of file.steps) {
    if (step.type !== "seeds.opened") continue;
    const ofEpoch = found.get(step.body.epoch) ?? new Map<number, string[]>();
    found.set(step.body.epoch, ofEpoch);
    collect(ofEpoch, step.body.seeds);
  }
  return found;
}

function collect(found: Map<number, string[]>, said: BySeat<string>): void {
  for (const [key, value] of Object.entries(said)) {
    const seat = Number(key);
    const values = found.get(seat);
    if (values) values.push(value);
    else found.set(seat, [value]);
  }
}

/** Values for the report; more than a few of one seat are too many in any case. */
function few(values: readonly string[]): string {
  return values.slice(0, 4).join(", ") + (values.length > 4 ? `, and ${values.length - 4} more` : "");
}

/** Each of what is made is each of what was there before. */
function agree(made: readonly string[], before: readonly string[]): boolean {
  return before.length > 0 && [...made, ...before].every((one) => one === made[0]);
}

/** The event by which the last contributing seat sealed, if all did. Spec: HAND-4. */
export function sealedHead(file: HandFile): HandEvent | null {
  const missing = new Set(file.table.body.contribute);
  for (const step of file.steps) {
    if (step.type !== "seeds.sealed") continue;
    for (const seat of Object.keys(step.body.seals)) missing.delete(Number(seat));
    if (missing.size === 0) return step;
  }
  return null;
}

/** The checks `server.commitment`, `seal.N`, `chain.E.N`. Yields between hashes: a false file may ask for many. */
export function* checkSeeds(file: HandFile, findings: Findings): Generator<void, Seeds> {
  const { contribute } = file.table.body;
  const { hand, commitment } = file.opened.body;
  const opened = openedSeeds(file);
  const terms = file.table.digest;
  const at = findings.checks.length;

  const { disclosed } = file;
  if (isLost(file)) findings.na("server.commitment", "note.lost");
  else if (!disclosed) findings.skip("server.commitment", "note.not_disclosed", `committed to ${commitment}`);
  else {
    const made = hex(hash("server seed", fromHex(disclosed.serverSeed)));
    const fault = made === commitment ? "" : "the server seed is not the one committed to (SEED-1)";
    findings.judge("server.commitment", fault, undefined, `committed to ${commitment}, opened ${made}`);
  }

  const seals = new Map<number, string[]>();
  for (const step of file.steps) if (step.type === "seeds.sealed") collect(seals, step.body.seals);
  yield;
  for (const seat of contribute) {
    const id = `seal.${seat}`;
    const seeds = opened.get(0)?.get(seat);
    if (!seeds) {
      if (file.final) findings.na(id, "note.ended_unopened");
      else findings.skip(id, "note.not_opened");
      continue;
    }
    const made: string[] = [];
    for (const seed of seeds) {
      made.push(hex(hash("seat seed", terms, u32be(hand), u8(seat), fromHex(commitment), fromHex(seed))));
      yield;
    }
    const sealed = seals.get(seat) ?? [];
    const fault = agree(made, sealed) ? "" : "the seed is not the one that the seat sealed (SEAL-1)";
    findings.judge(id, fault, undefined, `sealed ${few(sealed)}; opened ${few(made)}`);
  }

  for (const epoch of [...opened.keys()].sort((a, b) => a - b)) {
    if (epoch === 0) continue;
    const ofEpoch = opened.get(epoch) ?? new Map<number, string[]>();
    for (const seat of [...ofEpoch.keys()].sort((a, b) => a - b)) {
      const made: string[] = [];
      for (const seed of ofEpoch.get(seat) ?? []) {
        made.push(hex(hash("link", fromHex(seed))));
        yield;
      }
      const before = opened.get(epoch - 1)?.get(seat) ?? [];
      const fault = agree(made, before) ? "" : "the seed does not lead to the one before it (SEED-3)";
      findings.judge(`chain.${epoch}.${seat}`, fault, undefined, `leads to ${few(made)}; before it ${few(before)}`);
    }
  }

  const complete = (epoch: number): boolean => contribute.every((seat) => opened.get(epoch)?.has(seat));
  return {
    good: disclosed !== null && findings.checks.slice(at).every((check) => check.status === "PASS"),
    complete,
    key: (epoch) => {
      if (!disclosed || !complete(epoch)) return null;
      const seeds = contribute.map((seat) => fromHex(opened.get(epoch)?.get(seat)?.[0] ?? ""));
      const salt = hash("deal", terms, u32be(hand), u32be(epoch), ...seeds, NO_BEACON);
      return extract(salt, fromHex(disclosed.serverSeed));
    },
  };
}

/** What a seat says in each event that can be signed, as it signs it; the k-th lock counts from 0. Spec: TAG-1. */
function* statements(file: HandFile, seat: number): Generator<{ step: HandEvent; said: (() => Uint8Array) | null; signature: string | undefined }> {
  const terms = file.table.digest;
  const { hand, commitment } = file.opened.body;
  const common = [terms, u32be(hand), u8(seat)] as const;
  let locks = 0;
  const key = String(seat);
  for (const step of file.steps) {
    let said: (() => Uint8Array) | null = null;
    if (step.type === "trumps.declared") {
      const suit = step.body.trumps[key];
      if (suit !== undefined) said = () => message("declare", ...common, fromHex(commitment), utf8(suit));
    } else if (step.type === "seeds.sealed") {
      const seal = step.body.seals[key];
      if (seal !== undefined) said = () => message("seal", ...common, fromHex(commitment), fromHex(seal));
    } else if (step.type === "seeds.opened") {
      const seed = step.body.seeds[key];
      const { head, epoch } = step.body;
      if (seed !== undefined) said = () => message("open", fromHex(head), u32be(epoch), u8(seat), fromHex(seed));
    } else if (step.type === "cards.discarded") {
      const lock = step.body.discards[key];
      const k = locks;
      if (lock) said = () => message("lock", ...common, u32be(k), u8(lock.count), fromHex(lock.lock));
      if (lock) locks += 1;
    } else {
      continue;
    }
    yield { step, said, signature: step.body.sigs[key] };
  }
}

/** The checks `seat.signature.N`. Yields after each signature: one takes some milliseconds. */
export function* checkSignatures(file: HandFile, findings: Findings): Generator<void> {
  const { seats, keys } = file.table.body;
  let made = 0;
  for (let seat = 0; seat < seats; seat++) {
    const id = `seat.signature.${seat}`;
    const key = keys[String(seat)];
    let fault = "";
    let good = 0;
    if (key === undefined) {
      if ([...statements(file, seat)].every((one) => one.signature === undefined)) findings.na(id, "note.no_key");
      else findings.fail(id, "a signature of a seat that has no key (SIG-2)");
      yield;
      continue;
    }
    for (const { step, said, signature } of statements(file, seat)) {
      if (fault || (said === null && signature === undefined)) continue;
      if (said === null || signature === undefined) fault = `${step.type}, seq ${step.seq}: a signature ${said ? "is missing" : "says nothing"} (SIG-2)`;
      else if (++made > SIGNATURES) fault = "more signatures than any hand has";
      else if (!verifySignature(fromHex(key), said(), fromHex(signature))) fault = `${step.type}, seq ${step.seq}: the signature is wrong (SIG-2)`;
      else good += 1;
      yield;
    }
    findings.judge(id, fault, undefined, `${good} signatures by ${key}`);
  }
}

