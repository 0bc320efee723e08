/** What is printed: a page with the result, and an appendix with the hashes. Hidden on the screen. */

import { hex } from "../verify/bytes.ts";
import type { HandFile } from "../verify/file.ts";
import type { Report } from "../verify/report.ts";
import { sentence, WHOLE_DECK } from "./cards.ts";
import { checkText, counts, statusMark } from "./checks.ts";
import { qrCode, spoken } from "./code.ts";
import { Counting, countsText } from "./counts.ts";
import { type Child, h } from "./dom.ts";
import { notProved } from "./report.ts";
import { drawVerdict } from "./verdict.ts";
import { code, facts, type View } from "./view.ts";

/** More checks than a hand has, and more hashes; less than is drawn in one piece. */
const MOST = 150;

/** A long list of a false file is cut: the page says how much more there is, and the report as JSON has all of it. */
function beginning<T>(view: View, items: readonly T[]): [items: readonly T[], more: string] {
  return [items.slice(0, MOST), items.length > MOST ? view.t("page.and_more", { n: items.length - MOST }) : ""];
}

function seats(view: View, report: Report): Child {
  const { hand } = report;
  if (!hand) return null;
  const told = (key: string, list: readonly string[]): Child => [
    sentence(view.words, key, { cards: list.slice(0, WHOLE_DECK) }),
    list.length > WHOLE_DECK && [" ", view.t("page.and_more", { n: list.length - WHOLE_DECK })],
  ];
  const cards = (list: readonly string[]): Child => (list.length > 0 ? told("page.card_list", list) : view.t("report.hidden"));
  return facts(
    view,
    [...hand.dealt].map(([seat, dealt]) => {
      const drawn = hand.drawn.get(seat) ?? [];
      return [view.t("report.seat", { seat }), [cards(dealt), drawn.length > 0 && [" ", told("report.then", drawn)]]];
    }),
  );
}

export function drawPrint(view: View, file: HandFile | null, report: Report, fileHash: string, ownHash: string): HTMLElement {
  const [notable, moreChecks] = beginning(view, report.checks.filter((check) => check.status !== "N/A"));
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
  const [values, moreValues] = beginning(view, rows);
  const end = file && countsText(view, new Counting(file, report).after(file.steps.length - 1).counts);
  return h(
    "div",
    { class: "paper" },
    drawVerdict(view, report, false),
    file && h("div", { class: "seal" }, qrCode(commitment, ""), code(spoken(commitment))),
    seats(view, report),
    end && h("p", {}, end),
    h("p", {}, counts(view, report)),
    h("ul", { class: "list" }, notable.map((check) => h("li", {}, statusMark(view, check.status), " ", checkText(view, check.id, check.status)))),
    moreChecks && h("p", {}, moreChecks),
    h("p", {}, view.t("report.not_proved")),
    h("ul", {}, notProved(view.words).map((line) => h("li", {}, line))),
    h("div", { class: "appendix" }, facts(view, [[view.t("page.file_hash"), code(fileHash)], [view.t("page.page_hash"), code(ownHash)], ...values]), moreValues && h("p", {}, moreValues)),
  );
}
