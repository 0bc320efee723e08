/** The report as JSON, the same as `fairdeal-verify --json` writes: in English, whatever the page's language. */

import type { Check, Hand } from "../verify/outcome.ts";
import type { Report } from "../verify/report.ts";
import type { Words } from "../words/words.ts";
import { family } from "./checks.ts";

/** What a pass does not prove: `not_proved.1` and so on. */
export function notProved(words: Words): string[] {
  const lines: string[] = [];
  for (let n = 1; words.has(`not_proved.${n}`); n++) lines.push(words.text(`not_proved.${n}`));
  return lines;
}

function checkToJson(english: Words, check: Check): object {
  const { name, values } = family(check.id);
  const detail = [check.fault ?? (check.note && english.text(check.note.key, check.note.values)), check.values];
  return { id: check.id, status: check.status, text: english.text(`check.${name}`, values), detail: detail.filter(Boolean).join("; ") };
}

function handToJson(hand: Hand): object {
  const { number, dealt, drawn, trumps, ...rest } = hand;
  return { ...rest, hand: number, dealt: Object.fromEntries(dealt), drawn: Object.fromEntries(drawn), trumps: Object.fromEntries(trumps) };
}

export function reportToJson(english: Words, report: Report): object {
  const { verdict, exit, failed, reason, hand, checks, story } = report;
  return {
    format: "fairdeal-report/1",
    verdict,
    exit,
    failed,
    reason: reason ? english.text(reason.key, reason.values) : "",
    hand: hand && handToJson(hand),
    checks: checks.map((check) => checkToJson(english, check)),
    play: story.map((line) => (line.indented ? "  " : "") + english.text(line.said.key, line.said.values)),
    not_proved: notProved(english),
  };
}

/** Several hands: the same as `fairdeal-verify --match --json` writes. */
export function matchToJson(
  english: Words,
  match: { verdict: string; exit: number; failed: string | null; check: Check; reports: readonly Report[] },
  names: readonly string[],
): object {
  return {
    format: "fairdeal-match-report/1",
    verdict: match.verdict,
    exit: match.exit,
    failed: match.failed,
    check: checkToJson(english, match.check),
    files: match.reports.map((report, at) => ({ file: names[at] ?? "", report: reportToJson(english, report) })),
    not_proved: notProved(english),
  };
}
