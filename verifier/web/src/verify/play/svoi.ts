/** The play of Svoi Kozyri. Spec: play-svoi.md. */

import { said } from "../findings.ts";
import type { Said } from "../outcome.ts";
import type { Deal, Match, Play, PlayRules, Ruleset, SeatCard } from "./base.ts";
import { add, at, CLOSED, hasFields, isNumber, isNumbers, rankOf, suitOf } from "./base.ts";

const RANKS = ["6", "7", "8", "9", "10", "J", "Q", "K", "A"];
const MOST_MOVES = 1000;

/** Says if a card beats another to a seat with these trumps. Spec: SVO-7. */
export function beats(card: string, top: string, trumps: string): boolean {
  return suitOf(card) === suitOf(top)
    ? RANKS.indexOf(rankOf(card)) > RANKS.indexOf(rankOf(top))
    : suitOf(card) === trumps;
}

/** How many cards of a pile of p are taken. Spec: SVO-9. */
export function takes(top: string, p: number, trumps: string): number {
  return suitOf(top) !== trumps ? Math.min(3, p) : rankOf(top) === "A" ? p : Math.min(5, p);
}

function begin(ruleset: Ruleset, match: Match, deal: Deal): Play {
  const told: Said[] = [];
  const hands = deal.hands.map((cards) => new Set(cards));
  const pile: SeatCard[] = [];
  const seen = new Map<string, number>();
  let seat = deal.first;
  let moves = 0;
  let winner: number | null = null;
  let reason = "";

  const hand = (of: number): Set<string> => at(hands, of);
  const trumps = (of: number): string => deal.trumps.get(of) ?? "";
  const top = (): string => pile.at(-1)?.[1] ?? "";
  const beatsTop = (of: number, card: string): boolean => beats(card, top(), trumps(of));

  /** Spec: SVO-4, SVO-11, SVO-12, SVO-13. */
  function moved(): string {
    const mover = seat;
    seat = 1 - mover;
    moves += 1;
    if (hand(mover).size === 0) {
      const [last, ...more] = hand(seat);
      reason = last !== undefined && more.length === 0 && beatsTop(seat, last) ? "last_card" : "out";
    } else if (isThirdTime()) {
      reason = "repetition";
    } else if (moves === MOST_MOVES) {
      reason = "limit";
    }
    if (reason === "out") {
      winner = mover;
    }
    if (reason) {
      told.push(winner === null ? said(`story.svoi.${reason}`) : said("story.svoi.won", { seat: winner }));
    }
    return "";
  }

  /** Counts the position. Spec: SVO-12. */
  function isThirdTime(): boolean {
    if (ruleset["repetition"] === 0) {
      return false;
    }
    const holdings = hands.map((cards) => [...cards].sort().join());
    const position = [seat, ...holdings, ...pile.map(([, card]) => card)].join("|");
    const count = (seen.get(position) ?? 0) + 1;
    seen.set(position, count);
    return count === ruleset["repetition"];
  }

  /** Spec: SVO-4, SVO-5, SVO-6, SVO-8. */
  function shown(cards: readonly SeatCard[]): string {
    const names = cards.map(([, card]) => card);
    const first = at(names, 0);
    if (cards.some(([other]) => other !== seat)) {
      return `not only seat ${seat}, which is on turn, shows cards (SVO-4)`;
    }
    if (new Set(names).size !== names.length || !names.every((card) => hand(seat).has(card))) {
      return `seat ${seat} does not hold these cards (SVO-5)`;
    }
    if (pile.length === 0 && names.length !== 1) {
      return `seat ${seat} leads ${names.length} cards (SVO-6)`;
    }
    if (pile.length > 0 && (names.length !== Math.min(2, hand(seat).size) || !beatsTop(seat, first))) {
      return `seat ${seat} does not beat the top of the pile with the first of two cards (SVO-8)`;
    }
    for (const card of names) {
      hand(seat).delete(card);
    }
    pile.push(...cards);
    return moved();
  }

  /** Spec: SVO-9, SVO-10. */
  function called(of: number, call: string, amount: number | null): string {
    if (of !== seat || call !== "take" || pile.length === 0) {
      return `seat ${of} cannot call ${call} now (SVO-4, SVO-6)`;
    }
    if (amount !== takes(top(), pile.length, trumps(seat))) {
      return `seat ${seat} takes the wrong number of cards (SVO-9)`;
    }
    if (ruleset["pick_up"] === "strict" && [...hand(seat)].some((card) => beatsTop(seat, card))) {
      return `seat ${seat} takes although it could beat (SVO-10)`;
    }
    const taken = pile.splice(-amount).map(([, card]) => card);
    for (const card of taken) {
      hand(seat).add(card);
    }
    told.push(said("story.takes", { seat, cards: taken }));
    return moved();
  }

  /** Spec: SVO-14. */
  function result(): Match {
    const wins = [...(match["wins"] as number[])];
    if (winner !== null) {
      add(wins, winner, 1);
    }
    return {
      first: winner ?? deal.first,
      match: { draws: (match["draws"] as number) + (winner === null ? 1 : 0), wins },
      score: { draw: winner === null, left: hands.map((cards) => cards.size), reason, winner },
      winner: null,
    };
  }

  isThirdTime();
  return {
    told,
    shown,
    called,
    turn: () => (reason ? [] : [seat]),
    due: () => (reason ? CLOSED : ""),
    result,
    hands: () => hands.map((cards) => [...cards]),
    laid: () => pile.map(([of, card]) => ({ seat: of, card, hidden: false })),
    counts: () => ({}),
  };
}

/** Spec: SVO-15. */
function matchFault(_ruleset: Ruleset, _seats: number, match: Match): string {
  const isRight = hasFields(match, "draws", "wins") && isNumber(match["draws"], 0) && isNumbers(match["wins"], 2, 0);
  return isRight ? "" : "no match of Svoi Kozyri can be like this (SVO-15)";
}

export const svoi: PlayRules = {
  options: { pick_up: ["voluntary", "strict"], repetition: [0, 3] },
  throwsTogether: false,
  fresh: () => ({ draws: 0, wins: [0, 0] }),
  matchFault,
  sitsOut: () => new Set(),
  begin,
};
