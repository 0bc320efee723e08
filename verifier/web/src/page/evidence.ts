/** The player's own evidence: seeds, notes, receipts, witnesses. */

import type { HandFile } from "../verify/file.ts";
import { leafHash } from "../verify/merkle.ts";
import { includes, readReceipt } from "../verify/note.ts";
import type { Report } from "../verify/report.ts";
import { checkFold } from "./checks.ts";
import { type Child, h } from "./dom.ts";
import type { Context } from "./numbers.ts";
import { button, section, type View } from "./view.ts";

/** What the reader has given; all of it stays in this page. */
export interface Given {
  readonly key: string | null;
  readonly seeds: ReadonlyMap<number, readonly string[]>;
  /** Of one hand, or some for the hands of a match. */
  readonly notes: readonly Uint8Array[];
  readonly receipts: readonly Uint8Array[];
  readonly witnesses: readonly string[];
  readonly rotations: Uint8Array | null;
}

export const NOTHING: Given = { key: null, seeds: new Map(), notes: [], receipts: [], witnesses: [], rotations: null };

/** The step that a receipt is of, in the hands of a match; null if it is of none, or of what they all begin with. */
export function* stepOf(proof: Uint8Array, match: readonly HandFile[]): Generator<number, HandFile["last"] | null> {
  const receipt = readReceipt(proof);
  // A table's steps stand in the log in their order: no hand but the first that reaches so far can have it.
  const file = receipt && match.find((one) => one.proof.index >= receipt.index);
  for (const step of file?.steps.slice(1) ?? []) {
    if (receipt && includes(receipt, leafHash(step.raw))) return step;
    yield 0;
  }
  return null;
}

const OWN = new Set(["mine", "receipt", "log.witness"]);

export function drawEvidence(
  view: View,
  file: HandFile,
  report: Report,
  context: Context,
  given: Given,
  change: (given: Given, seat: number | null) => void,
  choose: () => void,
): HTMLElement {
  const seats = Array.from({ length: file.table.body.seats }, (_, seat) => seat);
  const seat = h("select", { id: "my-seat" }, seats.map((one) => h("option", { value: one }, one)));
  const seed = h("input", { type: "text", id: "my-seed", autocomplete: "off", spellcheck: "false", "aria-describedby": "my-fault" });
  const fault = h("p", { id: "my-fault", class: "fault", role: "alert" });
  const enter = (): void => {
    const words = seed.value.trim().split(/[\s,]+/);
    const wrong = seedFault(file, words);
    if (wrong) fault.textContent = view.t(wrong);
    else change({ ...given, seeds: new Map([...given.seeds, [Number(seat.value), words]]) }, Number(seat.value));
  };
  const some = given.seeds.size > 0 || given.notes.length > 0 || given.receipts.length > 0 || given.witnesses.length > 0 || given.rotations !== null;
  const own: Child = report.checks.filter((check) => OWN.has(check.id) && check.status !== "N/A").map((check) => checkFold(view, check, context));
  return section(
    "mine",
    view.t("page.mine.title"),
    h("p", {}, view.t("page.mine.text")),
    own,
    h(
      "form",
      { onsubmit: (event) => { event.preventDefault(); enter(); } },
      h("div", { class: "row" }, h("label", { for: "my-seat" }, view.t("page.seat")), seat),
      h("label", { for: "my-seed" }, view.t("page.mine.seed")),
      h("div", { class: "row" }, seed, h("button", { type: "submit" }, view.t("page.mine.check"))),
      fault,
    ),
    h("div", { class: "row" }, button(view.t("page.mine.files"), choose), some && button(view.t("page.mine.forget"), () => change({ ...NOTHING, key: given.key }, null))),
  );
}

/** What is wrong with seeds as they were typed: a seal is easily taken for the seed. */
function seedFault(file: HandFile, words: readonly string[]): string {
  if (!words.every((word) => /^[0-9a-f]{64}$/.test(word))) return "page.mine.bad";
  const seals = file.steps.flatMap((step) => (step.type === "seeds.sealed" ? Object.values(step.body.seals) : []));
  return words.some((word) => seals.includes(word)) ? "page.mine.seal" : "";
}
