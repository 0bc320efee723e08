/** Hands of one table that follow each other. Spec: VER-7, PLAY-9. */

import { equal, hex } from "./bytes.ts";
import type { HandFile } from "./file.ts";
import { Findings, said } from "./findings.ts";
import { rulesetFault } from "./games/index.ts";
import type { Check, Json, Said } from "./outcome.ts";
import type { Report, Word } from "./report.ts";
import { isSame } from "./play/base.ts";
import { PLAY } from "./play/index.ts";
import { verifySteps } from "./verify.ts";

/** The outcome for several files given as a match. */
export interface MatchReport {
  readonly word: Word;
  /** 0 verified, 1 failed, 3 incomplete, 4 unreadable. */
  readonly exit: 0 | 1 | 3 | 4;
  readonly verdict: string;
  /** `match` if the files do not follow each other, else the first check that failed in one of them. */
  readonly failed: string | null;
  /** Whether they follow each other. */
  readonly check: Check;
  /** Of each file on its own, in the order given. */
  readonly reports: readonly Report[];
}

/** From the worst to the best. */
const WORDS: readonly Word[] = ["FAILED", "UNREADABLE", "INCOMPLETE", "CONSISTENT", "VERIFIED"];

/** Verifies hands as a match, in the order given. Nothing of one hand (own seeds, notes, receipts) is given with it. */
export function verifyMatch(data: readonly Uint8Array[], key?: string, rotations?: Uint8Array | string): MatchReport {
  const steps = verifyMatchSteps(data, key, rotations);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in slices of some milliseconds: yields how much is done, from 0 to 1. */
export function* verifyMatchSteps(data: readonly Uint8Array[], key?: string, rotations?: Uint8Array | string): Generator<number, MatchReport> {
  const reports: Report[] = [];
  for (const [at, one] of data.entries()) {
    const steps = verifySteps(one, { key, rotations });
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        reports.push(step.value);
        break;
      }
      yield (at + step.value) / data.length;
    }
  }
  const check = checkFollowing(reports.map((one) => one.file));
  const worst = WORDS.find((word) => reports.some((report) => report.word === word)) ?? "INCOMPLETE";
  const report = reports.find((one) => one.word === worst);
  if (check.status === "FAIL") return { word: "FAILED", exit: 1, verdict: "FAILED", failed: "match", check, reports };
  // What a hand was aborted for is said of that hand.
  const verdict = worst === "VERIFIED" ? worst : (report?.verdict ?? worst);
  return { word: worst, exit: report?.exit ?? 3, verdict, failed: report?.failed ?? null, check, reports };
}

/** The check `match`: that each file follows the one before. A file that is not in its form is null. */
export function checkFollowing(files: readonly (HandFile | null)[]): Check {
  const findings = new Findings();
  judge(files, findings);
  return findings.checks[0] as Check; // `judge` makes the one
}

function judge(files: readonly (HandFile | null)[], findings: Findings): void {
  let unknown: Said | null = null;
  for (const [at, file] of files.entries()) {
    const before = files[at - 1];
    if (!before || !file) continue;
    const order = orderFault(before, file);
    const open = order ? null : openEnd(before);
    const fault = order || (open ? "" : stateFault(before, file));
    if (fault) {
      findings.fail("match", fault);
      return;
    }
    unknown ??= open;
  }
  const read = files.filter((file) => file !== null);
  const [first, last] = [read[0], read.at(-1)];
  if (!first || !last || read.length < files.length) {
    findings.skip("match", "note.match_unreadable");
    return;
  }
  if (unknown) {
    findings.skip("match", unknown);
    return;
  }
  const start = first.opened.body.hand;
  const note = start === 1 ? "note.match" : "note.match_later";
  findings.pass("match", said(note, { first: start, last: last.opened.body.hand }));
}

/** Why a hand does not tell what the next one begins with, or null. */
function openEnd(before: HandFile): Said | null {
  if (rulesetFault(before.table.body)) return said("note.match_no_game");
  return before.final ? null : said("note.match_not_ended", { hand: before.opened.body.hand });
}

/** What no hand before may have: its seals and seeds, and the commitment that it announces. Spec: SEAL-2. */
function fresh({ opened, steps }: HandFile): string[] {
  const given = steps.flatMap((step) => (step.type === "seeds.sealed" ? Object.values(step.body.seals) : step.type === "seeds.opened" ? Object.values(step.body.seeds) : []));
  return [opened.body.next_commitment, ...given];
}

/** Spec: PLAY-9. */
function orderFault(before: HandFile, after: HandFile): string {
  const [one, other] = [before.opened.body, after.opened.body];
  if (!equal(before.table.digest, after.table.digest) || one.table !== other.table) {
    return `hand ${other.hand} is of another table, or of other terms, than the file before (PLAY-9)`;
  }
  if (other.hand !== one.hand + 1) {
    return `hand ${other.hand} stands after hand ${one.hand} (PLAY-9)`;
  }
  if (other.commitment !== one.next_commitment) return `hand ${other.hand} has another commitment than the one announced (PLAY-9)`;
  const { opened } = after;
  if (opened.seq <= before.last.seq || opened.body.at < before.last.body.at) return `hand ${other.hand} begins before the last event of hand ${one.hand} (PLAY-9)`;
  if (opened.seq === before.last.seq + 1 && opened.body.prev !== hex(before.last.digest)) return `hand ${other.hand} follows another event than the last one of hand ${one.hand} (PLAY-9)`;
  const used = new Set([one.commitment, ...fresh(before)]);
  return fresh(after).some((value) => used.has(value)) ? `hand ${other.hand} uses again what hand ${one.hand} has used (SEAL-2)` : "";
}

/** Spec: PLAY-2, HAND-2. */
function stateFault(before: HandFile, after: HandFile): string {
  const { game, referee, ruleset, seats } = before.table.body;
  const { match, first } = before.opened.body;
  const next = after.opened.body;
  const ended = before.last;
  let carried: Json = match;
  let seat: Json = first;
  if (ended.type === "hand.aborted") {
    seat = before.steps.find((step) => step.type === "hand.dealt")?.body.first ?? first;
  } else if (ended.type === "hand.closed" && referee) {
    const result = ended.body.result ?? {};
    carried = ((result["winner"] ?? null) === null ? result["match"] : PLAY.get(game)?.fresh(ruleset, seats)) ?? null;
    seat = result["first"] ?? null;
  } else {
    seat = next.first; // without a referee nobody says who is first after a closed hand
    if (seat === null && game !== "azi") return `the first seat of hand ${next.hand} is drawn although the hand before was closed (HAND-2)`;
  }
  if (!isSame(next.match, carried)) {
    return `the match before hand ${next.hand} is not the one after the hand before (PLAY-2)`;
  }
  return isSame(next.first, seat) ? "" : `the first seat of hand ${next.hand} is not the one that the hand before says (PLAY-2)`;
}
