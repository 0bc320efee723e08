/** What is printed: a page with the result, and an appendix with the hashes. Hidden on the screen. */

import { hex } from "../verify/bytes.ts";
import type { HandFile } from "../verify/file.ts";
import type { Report } from "../verify/outcome.ts";
import { told } from "./cards.ts";
import { checkText, counts, statusMark } from "./checks.ts";
import { qrCode, spoken } from "./code.ts";
import { type Child, h } from "./dom.ts";
import { notProved } from "./report.ts";
import { drawVerdict } from "./verdict.ts";
import { code, facts, type View } from "./view.ts";

function seats(view: View, report: Report): Child {
  const { hand } = report;
  if (!hand) return null;
  const cards = (list: readonly string[]): Child => (list.length > 0 ? told(view.words, { key: "page.card_list", values: { cards: list } }) : view.t("report.hidden"));
  return facts(
    [...hand.dealt].map(([seat, dealt]) => {
      const drawn = hand.drawn.get(seat) ?? [];
      return [view.t("report.seat", { seat }), [cards(dealt), drawn.length > 0 && [" ", told(view.words, { key: "report.then", values: { cards: drawn } })]]];
    }),
  );
}

export function drawPrint(view: View, file: HandFile | null, report: Report, fileHash: string, ownHash: string): HTMLElement {
  const notable = report.checks.filter((check) => check.status !== "N/A");
  const { commitment } = file?.opened.body ?? { commitment: "" };
  const rows: (readonly [Child, Child])[] = file
    ? [
        [code("T"), code(hex(file.table.digest))],
        [code("C"), code(commitment)],
        ...file.steps.flatMap((step): (readonly [Child, Child])[] => {
          if (step.type === "seeds.sealed") return Object.entries(step.body.seals).map(([seat, seal]) => [code(`seal ${seat}`), code(seal)]);
          if (step.type === "seeds.opened") return Object.entries(step.body.seeds).map(([seat, seed]) => [code(`x_${step.body.epoch} ${seat}`), code(seed)]);
          if (step.type === "hand.dealt" || step.type === "stock.reshuffled") return [[code("deck_root"), code(step.body.deck_root)]];
          return [];
        }),
        [code("s"), code(file.disclosed?.serverSeed ?? "-")],
        [code("head"), code(hex(file.last.digest))],
        [code("log"), code(`${file.table.body.log_key}, ${file.proof.index} / ${file.proof.checkpoint.size}, ${hex(file.proof.checkpoint.root)}`)],
      ]
    : [];
  return h(
    "div",
    { class: "paper" },
    drawVerdict(view, report, false),
    file && h("div", { class: "seal" }, qrCode(commitment, ""), code(spoken(commitment))),
    seats(view, report),
    h("p", {}, counts(view, report)),
    h("ul", { class: "list" }, notable.map((check) => h("li", {}, statusMark(view, check.status), " ", checkText(view, check.id, check.status)))),
    h("p", {}, view.t("report.not_proved")),
    h("ul", {}, notProved(view.words).map((line) => h("li", {}, line))),
    h("div", { class: "appendix" }, facts([[view.t("page.file_hash"), code(fileHash)], [view.t("page.page_hash"), code(ownHash)], ...rows])),
  );
}
