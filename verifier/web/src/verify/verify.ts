/** A file, and what a player kept, to a report. Spec: VER-1..5. */

import { fromHex, hex } from "./bytes.ts";
import { checkSeeds, checkSignatures } from "./ceremony.ts";
import { checkDealing } from "./dealing.ts";
import type { Dealt } from "./dealing.ts";
import { canBeKey } from "./ed25519.ts";
import { fileSteps } from "./file.ts";
import type { HandFile } from "./file.ts";
import { Findings, said } from "./findings.ts";
import { rulesetFault } from "./games/index.ts";
import { readKey } from "./note.ts";
import { readNotes } from "./notes.ts";
import type { Hand, Said } from "./outcome.ts";
import type { Report } from "./report.ts";
import { checkLog, checkMine, checkReceipts, ownKey } from "./promises.ts";
import type { Kept, Mine, Mixed } from "./promises.ts";
import { LogKeys, rotationSteps } from "./rotation.ts";

/** What comes from elsewhere than the file. */
export interface Given {
  /** The log's key to trust, a vkey. Without one that of the notes. */
  readonly key?: string | undefined;
  /** Own seeds in hex, x_0, x_1.., by seat. */
  readonly mine?: ReadonlyMap<number, readonly string[]> | undefined;
  readonly receipts?: readonly (Uint8Array | string)[] | undefined;
  /** What the player's client wrote. */
  readonly notes?: Uint8Array | string | undefined;
  /** Vkeys of the witnesses that each have to have cosigned a receipt. */
  readonly witnesses?: readonly string[] | undefined;
  /** What the log serves as `rotations`, if its key has changed. Spec: VER-8. */
  readonly rotations?: Uint8Array | string | undefined;
}

export interface Options {
  /** Report every draw of the shuffles. */
  readonly trace?: boolean | undefined;
}

/** What VER-2 lists for every hand, in its order. */
const ALWAYS =
  "chain terms server.commitment order beacon shuffle deck.cards deck.root first deal pick.first seats play end disclosure log.inclusion log.signature log.witness receipt mine";

/** Verifies a hand. */
export function verify(data: Uint8Array, given: Given = {}, options: Options = {}): Report {
  const steps = verifySteps(data, given, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in slices of some milliseconds: yields how much is done, from 0 to 1. */
export function* verifySteps(data: Uint8Array, given: Given = {}, options: Options = {}): Generator<number, Report> {
  const findings = new Findings();
  const rotations = given.rotations === undefined ? [] : yield* slices(0, 0.02, rotationSteps(given.rotations));
  if (!rotations) return report(findings, null, null, said("unreadable.rotations"));
  const file = yield* slices(0.02, 0.1, fileSteps(data));
  if ("reason" in file) return report(findings, null, null, file.reason);
  if ("fault" in file) {
    findings.fail("format", file.fault);
    for (const id of ALWAYS.split(" ")) findings.skip(id, "note.format");
    return report(findings, null, null, null);
  }
  yield 0.1;
  findings.pass("format");
  yield* slices(0.1, 0.12, checkChain(file, findings));
  checkTerms(file, findings);
  const seeds = yield* slices(0.12, 0.2, checkSeeds(file, findings));
  const dealt = yield* slices(0.2, 0.6, checkDealing(file, seeds, findings, options.trace ?? false));
  const { trusted, kept, mixed, mine } = fromElsewhere(file, given);
  const own = ownKey(file);
  const keys = trusted === null || typeof trusted === "string" ? new LogKeys(own, own, []) : new LogKeys(trusted, own, rotations);
  yield* slices(0.6, 0.65, checkLog(file, trusted, keys, findings));
  yield* slices(0.65, 0.8, checkReceipts(file, trusted, keys, kept, mixed, given.witnesses ?? [], findings));
  yield* slices(0.8, 1, checkSignatures(file, findings));
  checkMine(file, dealt, mine, findings);
  return report(findings, file, dealt, null);
}

/** Progress from one share to another, though nobody knows how many slices there will be. */
function* slices<T>(from: number, to: number, work: Generator<void, T>): Generator<number, T> {
  for (let left = to - from; ; left *= 0.9) {
    const step = work.next();
    if (step.done) return step.value;
    yield to - left;
  }
}

interface Elsewhere {
  readonly trusted: ReturnType<typeof readKey> | string;
  readonly kept: Kept[];
  /** Set if the notes are of another hand than the file. */
  readonly mixed: Mixed | null;
  readonly mine: Mine | null;
}

function fromElsewhere(file: HandFile, given: Given): Elsewhere {
  const notes = given.notes === undefined ? null : readNotes(given.notes);
  const key = given.key ?? notes?.logKey;
  const kept: Kept[] = [...(given.receipts ?? []).map((proof) => ({ proof })), ...(notes?.receipts ?? [])];
  const seeds: [number, readonly string[]][] = [...(given.mine ?? [])];
  const { table, hand } = file.opened.body;
  const mixed = notes && (notes.table !== table || notes.hand !== hand) ? { noted: notes.hand, noted_at: notes.table, hand, table } : null;
  let fault: Mine["fault"] = mixed ? said("note.other_hand", mixed) : "";
  if (notes) {
    seeds.push([notes.seat, notes.seeds]);
  } else if (given.notes !== undefined) {
    fault = "the notes are none (NOTE-1)";
  }
  const stranger = seeds.find(([seat]) => seat >= file.table.body.seats);
  if (stranger) fault ||= `the table has no seat ${stranger[0]}`;
  const asked = fault !== "" || seeds.some(([, list]) => list.length > 0) || (notes?.cards.length ?? 0) > 0;
  return {
    trusted: key === undefined ? null : (readKey(key) ?? key),
    kept,
    mixed,
    mine: asked ? { seeds, seat: notes?.seat ?? -1, cards: notes?.cards ?? [], fault } : null,
  };
}

function* checkChain(file: HandFile, findings: Findings): Generator<void> {
  const { steps, table, opened, last } = file;
  let fault = "";
  for (const [index, step] of steps.entries()) {
    if (index === 0) continue;
    const before = steps[index - 1] ?? step;
    const where = `${step.type}, seq ${step.seq}: `;
    if (step.body.table !== table.body.table) fault ||= `${where}another table (EVT-2)`;
    if (step.body.hand !== opened.body.hand) fault ||= `${where}another hand`;
    if (step.body.at < before.body.at) fault ||= `${where}the time goes back (EVT-2)`;
    // A table's events between its opening and this hand are not in the file.
    // Each hand before took two of them at least, and the newest one is named, whichever it is.
    if (index === 1 && step.seq < 2 * opened.body.hand - 1) fault ||= `${where}hand ${opened.body.hand} cannot have begun so early`;
    if (index === 1 && step.seq !== 1) {
      if (step.body.prev === "") fault ||= `${where}the event before is not named (EVT-2)`;
    } else {
      if (step.body.prev !== hex(before.digest)) fault ||= `${where}prev is not the digest of the event before (EVT-2)`;
      if (index > 1 && step.seq !== before.seq + 1) fault ||= `${where}seq does not follow (EVT-2)`;
    }
    yield;
  }
  findings.judge("chain", fault, undefined, `${steps.length - 1} steps up to ${hex(last.digest)}`);
}

function checkTerms(file: HandFile, findings: Findings): void {
  const { table, opened } = file;
  const { body } = table;
  const terms = hex(table.digest);
  const { hand, match, commitment, next_commitment } = opened.body;
  let fault = "";
  if (body.seq !== 0 || body.prev !== "") fault = "table.opened is not the first event of its table (TBL-1)";
  else if (body.contribute.length === 0) fault = "no seat contributes (TBL-1)";
  else if (readKey(body.log_key)?.name !== body.origin) fault = "origin is not the name in log_key (TBL-1)";
  else if (!Object.values(body.keys).every((key) => canBeKey(fromHex(key)))) fault = "the key of a seat is none that a signature could be checked with (TBL-1)";
  else fault = rulesetFault(body);
  if (!fault && opened.body.terms !== terms) fault = "the hand names other terms (HAND-1)";
  if (!fault && !body.referee && match !== null) fault = "there is a match without a referee (PLAY-1)";
  if (!fault && commitment === next_commitment) fault = "the commitment is used again (HAND-1)";
  if (!fault && hand === 1 && commitment !== body.next_commitment) fault = "the commitment is not the one announced (HAND-1)";
  if (!fault && hand > 1 && (commitment === body.next_commitment || next_commitment === body.next_commitment)) fault = "the commitment of the table's first hand is used again (SEAL-2)";
  findings.judge("terms", fault, undefined, `T is ${terms}; the hand names ${opened.body.terms}`);
}

const CLOSING = { VERIFIED: 0, FAILED: 1, INCOMPLETE: 3, CONSISTENT: 3, UNREADABLE: 4 } as const;
const VERDICTS: Readonly<Record<string, string>> = { CONSISTENT: "CONSISTENT, log key unknown: this proves nothing about the service" };

/** Spec: VER-4. */
function report(findings: Findings, file: HandFile | null, dealt: Dealt | null, reason: Said | null): Report {
  const { checks } = findings;
  const failed = checks.find((check) => check.status === "FAIL")?.id ?? null;
  const skipped = checks.filter((check) => check.status === "SKIP").map((check) => check.id);
  const word = reason ? "UNREADABLE" : failed ? "FAILED" : skipped.some((id) => id !== "log.signature") ? "INCOMPLETE" : skipped.length > 0 ? "CONSISTENT" : "VERIFIED";
  let verdict = VERDICTS[word] ?? word;
  if (word === "VERIFIED" && file?.last.type === "hand.aborted") {
    const { reason: why, missing } = file.last.body;
    verdict += ` (aborted: ${why}, ${missing.length > 0 ? `seats ${missing.join(", ")}` : "no seat"})`;
  }
  const hand: Hand | null = dealt?.hand ?? null;
  return { word, exit: CLOSING[word], verdict, failed, reason, checks, file, hand, story: dealt?.story ?? [], scenes: dealt?.scenes ?? new Map(), traces: dealt?.traces ?? [] };
}

