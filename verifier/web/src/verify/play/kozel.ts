/** The play of Kozel. Spec: play-kozel.md. */

import { said } from "../findings.ts";
import type { Laid, Said } from "../outcome.ts";
import type { Deal, Match, Play, PlayRules, Ruleset, SeatCard } from "./base.ts";
import { add, at, CLOSED, DRAWN, hasFields, isNumber, isNumbers, isSame, range, rankOf, SHOWN, suitOf, sum } from "./base.ts";

const RANKS = ["6", "7", "8", "9", "J", "Q", "K", "10", "A"];
const POINTS = [0, 0, 0, 0, 2, 3, 4, 10, 11];
const SEATS = 4;
const FULL = 4;
/** Above every card of the suit led. */
const TRUMP = RANKS.length;

/** What a seat has laid in a trick, and what it did by it. */
interface Lay {
  readonly seat: number;
  readonly cards: readonly string[];
  readonly deed: "led" | "pulled" | "beat" | "threw" | "hid";
}

const rankIn = (card: string): number => RANKS.indexOf(rankOf(card));

/** How strong cards are in a trick, from weak to strong; what is neither trump nor of the suit led never beats. */
function strengths(cards: readonly string[], led: string, trumps: string): number[] {
  const strength = (card: string): number =>
    suitOf(card) === trumps ? TRUMP + rankIn(card) : suitOf(card) === led ? rankIn(card) : -1;
  return cards.map(strength).sort((a, b) => a - b);
}

/**
 * Says if cards beat as many others. Spec: KOZ-9, KOZ-12.
 *
 * @param led the suit of the lead or the pull: every best card is of it, or a trump
 */
export function isBeat(cards: readonly string[], best: readonly string[], led: string, trumps: string): boolean {
  const weak = strengths(best, led, trumps);
  return strengths(cards, led, trumps).every((strength, i) => strength > at(weak, i));
}

/** Says if some of the cards beat: the strongest do if any do. */
export function holdsBeat(cards: readonly string[], best: readonly string[], led: string, trumps: string): boolean {
  const weak = strengths(best, led, trumps);
  const strongest = strengths(cards, led, trumps).slice(-weak.length);
  return strongest.length === weak.length && strongest.every((strength, i) => strength > at(weak, i));
}

/** The defeat points of a team, not doubled. Spec: KOZ-18. */
export const penaltyOf = (points: number, tricks: number): number =>
  points >= 60 ? 0 : points > 30 ? 2 : tricks > 0 ? 4 : 6;

function begin(ruleset: Ruleset, match: Match, deal: Deal): Play {
  const told: Said[] = [];
  const hands = deal.hands.map((cards) => new Set(cards));
  // The match has no fault, and Kozel is dealt with an indicator (KOZ-1).
  const trumps = suitOf(deal.turned as string);
  const dealer = (deal.first + 3) % SEATS;
  const points = [0, 0];
  const tricks = [0, 0];
  const faceDown: SeatCard[] = [];
  let stock = deal.stock;
  let leader = (match["leader"] ?? (ruleset["first_leader"] === "dealer" ? dealer : deal.first)) as number;
  let lays: Lay[] = [];
  /** The best cards of the trick so far, and whose they are. */
  let best: readonly string[] = [];
  let taker = leader;
  let puller: number | null = null;
  /** Cards went back, and one of these seats has to show its four. */
  let pulling: readonly number[] = [];
  let isDrawDue = false;
  let isCounted = false;

  const hand = (seat: number): Set<string> => at(hands, seat);
  const isOver = (): boolean => stock === 0 && hands.every((one) => one.size === 0);
  const turnSeat = (): number => (lays[0] ? (lays[0].seat + lays.length) % SEATS : leader);
  const penalty = (): number[] => {
    const doubled = match["doubled"] === true ? 2 : 1;
    return [0, 1].map((team) => doubled * penaltyOf(at(points, team), at(tricks, team)));
  };

  function due(): string {
    if (isDrawDue) {
      return DRAWN;
    }
    return isOver() ? (faceDown.length > 0 && !isCounted ? SHOWN : CLOSED) : "";
  }

  /** Spec: KOZ-14. */
  function mayPull(seat: number): boolean {
    const cards = [...hand(seat)];
    const suit = suitOf(cards[0] ?? "");
    const distance = (of: number): number => (of - leader + SEATS) % SEATS;
    if (
      due() !== "" ||
      cards.length !== FULL ||
      cards.some((card) => suitOf(card) !== suit) ||
      ruleset["pull"] === "off" ||
      (ruleset["pull"] === "trumps_only" && suit !== trumps)
    ) {
      return false;
    }
    if (puller !== null) {
      return lays.length === 1 && distance(seat) < distance(puller);
    }
    return lays[0] ? lays[0].cards.length < FULL : seat !== leader;
  }

  /** Spec: KOZ-8. */
  function holdingFault(seat: number, cards: readonly string[]): string {
    const held = cards.every((card) => hand(seat).has(card)) && new Set(cards).size === cards.length;
    return held ? "" : `seat ${seat} does not hold these cards (KOZ-8)`;
  }

  function lay(seat: number, cards: readonly string[], deed: Lay["deed"]): string {
    lays.push({ seat, cards, deed });
    if (deed !== "hid") {
      told.push(said(`story.kozel.${deed}`, { seat }));
    }
    if (deed !== "threw" && deed !== "hid") {
      best = cards;
      taker = seat;
    }
    for (const card of cards) {
      hand(seat).delete(card);
    }
    if (lays.length === SEATS) {
      endTrick();
    }
    return "";
  }

  /** Spec: KOZ-16. */
  function endTrick(): void {
    const gained = sum(lays.flatMap((one) => one.cards.map((card) => at(POINTS, rankIn(card)))));
    add(points, taker % 2, gained);
    add(tricks, taker % 2, 1);
    for (const one of lays) {
      if (one.deed === "hid") {
        faceDown.push(...one.cards.map((card): SeatCard => [one.seat, card]));
      }
    }
    told.push(said("story.kozel.trick", { n: sum(tricks), seat: taker, points: gained }));
    lays = [];
    puller = null;
    leader = taker;
    isDrawDue = stock > 0;
    if (isOver()) {
      tellScore();
    }
  }

  function tellScore(): void {
    const added = penalty();
    told.push(said("story.kozel.points", { a: at(points, 0), b: at(points, 1) }));
    if (sum(added) === 0) {
      told.push(said("story.kozel.eggs"));
    }
    for (const team of [0, 1].filter((one) => at(added, one) > 0)) {
      told.push(said("story.kozel.defeat", { team, n: at(added, team) }));
    }
  }

  /** Spec: KOZ-11, KOZ-12, KOZ-13. */
  function answer(seat: number, cards: readonly string[], isHidden: boolean): string {
    const led = suitOf(at(at(lays, 0).cards, 0));
    if (cards.length !== best.length) {
      return `seat ${seat} answered ${best.length} cards with ${cards.length} (KOZ-11)`;
    }
    if (!isHidden && isBeat(cards, best, led, trumps)) {
      return lay(seat, cards, "beat");
    }
    if (!isHidden && ruleset["discards"] === "hidden") {
      return `seat ${seat} showed cards that do not beat (KOZ-11)`;
    }
    if (ruleset["must_beat"] === true && holdsBeat([...hand(seat)], best, led, trumps)) {
      return `seat ${seat} discarded although it could beat (KOZ-13)`;
    }
    return lay(seat, cards, isHidden ? "hid" : "threw");
  }

  /** Spec: KOZ-15. */
  function pull(seat: number, cards: readonly string[], isAllowed: boolean): string {
    if (!isAllowed || cards.length !== FULL) {
      return `seat ${seat} may not pull with these cards now (KOZ-14, KOZ-15)`;
    }
    pulling = [];
    lays = [];
    puller = seat;
    return lay(seat, cards, "pulled");
  }

  function shown(entries: readonly SeatCard[]): string {
    const seat = at(entries, 0)[0];
    const cards = entries.map(([, card]) => card);
    if (due() === SHOWN) {
      isCounted = isSame(entries.map(String).sort(), faceDown.map(String).sort());
      return isCounted ? "" : "not exactly the cards discarded face down are shown (KOZ-17)";
    }
    if (entries.some(([other]) => other !== seat)) {
      return "two seats show cards in one event (KOZ-8)";
    }
    const fault = holdingFault(seat, cards);
    if (fault) {
      return fault;
    }
    if (pulling.length > 0) {
      return pull(seat, cards, pulling.includes(seat));
    }
    if (lays.length > 0) {
      return seat === turnSeat() ? answer(seat, cards, false) : `seat ${seat} is not on turn (KOZ-11)`;
    }
    if (seat !== leader) {
      return pull(seat, cards, mayPull(seat));
    }
    if (cards.some((card) => suitOf(card) !== suitOf(at(cards, 0)))) {
      return `seat ${seat} led cards of several suits (KOZ-10)`;
    }
    return lay(seat, cards, "led");
  }

  function thrown(seat: number, cards: readonly string[]): string {
    if (ruleset["discards"] !== "hidden" || pulling.length > 0 || lays.length === 0 || seat !== turnSeat()) {
      return `seat ${seat} cannot discard face down now (KOZ-8, KOZ-11)`;
    }
    return holdingFault(seat, cards) || answer(seat, cards, true);
  }

  /** Spec: KOZ-15. */
  function returned(): string {
    const able = pulling.length > 0 || lays.length === 0 ? [] : range(SEATS).filter(mayPull);
    if (able.length === 0) {
      return "cards go back although nobody may pull on them (KOZ-15)";
    }
    pulling = able;
    for (const one of lays) {
      for (const card of one.cards) {
        hand(one.seat).add(card);
      }
    }
    lays = [];
    return "";
  }

  /** Spec: KOZ-5, KOZ-16. */
  function drawn(cards: readonly SeatCard[]): string {
    const count = Math.min(stock, SEATS * (FULL - hand(leader).size));
    const seats = range(count).map((i) => (leader + i) % SEATS);
    if (!isSame(cards.map(([seat]) => seat), seats)) {
      return `the draw is not that of the taker, seat ${leader}, and those next to it (KOZ-16)`;
    }
    for (const [seat, card] of cards) {
      hand(seat).add(card);
    }
    stock -= count;
    isDrawDue = false;
    return "";
  }

  /** Spec: KOZ-18, KOZ-19. */
  function result(): Match {
    const added = penalty();
    const defeat = (match["defeat"] as number[]).map((before, team) => before + at(added, team));
    const isEggs = points[0] === points[1];
    const lost = defeat.findIndex((one) => one >= (ruleset["target"] as number));
    return {
      first: (deal.first + 1) % SEATS,
      match: {
        defeat,
        doubled: isEggs && ruleset["eggs"] === "double_next",
        eggs: isEggs || match["eggs"] === true,
        leader,
      },
      score: { penalty: added, points, tricks },
      winner: lost < 0 ? null : 1 - lost,
    };
  }

  return {
    told,
    shown,
    thrown,
    returned,
    drawn,
    turn: () => (due() !== "" || pulling.length > 0 ? [] : [turnSeat()]),
    due,
    result,
    hands: () => hands.map((cards) => [...cards]),
    laid: () =>
      lays.flatMap(({ seat, cards, deed }): Laid[] => cards.map((card) => ({ seat, card, hidden: deed === "hid" }))),
    counts: () => ({ stock, points: [...points], tricks: [...tricks] }),
  };
}

const fresh = (): Match => ({ defeat: [0, 0], doubled: false, eggs: false, leader: null });

/** Spec: KOZ-20. */
function matchFault(ruleset: Ruleset, _seats: number, match: Match): string {
  const { defeat, doubled, eggs, leader } = match;
  if (
    !hasFields(match, "defeat", "doubled", "eggs", "leader") ||
    !isNumbers(defeat, 2, 0, (ruleset["target"] as number) - 1) ||
    defeat.some((one) => one % 2 !== 0) ||
    typeof doubled !== "boolean" ||
    typeof eggs !== "boolean" ||
    !(leader === null || isNumber(leader, 0, SEATS - 1))
  ) {
    return "the match is not one of Kozel (KOZ-20)";
  }
  const isDouble = ruleset["eggs"] === "double_next";
  const isPlayed = eggs || sum(defeat) > 0;
  if (
    (leader === null ? isPlayed || doubled : !isPlayed) ||
    (doubled && !(eggs && isDouble)) ||
    (isDouble && eggs && !doubled && Math.max(...defeat) < 4)
  ) {
    return "no match of Kozel can come to this (KOZ-20)";
  }
  return "";
}

export const kozel: PlayRules = {
  options: {
    eggs: ["none", "double_next"],
    first_leader: ["dealer_left", "dealer"],
    must_beat: [false, true],
    pull: ["any_suit", "trumps_only", "off"],
    target: [12, 6, 8, 10],
  },
  throwsTogether: false,
  fresh,
  matchFault,
  sitsOut: () => new Set(),
  begin,
};
