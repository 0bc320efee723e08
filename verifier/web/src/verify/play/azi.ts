/** The play of Azi. Spec: play-azi.md. */

import { said } from "../findings.ts";
import type { Said } from "../outcome.ts";
import { bySeat, fresh, matchFault, readChips, shortPayment } from "./azi_bank.ts";
import type { Deal, Match, Play, PlayRules, Ruleset, SeatCard } from "./base.ts";
import { add, at, CLOSED, from, isNumber, range, rankOf, suitOf, sum } from "./base.ts";

const RANKS = ["6", "7", "8", "9", "10", "J", "Q", "K", "A"];
const TRICKS = 3;
const TO_WIN = 2;
const MOST_RAISES = 3;

/** How strong a card is in a trick: a trump, a card of the suit led, neither (0). Spec: AZI-14. */
export function strengthOf(card: string, led: string, turned: string, sixOnStage: boolean): number {
  const rank = 1 + RANKS.indexOf(rankOf(card));
  if (suitOf(card) === suitOf(turned)) {
    return 100 + (sixOnStage && rankOf(turned) === "A" && rank === 1 ? RANKS.length + 1 : rank);
  }
  return suitOf(card) === led ? rank : 0;
}

/** The cards that may be shown to a lead; all of them without one. Spec: AZI-13. */
export function playable(cards: readonly string[], led: string, trumps: string, mustTrump: boolean): readonly string[] {
  const ofSuit = cards.filter((card) => suitOf(card) === led);
  const ofTrumps = cards.filter((card) => mustTrump && led !== "" && suitOf(card) === trumps);
  return ofSuit.length > 0 ? ofSuit : ofTrumps.length > 0 ? ofTrumps : cards;
}

function begin(ruleset: Ruleset, match: Match, deal: Deal): Play {
  const told: Said[] = [];
  const n = deal.seats;
  const hands = deal.hands.map((cards) => new Set(cards));
  // The match has no fault, and Azi is dealt with a card turned (AZI-1).
  const players = match["players"] as readonly number[];
  const stacks = [...(match["stacks"] as number[])];
  const contributions = readChips(match["contributions"], n) as number[];
  const turned = deal.turned as string;
  const trumps = suitOf(turned);
  const sixOnStage = ruleset["six_on_stage"] === true;
  const minBet = ruleset["min_bet"] as number;

  let part: "throws" | "bidding" | "tricks" | "buying" | "end" = "throws";
  /** Whose move is awaited, the next one first; in the throws all at once. */
  let waiting: number[] = [];
  const looked = new Set<number>();
  const bids = Array<number>(n).fill(0);
  const calls = Array<number>(n).fill(0);
  const raises = Array<number>(n).fill(0);
  const folded = new Set<number>();
  const short = new Set<number>();
  let raiser: number | null = null;
  let leader: number | null = null;
  const tricks: number[] = [];
  let laid: SeatCard[] = [];
  let price = 0;
  const bought: number[] = [];
  /** `score`, from when the hand was decided. */
  let score: { [field: string]: Match[string] } = {};

  const hand = (seat: number): Set<string> => at(hands, seat);
  const bank = (): number => sum(contributions);
  const highest = (): number => Math.max(...bids);
  const active = (): number[] => players.filter((seat) => !folded.has(seat));
  const activeFrom = (seat: number): number[] => from(seat, n).filter((one) => active().includes(one));
  const winner = (): number | null => score["winner"] as number | null;

  function pay(seat: number, chips: number): void {
    add(stacks, seat, -chips);
    add(contributions, seat, chips);
  }

  // Throws and bidding.

  function thrown(seat: number, cards: readonly string[]): string {
    const card = at(cards, 0);
    if (part !== "throws" || !waiting.includes(seat) || cards.length !== 1 || !hand(seat).delete(card)) {
      return `seat ${seat} cannot throw this now (AZI-7)`;
    }
    waiting = waiting.filter((other) => other !== seat);
    if (waiting.length === 0) {
      openBidding();
    }
    return "";
  }

  function looks(seat: number): string {
    if (ruleset["blind"] !== true || !active().includes(seat) || looked.has(seat)) {
      return `seat ${seat} cannot look now (AZI-8)`;
    }
    looked.add(seat);
    return "";
  }

  /** Spec: AZI-9, AZI-12. */
  function openBidding(): void {
    const able = activeFrom(deal.first).filter((seat) => at(stacks, seat) > 0);
    for (const seat of active().filter((one) => !able.includes(one))) {
      short.add(seat);
    }
    part = "bidding";
    waiting = able.length < 2 ? [] : able;
    if (waiting.length === 0) {
      openTricks();
    }
  }

  /** Spec: AZI-10, AZI-11. */
  function bidFault(seat: number, call: string, amount: number | null): string {
    const all = at(bids, seat) + at(stacks, seat);
    const top = highest();
    const mayRaise =
      ruleset["raises"] === "three_total"
        ? sum(raises) < MOST_RAISES
        : at(ruleset["raises"] === "three_actions" ? calls : raises, seat) < MOST_RAISES;
    const isAllowed =
      call === "all_in"
        ? all < (top || minBet)
        : top === 0
          ? call === "bet" || (call === "check" && ruleset["opener"] === "may_check")
          : call === "fold" || (call === "call" && all >= top) || (call === "raise" && mayRaise);
    if (!isAllowed) {
      return `seat ${seat} cannot ${call} now (AZI-10, AZI-11)`;
    }
    const isRaise = call === "bet" || call === "raise";
    return (isRaise ? isNumber(amount, Math.max(minBet, top + 1), all) : amount === null)
      ? ""
      : `the amount of this ${call} is wrong (AZI-10)`;
  }

  /** Spec: AZI-9, AZI-12. */
  function bid(seat: number, call: string, amount: number | null): string {
    const fault = bidFault(seat, call, amount);
    if (fault) {
      return fault;
    }
    const top = highest();
    const own = at(bids, seat);
    const to = call === "all_in" ? own + at(stacks, seat) : call === "call" ? top : (amount ?? own);
    add(calls, seat, 1);
    pay(seat, to - own);
    bids[seat] = to;
    waiting.shift();
    if (call === "fold") {
      folded.add(seat);
    } else if (call === "all_in") {
      short.add(seat);
    } else if (amount !== null) {
      raiser = seat;
      add(raises, seat, 1);
    }
    if (to > top) {
      const others = activeFrom(seat).slice(1);
      waiting = others.filter((one) => at(stacks, one) > 0);
      for (const one of others.filter((other) => at(stacks, other) === 0)) {
        short.add(one);
      }
    }
    if (waiting.length === 0) {
      openTricks();
    }
    return "";
  }

  function called(seat: number, call: string, amount: number | null): string {
    if ((part !== "bidding" && part !== "buying") || seat !== waiting[0]) {
      return `seat ${seat} is not to call now (AZI-9, AZI-17)`;
    }
    return part === "bidding" ? bid(seat, call, amount) : buy(seat, call, amount);
  }

  // Tricks.

  /** Spec: AZI-12, AZI-13, AZI-15. */
  function openTricks(): void {
    const order = activeFrom(deal.first);
    const first = raiser ?? order.find((seat) => !short.has(seat)) ?? at(order, 0);
    if (order.length === 1) {
      win(first);
      return;
    }
    part = "tricks";
    leader = first;
    waiting = activeFrom(first);
    told.push(said("story.azi.tricks", { n: bank(), seat: first }));
  }

  /** Spec: AZI-8, AZI-13. */
  function shown(cards: readonly SeatCard[]): string {
    const [seat, card] = at(cards, 0);
    const led = suitOf(laid[0]?.[1] ?? "");
    if (part !== "tricks" || cards.length !== 1 || seat !== waiting[0]) {
      return `seat ${seat} cannot show these cards now (AZI-13)`;
    }
    if (ruleset["blind"] === true && !looked.has(seat)) {
      return `seat ${seat} has not looked at its cards (AZI-8)`;
    }
    if (!playable([...hand(seat)], led, trumps, ruleset["must_trump"] === true).includes(card)) {
      return `seat ${seat} cannot show ${card} to this lead (AZI-13)`;
    }
    hand(seat).delete(card);
    laid.push([seat, card]);
    waiting.shift();
    if (waiting.length === 0) {
      endTrick();
    }
    return "";
  }

  /** Spec: AZI-14, AZI-15. */
  function endTrick(): void {
    const led = suitOf(at(laid, 0)[1]);
    const strength = ([, card]: SeatCard): number => strengthOf(card, led, turned, sixOnStage);
    const [taker] = laid.reduce((a, b) => (strength(b) > strength(a) ? b : a));
    tricks.push(taker);
    told.push(said("story.trick", { n: tricks.length, seat: taker }));
    laid = [];
    if (tricks.filter((seat) => seat === taker).length === TO_WIN) {
      win(taker);
    } else if (tricks.length === TRICKS) {
      carryOver();
    } else {
      waiting = activeFrom(taker);
    }
  }

  // The bank.

  /** Spec: AZI-16. */
  function win(seat: number): void {
    const paid = short.has(seat)
      ? shortPayment(ruleset["all_in"] === "capped", contributions, seat, active())
      : contributions.map((_, one) => (one === seat ? bank() : 0));
    decide(seat, paid);
    told.push(said("story.azi.won", { seat }));
    paid.forEach((chips, one) => {
      if (chips > 0) {
        told.push(said("story.azi.gets", { seat: one, n: chips }));
      }
      add(stacks, one, chips);
    });
    contributions.fill(0);
    part = "end";
  }

  /** Spec: AZI-17. */
  function carryOver(): void {
    decide(null, []);
    told.push(said("story.azi.carried", { n: bank() }));
    price = Math.floor(bank() / 2);
    part = "buying";
    waiting =
      ruleset["azi"] === "half_bank"
        ? from(deal.first, n).filter((seat) => players.includes(seat) && !tricks.includes(seat) && at(stacks, seat) >= price)
        : [];
    endBuying();
  }

  function buy(seat: number, call: string, amount: number | null): string {
    if ((call !== "buy_in" && call !== "stay_out") || amount !== null) {
      return `seat ${seat} says neither buy_in nor stay_out (AZI-17)`;
    }
    if (call === "buy_in") {
      pay(seat, price);
      bought.push(seat);
    }
    waiting.shift();
    endBuying();
    return "";
  }

  function endBuying(): void {
    if (waiting.length === 0) {
      part = "end";
    }
  }

  function decide(seat: number | null, paid: readonly number[]): void {
    score = {
      azi: seat === null,
      bank: bank(),
      contributions: bySeat(contributions),
      folded: [...folded].sort(),
      leader,
      paid: bySeat(paid),
      tricks,
      winner: seat,
    };
  }

  /** Spec: AZI-17, AZI-18. */
  function result(): Match {
    const who = winner();
    const rich = range(n).filter((seat) => at(stacks, seat) > 0);
    const last = who ?? (match["winner"] as number | null);
    const carried =
      ruleset["azi"] === "all_ante"
        ? range(n).filter((seat) => at(stacks, seat) > 0 || at(contributions, seat) > 0)
        : [...tricks, ...bought].sort();
    return {
      first: last === null ? null : (last + 1) % n,
      match: {
        bank: bank(),
        contributions: bySeat(contributions),
        players: who === null ? carried : rich,
        stacks,
        winner: last,
      },
      score: { ...score, bought: [...bought].sort() },
      winner: who !== null && rich.length === 1 ? at(rich, 0) : null,
    };
  }

  if (match["bank"] === 0 || ruleset["azi"] === "all_ante") {
    for (const seat of players) {
      pay(seat, Math.min(ruleset["ante"] as number, at(stacks, seat)));
    }
  }
  waiting = ruleset["cards"] === 4 ? [...players] : [];
  if (waiting.length === 0) {
    openBidding();
  }

  return {
    told,
    shown,
    thrown,
    looked: looks,
    called,
    turn: () => (part === "throws" ? waiting : waiting.slice(0, 1)),
    due: () => (part === "end" ? CLOSED : ""),
    result,
    hands: () => hands.map((cards) => [...cards]),
    laid: () => laid.map(([seat, card]) => ({ seat, card, hidden: false })),
    counts: () => ({
      bank: bank(),
      highest: highest(),
      stacks: [...stacks],
      bids: [...bids],
      tricks: range(n).map((seat) => tricks.filter((one) => one === seat).length),
    }),
  };
}

export const azi: PlayRules = {
  options: {
    all_in: ["capped", "proportional"],
    ante: { least: 1, most: 1_000_000 },
    azi: ["all_ante", "half_bank", "three_only"],
    min_bet: { least: 1, most: 1_000_000 },
    must_trump: [true, false],
    opener: ["must_bet", "may_check"],
    raises: ["three_per_player", "three_total", "three_actions"],
    stack: { least: 1, most: 1_000_000_000 },
  },
  throwsTogether: true,
  fresh,
  matchFault,
  sitsOut: ({ players, stacks }) =>
    new Set([...(stacks as number[]).keys()].filter((seat) => !(players as number[]).includes(seat))),
  begin,
};
