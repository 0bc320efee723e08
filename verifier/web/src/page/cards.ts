/** Draws cards: a face, a back, and a card in the midst of a sentence. */

import type { Values, Words } from "../words/words.ts";
import type { Said } from "../verify/outcome.ts";
import { type Child, h, icon, s } from "./dom.ts";

/** No game has a larger deck: of more cards than these, as a false file may have, the number is said. */
export const WHOLE_DECK = 40;

const SPANISH = "oceb";
/** The figure of a court card. */
const FIGURES = new Map([["J", "J"], ["Q", "Q"], ["K", "K"], ["10s", "J"], ["11s", "N"], ["12s", "K"]]);
/** Where the frame is broken: this tells the Spanish suits apart in the hand. */
const PINTA = new Map([["o", []], ["c", [30]], ["e", [22, 38]], ["b", [17, 30, 43]]]);

function split(card: string): { rank: string; suit: string; spanish: boolean } {
  const suit = card.slice(-1);
  return { rank: card.slice(0, -1), suit, spanish: SPANISH.includes(suit) };
}

/** What stands in the corner: the local letter of a court card. */
function index(words: Words, card: string): string {
  const { rank } = split(card);
  const key = `card.index.${rank}`;
  return words.has(key) ? words.text(key) : rank;
}

/** "seven of hearts". */
export function cardName(words: Words, card: string): string {
  const { rank, suit, spanish } = split(card);
  const court = `card.rank.${rank}_spanish`;
  const rankKey = spanish && words.has(court) ? court : `card.rank.${rank}`;
  if (!words.has(rankKey)) return card;
  return words.text("card.name", { rank: words.text(rankKey), of: words.text(`card.of.${suit}`) });
}

/** A card of the table. `null` is a card whose face is not known or not shown. */
export function drawCard(words: Words, card: string | null, state = ""): Element {
  const label = card === null ? words.text("page.hidden") : cardName(words, card);
  const box = { viewBox: "0 0 60 84", role: "img", "aria-label": label };
  if (card === null) return s("svg", { class: `card back ${state}`, ...box }, s("rect", EDGE), s("use", { href: "#back" }));
  const { rank, suit, spanish } = split(card);
  const figure = FIGURES.get(spanish ? `${rank}s` : rank);
  return s(
    "svg",
    { class: `card u-${suit} ${state}`, ...box },
    s("rect", EDGE),
    spanish &&
      s("path", {
        class: "frame",
        d: `M4 4v76M56 4v76${[4, 80].map((y) => line(y, PINTA.get(suit) ?? [])).join("")}`,
      }),
    s("text", { x: 7, y: 23, class: rank === "10" ? "narrow" : "" }, index(words, card)),
    s("use", { href: `#p-${suit}`, x: 8, y: 28, width: 13, height: 13 }),
    figure
      ? s("use", { href: `#g-${figure}`, x: 21, y: 38, width: 33, height: 33 })
      : s("use", { href: `#p-${suit}`, x: 21, y: 38, width: 33, height: 33 }),
  );
}

const EDGE = { x: 0.75, y: 0.75, width: 58.5, height: 82.5, rx: 6 };

/** A side of the frame with its breaks, each six wide. */
function line(y: number, breaks: readonly number[]): string {
  let path = `M4 ${y}`;
  for (const x of breaks) path += `H${x - 3}M${x + 3} ${y}`;
  return `${path}H56`;
}

/** A card in a sentence: rank and suit, with its name for who cannot see them. */
export function inlineCard(words: Words, card: string): HTMLElement {
  const { suit } = split(card);
  return h(
    "span",
    { class: `word u-${suit}`, role: "img", "aria-label": cardName(words, card) },
    index(words, card),
    icon(`p-${suit}`, "pip"),
  );
}

/** A sentence with its cards drawn; of more than `most` of them, how many more there are. */
export function sentence(words: Words, key: string, values?: Values, most = WHOLE_DECK): Child[] {
  let cards = 0;
  const shown: Child[] = [];
  for (const part of words.parts(key, values)) {
    if (typeof part !== "string" && ++cards <= most) shown.push(inlineCard(words, part.card));
    else if (typeof part === "string" && (cards < most || part.trim())) shown.push(part);
  }
  return cards > most ? [...shown, " ", words.text("page.and_more", { n: cards - most })] : shown;
}

export function told(words: Words, said: Said, most?: number): Child[] {
  return sentence(words, said.key, said.values, most);
}
