/** The verdict in words, icon and colour; and the question whose key it is. */

import type { HandFile } from "../verify/file.ts";
import type { Report, Word } from "../verify/report.ts";
import { checkFault, checkText } from "./checks.ts";
import { spoken } from "./code.ts";
import { type Child, h, icon } from "./dom.ts";
import { fromBase64 } from "../words/load.ts";
import { hex } from "../verify/bytes.ts";
import { button, code, type View } from "./view.ts";

const LOOKS: Record<Word, readonly [name: string, icon: string]> = {
  VERIFIED: ["verified", "i-ok"],
  FAILED: ["failed", "i-bad"],
  INCOMPLETE: ["incomplete", "i-wait"],
  CONSISTENT: ["consistent", "i-key"],
  UNREADABLE: ["unreadable", "i-what"],
};

export function wordName(word: Word): string {
  return LOOKS[word][0];
}

/** The banner: everything else on the page explains it. */
export function banner(word: Word, title: Child, ...inside: Child[]): HTMLElement {
  const [name, picture] = LOOKS[word];
  return h("div", { class: `verdict ${name}` }, icon(picture, "big"), h("div", {}, h("h1", { tabindex: -1 }, title), inside));
}

/** A small sign of a verdict, for lists. */
export function badge(view: View, word: Word): HTMLElement {
  const [name, picture] = LOOKS[word];
  return h("span", { class: `badge ${name}` }, icon(picture), view.t(`page.word.${name}`));
}

/** When, of what, and what kind of hand. */
function about(view: View, report: Report): Child {
  const { hand } = report;
  if (!hand) return null;
  const when = new Date(hand.at);
  const text = Number.isNaN(when.getTime())
    ? hand.at
    : new Intl.DateTimeFormat(view.words.language.tag, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }).format(when);
  const game = view.words.has(`game.${hand.game}`) ? view.t(`game.${hand.game}`) : hand.game;
  return h("p", { class: "about" }, view.t("report.hand", { hand: hand.number, table: hand.table, game, n: hand.cards }), " · ", h("time", { datetime: hand.at }, text, " UTC"));
}

export function drawVerdict(view: View, report: Report, cutOff: boolean): HTMLElement {
  const { word, hand, failed } = report;
  const name = wordName(word);
  const first = report.checks.find((check) => check.id === failed);
  // With a note a check has found nothing but notes of another hand, and nobody else needs to be shown that.
  const mixed = report.checks.every((check) => check.status !== "FAIL" || check.note);
  const lead = word === "FAILED" && mixed ? "mixed" : name;
  const ended = hand?.aborted ? view.t("report.ended_early", { reason: view.t(`aborted.${hand.aborted}`) }) : "";
  return banner(
    word,
    view.t(`page.word.${name}`),
    // Of rotations that lead nowhere the file itself knows nothing.
    report.reason?.key !== "unreadable.rotations" && h("p", { class: "lead" }, view.t(`page.verdict.${lead}`)),
    ended && h("p", {}, ended, hand && hand.missing.length > 0 && ` (${hand.missing.map((seat) => view.t("report.seat", { seat })).join(", ")})`),
    report.reason && h("p", {}, cutOff ? view.t("page.error.cut_off") : view.t(report.reason.key, report.reason.values)),
    first && h("p", { class: "first" }, code(first.id), " ", checkText(view, first.id, "FAIL"), checkFault(view, first, "span")),
    about(view, report),
  );
}

/** A key in its short form, for comparing by voice. */
function keyCode(vkey: string): string {
  try {
    return spoken(hex(fromBase64(vkey.split("+").slice(2).join("+")).slice(1)));
  } catch {
    return "?";
  }
}

/**
 * Asks for the log's key. One that comes in the file or in the link is shown, and trusted only if the reader says
 * that it is known from elsewhere: whoever made up a hand would name a key of their own.
 */
export function askKey(view: View, file: HandFile, linked: string | null, use: (key: string) => void): HTMLElement {
  const named = file.table.body.log_key;
  const input = h("input", { type: "text", id: "key", autocomplete: "off", spellcheck: "false", "aria-describedby": "key-fault" });
  const fault = h("p", { id: "key-fault", class: "fault", role: "alert" });
  const offer = (title: string, key: string): Child => [
    h("p", {}, title),
    h("p", {}, code(key)),
    h("p", {}, view.t("page.short_form"), " ", h("strong", {}, code(keyCode(key)))),
    button(view.t("page.key.same"), () => use(key), { class: "primary" }),
  ];
  const form = h(
    "form",
    { onsubmit: (event) => { event.preventDefault(); enter(); } },
    h("label", { for: "key" }, view.t("page.key.other")),
    h("div", { class: "row" }, input, h("button", { type: "submit" }, view.t("page.key.use"))),
    fault,
  );
  const enter = (): void => {
    const key = input.value.trim();
    if (/^[\x21-\x2a\x2c-\x7e]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/.test(key)) use(key);
    else fault.textContent = view.t("page.key.bad");
  };
  return h(
    "section",
    { class: "ask", "aria-labelledby": "ask-h" },
    h("h2", { id: "ask-h" }, view.t("page.key.title")),
    h("p", {}, view.t("page.key.text")),
    linked !== null && linked !== named && offer(view.t("page.key.link"), linked),
    offer(view.t(linked === named ? "page.key.both" : "page.key.file"), named),
    form,
  );
}
