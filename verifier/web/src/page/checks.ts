/** The checks, in groups; each opens to its reason and its numbers. */

import type { Check, Status } from "../verify/outcome.ts";
import type { Report } from "../verify/report.ts";
import { told } from "./cards.ts";
import { type Child, h, icon } from "./dom.ts";
import { type Context, numbers } from "./numbers.ts";
import { code, inPieces, section, type View } from "./view.ts";

const GROUPS: readonly [name: string, families: readonly string[]][] = [
  ["seeds", ["server.commitment", "seal", "link", "order", "beacon", "seats", "seat.signature", "mine"]],
  ["deck", ["shuffle", "deck.cards", "deck.root", "pick.first", "pick.indicator"]],
  ["cards", ["first", "deal", "draw", "discard", "show", "reshuffle"]],
  ["play", ["play", "end", "disclosure"]],
  ["log", ["log.inclusion", "log.signature", "log.witness", "receipt"]],
  ["file", ["format", "chain", "terms"]],
];
const LOOKS: Record<Status, readonly [name: string, icon: string]> = {
  PASS: ["pass", "i-ok"], FAIL: ["fail", "i-bad"], SKIP: ["skip", "i-wait"], "N/A": ["na", "i-none"],
};
/** How much a status matters: a group shows its worst. */
const WORST: readonly Status[] = ["FAIL", "SKIP", "PASS", "N/A"];

/** The family of an id in the catalogue, and its numbers. */
export function family(id: string): { name: string; values: Record<string, number> } {
  const words = id.split(".");
  const name = words.filter((word) => !/^\d+$/.test(word)).join(".");
  const [a = 0, b = 0] = words.filter((word) => /^\d+$/.test(word)).map(Number);
  if (name === "chain" && words.length > 1) return { name: "link", values: { epoch: a, seat: b } };
  if (name === "seal" || name === "seat.signature") return { name, values: { seat: a } };
  return { name, values: words.length > 1 ? { k: a } : {} };
}

/** What a check says: the sentence of its id, and before it whether that is so. */
export function checkText(view: View, id: string, status: Status): string {
  const { name, values } = family(id);
  return view.t(`status.${LOOKS[status][0]}.sentence`, { sentence: view.t(`check.${name}`, values) });
}

/** What a check that fails has found. */
export function checkFault(view: View, { note, fault = "" }: Check, tag: "p" | "span"): HTMLElement {
  return h(tag, { class: "fault" }, note ? view.t(note.key, note.values) : view.t("report.fault", { fault }));
}

export function statusMark(view: View, status: Status): HTMLElement {
  const [name, picture] = LOOKS[status];
  return h("span", { class: `status ${name}` }, icon(picture), view.t(`status.${name}`));
}

/** One check as a disclosure. */
export function checkFold(view: View, check: Check, context: Context | null): HTMLElement {
  const [name] = LOOKS[check.status];
  return view.folds.fold(
    `check ${check.id}`,
    { class: `check ${name}`, open: check.status === "FAIL" },
    [statusMark(view, check.status), h("span", {}, checkText(view, check.id, check.status))],
    () => [
      check.status === "FAIL" ? checkFault(view, check, "p") : check.note && h("p", {}, told(view.words, check.note)),
      h("p", { class: "muted" }, view.t("report.why", { reason: view.t(`why.${family(check.id).name}`) })),
      view.folds.fold(`numbers ${check.id}`, { class: "numbers" }, view.t("page.numbers"), () => [
        h("p", { class: "muted" }, code(check.id)),
        check.values !== undefined && h("p", { lang: "en" }, code(check.values)),
        context && numbers(view, context, check.id),
      ]),
    ],
  );
}

/** "43 passed, ..": how many checks have each status. */
export function counts(view: View, report: Report): string {
  const count = (status: Status): number => report.checks.filter((check) => check.status === status).length;
  return view.t("report.checks", { n: report.checks.length, pass: count("PASS"), fail: count("FAIL"), skip: count("SKIP"), na: count("N/A") });
}

/** All checks. */
export function drawChecks(view: View, report: Report, context: Context | null): HTMLElement {
  const sorted = new Map<string, Check[]>();
  for (const check of report.checks) {
    const { name } = family(check.id);
    const group = GROUPS.find(([, families]) => families.includes(name))?.[0] ?? "";
    const inside = sorted.get(group);
    if (inside) inside.push(check);
    else sorted.set(group, [check]);
  }
  const folds = (checks: readonly Check[]): Child => inPieces(view, h("div"), checks, (check) => checkFold(view, check, context));
  const groups = GROUPS.map(([name]): Child => {
    const inside = sorted.get(name) ?? [];
    if (inside.length === 0) return null;
    const worst = WORST.find((status) => inside.some((check) => check.status === status)) ?? "N/A";
    const made = inside.filter((check) => check.status !== "N/A");
    const passed = made.filter((check) => check.status === "PASS").length;
    return view.folds.fold(
      `group ${name}`,
      { class: "group", open: worst === "FAIL" },
      [statusMark(view, worst), h("span", { class: "name" }, view.t(`page.group.${name}`)), h("span", { class: "muted count" }, view.t("page.passed_of", { n: passed, all: made.length }))],
      () => folds(inside),
    );
  });
  return section("checks", view.t("page.checks"), h("p", { class: "muted" }, counts(view, report)), groups, folds(sorted.get("") ?? []));
}
