/** The play of Azi: tricks, bids, and the money to the last chip. Spec: AZI-5..19. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { azi, playable, strengthOf } from "../src/verify/play/azi.ts";
import { shortPayment } from "../src/verify/play/azi_bank.ts";
import type { Deal, Match, Play, Ruleset } from "../src/verify/play/base.ts";
import { breaks, dealt, defaults, move, moves } from "./playing.ts";

const NUMBERS: Ruleset = { ante: 10, min_bet: 10, stack: 1000, cards: 3, blind: false, six_on_stage: true };
const HANDS = ["6D 7D 8D", "9D 10D JD", "6S 7S 8S", "9S 10S JS", "QD QS KD", "AD AS KS"];

function begin(seats: number, given: Ruleset = {}, match?: Match, more: Partial<Deal> = {}, hands = HANDS): Play {
  const ruleset = defaults(azi, { ...NUMBERS, ...given });
  return azi.begin(ruleset, match ?? azi.fresh(ruleset, seats), dealt(hands.slice(0, seats), { turned: "9H", ...more }));
}

const after = (play: Play): Match => play.result()["match"] as Match;
const score = (play: Play): Match => play.result()["score"] as Match;

test("A-T1, A-T2, A-T3: who takes a trick", () => {
  const taker = (cards: string, turned: string, sixOnStage = true): string => {
    const laid = cards.split(" ");
    const led = laid[0]?.slice(-1) ?? "";
    return laid.reduce((a, b) => (strengthOf(b, led, turned, sixOnStage) > strengthOf(a, led, turned, sixOnStage) ? b : a));
  };
  assert.equal(taker("KD AD 6H", "7H"), "6H");
  assert.equal(taker("KD 7D 6H", "7H"), "6H");
  assert.equal(taker("KH 6H QH", "AH"), "6H");
  assert.equal(taker("AH 6H QH", "AH"), "6H");
  assert.equal(taker("KH 6H QH", "AH", false), "KH");
  assert.equal(taker("KH 6H QH", "QH"), "KH");
  assert.equal(taker("9S 6H KH", "AH"), "6H");
  assert.equal(taker("6D 8S AD", "AH"), "AD");
  assert.equal(taker("10D 9D JD", "AH"), "JD");
});

test("A-T4: what may be shown to a lead", () => {
  const may = (cards: string, mustTrump = true): string => playable(cards.split(" "), "D", "H", mustTrump).join(" ");
  assert.equal(may("6D AH KS"), "6D");
  assert.equal(may("AH 7H KS"), "AH 7H");
  assert.equal(may("AH 7H KS", false), "AH 7H KS");
  assert.equal(may("9S KS 10S"), "9S KS 10S");
  assert.equal(playable(["6D", "AH"], "", "H", true).length, 2);
});

test("A-T5: two tricks win, three takers are azi", () => {
  const hands = ["AD 6S 7S", "6D AS 6C", "7D 8S AC"];
  const three = moves(begin(3, { azi: "three_only" }, undefined, {}, hands), "0 bet 10", "1 call", "2 call");
  moves(three, "0 shows AD", "1 shows 6D", "2 shows 7D", "0 shows 6S", "1 shows AS", "2 shows 8S", "1 shows 6C");
  assert.deepEqual(three.laid(), [{ seat: 1, card: "6C", hidden: false }]);
  moves(three, "2 shows AC", "0 shows 7S");
  assert.deepEqual(three.result(), {
    first: null,
    match: { bank: 60, contributions: { 0: 20, 1: 20, 2: 20 }, players: [0, 1, 2], stacks: [980, 980, 980], winner: null },
    score: { azi: true, bank: 60, bought: [], contributions: { 0: 20, 1: 20, 2: 20 }, folded: [], leader: 0, paid: {}, tricks: [0, 1, 2], winner: null },
    winner: null,
  });
  const two = moves(begin(2), "0 bet 10", "1 call", "0 shows 6D", "1 shows 9D", "1 shows 10D", "0 shows 7D");
  assert.equal(two.due(), "hand.closed");
  assert.deepEqual(two.turn(), []);
  assert.deepEqual(score(two)["tricks"], [1, 1]);
  assert.deepEqual(after(two), { bank: 0, contributions: {}, players: [0, 1], stacks: [980, 1020], winner: 1 });
  assert.equal(two.result()["first"], 0);
  assert.deepEqual(two.told.map((one) => one.key.slice(6)), ["azi.tricks", "trick", "trick", "azi.won", "azi.gets"]);
});

test("A-T6: bids, the leader and the bank", () => {
  const play = moves(begin(3), "0 bet 10", "1 raise 20", "2 call", "0 raise 40", "1 call", "2 fold");
  assert.deepEqual(play.counts(), { bank: 130, highest: 40, stacks: [950, 950, 970], bids: [40, 40, 20], tricks: [0, 0, 0] });
  assert.deepEqual(play.turn(), [0]);
});

test("A-T7: what a short winner leaves", () => {
  assert.deepEqual(shortPayment(true, [50, 100, 100], 0, [0, 1, 2]), [150, 50, 50]);
  assert.deepEqual(shortPayment(false, [50, 100, 100], 0, [0, 1, 2]), [125, 63, 62]);
  assert.deepEqual(shortPayment(true, [50, 100, 30], 0, [0, 1]), [130, 50, 0]);
  assert.deepEqual(shortPayment(true, [20, 80, 80, 10], 0, [0, 1, 2]), [70, 60, 60, 0]);
  // 34 * 7 / 10 is 23; of the rest 4, 4 and 2; one is left.
  assert.deepEqual(shortPayment(false, [10, 7, 10, 7], 1, [0, 1, 2, 3]), [5, 23, 4, 2]);
  assert.deepEqual(shortPayment(false, [10, 7, 10, 7], 1, [1, 3]), [4, 23, 4, 3]);
  assert.deepEqual(shortPayment(false, [10, 7, 10, 7], 1, [1]), [4, 24, 4, 2]);
  // Two are left, for two seats.
  assert.deepEqual(shortPayment(false, [4, 5, 5, 5], 0, [0, 1, 2, 3]), [15, 2, 1, 1]);
  assert.deepEqual(shortPayment(false, [5, 8, 8, 8], 0, [0, 2, 3]), [18, 3, 4, 4]);
  // Products of more than 53 bits: who has paid most gets all, to the last chip.
  assert.deepEqual(shortPayment(false, [999_999_878, 999_999_505, 999_999_251], 0, [0, 1, 2]), [2_999_998_634, 0, 0]);
});

test("A-T8: the bank after azi among four", () => {
  const hands = ["AD 6S 7S", "6D AS 6C", "7D 8S AC", "8D 9S 7C"];
  const azi4 = (azi: string): Play =>
    moves(
      begin(4, { azi, ante: 10 }, undefined, {}, hands),
      "0 bet 10", "1 raise 27", "2 raise 28", "3 call", "0 call", "1 call",
      "2 shows 7D", "3 shows 8D", "0 shows AD", "1 shows 6D", "0 shows 6S", "1 shows AS", "2 shows 8S", "3 shows 9S", "1 shows 6C", "2 shows AC", "3 shows 7C", "0 shows 7S",
    );
  const half = azi4("half_bank");
  assert.deepEqual([half.counts()["bank"], half.turn(), half.due()], [152, [3], ""]);
  breaks(half, "3 call", "AZI-17");
  moves(half, "3 buy_in");
  assert.deepEqual([after(half)["bank"], after(half)["players"], score(half)["bought"]], [228, [0, 1, 2, 3], [3]]);
  const out = moves(azi4("half_bank"), "3 stay_out");
  assert.deepEqual([after(out)["bank"], after(out)["players"]], [152, [0, 1, 2]]);
  // Asked if it has just the price, not if it has a chip less.
  const stacks = (n: number): Match => ({ bank: 0, contributions: {}, players: [0, 1, 2, 3], stacks: [1000, 1000, 1000, n], winner: 0 });
  const taken = (n: number): Play =>
    moves(
      begin(4, { azi: "half_bank", stack: (3000 + n) / 4 }, stacks(n), {}, hands),
      "0 bet 10", "1 call", "2 call", "3 fold", "0 shows AD", "1 shows 6D", "2 shows 7D", "0 shows 6S", "1 shows AS", "2 shows 8S", "1 shows 6C", "2 shows AC", "0 shows 7S",
    );
  assert.deepEqual([taken(45).counts()["bank"], taken(45).turn(), taken(44).turn(), taken(44).due()], [70, [3], [], "hand.closed"]);
  breaks(azi4("half_bank"), "3 buy_in 76", "AZI-17");
  assert.deepEqual(after(azi4("all_ante"))["players"], [0, 1, 2, 3]);
  assert.deepEqual(after(azi4("three_only"))["players"], [0, 1, 2]);
  // The next hand: antes again only with all_ante.
  assert.equal(begin(4, { azi: "all_ante" }, after(azi4("all_ante"))).counts()["bank"], 192);
  assert.equal(begin(4, { azi: "half_bank" }, after(half)).counts()["bank"], 228);
  const three = begin(4, { azi: "three_only" }, after(azi4("three_only")), { first: 3 });
  assert.deepEqual([three.counts()["bank"], three.turn()], [152, [0]]);
  assert.deepEqual([...azi.sitsOut(after(azi4("three_only")))], [3]);
  breaks(three, "3 fold", "AZI-9");
});

test("AZI-7: each player throws one of four, in any order", () => {
  const four = ["6D 7D 8D 9D", "10D JD QD KD"];
  const play = begin(2, { cards: 4 }, undefined, {}, four);
  assert.deepEqual(play.turn(), [0, 1]);
  breaks(begin(2, { cards: 4 }, undefined, {}, four), "0 throws 6D 7D", "AZI-7");
  breaks(begin(2, { cards: 4 }, undefined, {}, four), "0 throws 10D", "AZI-7");
  breaks(begin(2, { cards: 4 }, undefined, {}, four), "0 bet 10", "AZI-9");
  moves(play, "1 throws JD");
  assert.deepEqual(play.turn(), [0]);
  breaks(moves(begin(2, { cards: 4 }, undefined, {}, four), "1 throws JD"), "1 throws QD", "AZI-7");
  moves(play, "0 throws 6D");
  assert.deepEqual(play.turn(), [0]);
  breaks(play, "0 throws 7D", "AZI-7");
  breaks(begin(2), "0 throws 6D", "AZI-7");
});

test("AZI-8: looking", () => {
  const blind = (): Play => begin(3, { blind: true });
  breaks(begin(3), "0 looks", "AZI-8");
  breaks(moves(blind(), "1 looks"), "1 looks", "AZI-8");
  breaks(moves(blind(), "0 bet 10", "1 fold"), "1 looks", "AZI-8");
  const play = moves(blind(), "2 looks", "0 bet 10", "1 call", "2 call");
  breaks(play, "0 shows 6D", "AZI-8");
  moves(play, "0 looks", "0 shows 6D", "1 looks", "1 shows 9D", "2 shows 6S");
});

test("AZI-9, AZI-10, AZI-11: what can be bid", () => {
  for (const line of ["0 check", "0 call", "0 fold", "0 all_in", "0 raise 20", "1 bet 10"]) breaks(begin(3), line, "AZI-(9|10)");
  for (const line of ["0 bet", "0 bet 9", "0 bet 991"]) breaks(begin(3), line, "AZI-10");
  moves(begin(3), "0 bet 990");
  const bet = (given: Ruleset = {}): Play => moves(begin(3, given), "0 bet 10");
  for (const line of ["1 check", "1 bet 20", "1 all_in", "1 raise 10", "1 raise", "1 call 10", "2 call", "1 buy_in"]) breaks(bet(), line, "AZI-(9|10)");
  // Less than the highest bid, though more than the least one: all in, and no call.
  const poor = (): Play => moves(begin(3, { azi: "all_ante" }, { bank: 0, contributions: {}, players: [0, 1, 2], stacks: [1000, 40, 1960], winner: 0 }), "0 bet 31");
  breaks(poor(), "1 call", "AZI-10");
  moves(poor(), "1 all_in");
  const checked = moves(begin(3, { opener: "may_check" }), "0 check", "1 bet 10", "2 call");
  assert.deepEqual(checked.turn(), [0]);
  const all = moves(begin(3, { opener: "may_check" }), "0 check", "1 check", "2 check");
  assert.deepEqual([all.turn(), all.told.at(-1)?.values], [[0], { n: 30, seat: 0 }]);
  // Raises of one seat, of all, and calls of one seat: three.
  const raised = (raises: string): Play => moves(begin(2, { raises }), "0 bet 10", "1 raise 20", "0 raise 30");
  breaks(raised("three_total"), "1 raise 40", "AZI-11");
  moves(raised("three_total"), "1 call");
  breaks(moves(raised("three_per_player"), "1 raise 40", "0 raise 50", "1 raise 60"), "0 raise 70", "AZI-11");
  const calls = (): Play => moves(begin(3, { raises: "three_actions" }), "0 bet 10", "1 call", "2 raise 20", "0 call", "1 raise 30", "2 call", "0 raise 40", "1 call", "2 raise 50");
  breaks(calls(), "0 raise 60", "AZI-11");
  moves(calls(), "0 call", "1 call");
});

test("AZI-9, AZI-12, AZI-16: seats without chips", () => {
  const match = (stacks: number[], contributions: Match, bank: number): Match => ({ bank, contributions, players: [0, 1, 2], stacks, winner: 2 });
  // Nobody can bid: only seat 1 has chips after the antes; it leads.
  const none = begin(3, { stack: 20, azi: "all_ante" }, match([10, 20, 10], { 0: 5, 1: 5, 2: 10 }, 20), { first: 2 });
  assert.deepEqual([none.turn(), none.counts()["bank"]], [[1], 50]);
  // All in for less than a bet is no raise: who leads is the first that is not short.
  const low = begin(3, { stack: 20, azi: "half_bank", min_bet: 10 }, match([5, 15, 15], { 0: 15, 1: 5, 2: 5 }, 25), { first: 0 });
  breaks(begin(3, { stack: 20, azi: "half_bank", min_bet: 10 }, match([5, 15, 15], { 0: 15, 1: 5, 2: 5 }, 25), { first: 0 }), "0 bet 5", "AZI-10");
  moves(low, "0 all_in", "1 call", "2 call");
  assert.deepEqual(low.told.at(-1)?.values, { n: 40, seat: 1 });
  // A call with the last chip is not short until somebody bids more.
  const last = (): Play => moves(begin(3, { stack: 20, azi: "half_bank" }, match([10, 15, 15], { 0: 10, 1: 5, 2: 5 }, 20), { first: 2 }), "2 bet 10", "0 call");
  const won = moves(last(), "1 fold", "2 shows 6S", "0 shows 6D", "2 shows 7S", "0 shows 7D");
  assert.deepEqual(score(won)["paid"], { 2: 40 });
  const short = moves(last(), "1 raise 15", "2 fold");
  assert.deepEqual(short.turn(), [1]);
  const hands = ["AD AS 8D", "9D 10D JD", "6S 7S 8S"];
  const play = moves(begin(3, { stack: 30, azi: "half_bank" }, match([10, 30, 30], { 0: 10, 1: 5, 2: 5 }, 20), { first: 2 }, hands), "2 bet 10", "0 call", "1 raise 25", "2 call");
  moves(play, "1 shows 9D", "2 shows 6S", "0 shows AD", "0 shows AS", "1 shows 10D", "2 shows 7S");
  assert.deepEqual([score(play)["paid"], score(play)["contributions"]], [{ 0: 60, 1: 10, 2: 10 }, { 0: 20, 1: 30, 2: 30 }]);
});

test("all fold but one: no card is shown", () => {
  const play = moves(begin(3), "0 bet 10", "1 fold", "2 fold");
  assert.deepEqual(play.result(), {
    first: 1,
    match: { bank: 0, contributions: {}, players: [0, 1, 2], stacks: [1020, 990, 990], winner: 0 },
    score: { azi: false, bank: 40, bought: [], contributions: { 0: 20, 1: 10, 2: 10 }, folded: [1, 2], leader: null, paid: { 0: 40 }, tricks: [], winner: 0 },
    winner: null,
  });
});

test("AZI-18: who has all chips has won the match", () => {
  const match: Match = { bank: 0, contributions: {}, players: [0, 1], stacks: [10, 2990, 0], winner: 0 };
  const play = moves(begin(3, {}, match), "1 shows 9D", "0 shows 6D", "1 shows 10D", "0 shows 7D");
  assert.deepEqual([play.result()["winner"], after(play)["players"], after(play)["stacks"]], [1, [1], [0, 3000, 0]]);
});

test("AZI-13: what may not be shown", () => {
  const hands = ["6D 7S 8H", "9D 10S JH", "6S 7H 8S"];
  const play = (given: Ruleset = {}): Play => moves(begin(3, given, undefined, {}, hands), "0 bet 10", "1 call", "2 call");
  for (const line of ["1 shows 9D", "0 shows 9D", "0 shows 6D 7S", "count: 0 6D, 1 9D"]) breaks(play(), line, "AZI-13");
  breaks(moves(play(), "0 shows 6D"), "1 shows 10S", "AZI-13");
  breaks(moves(play(), "0 shows 6D", "1 shows 9D"), "2 shows 6S", "AZI-13");
  moves(play({ must_trump: false }), "0 shows 6D", "1 shows 9D", "2 shows 6S");
  breaks(begin(3, {}, undefined, {}, hands), "0 shows 6D", "AZI-13");
});

test("AZI-19: a match before a hand", () => {
  const fault = (match: Match, given: Ruleset = {}, seats = 3): string => azi.matchFault(defaults(azi, { ...NUMBERS, stack: 100, ...given }), seats, match);
  const fresh = azi.fresh({ stack: 100 }, 3);
  const won: Match = { bank: 0, contributions: {}, players: [0, 2], stacks: [100, 0, 200], winner: 2 };
  const bank: Match = { bank: 60, contributions: { 0: 20, 1: 20, 2: 20 }, players: [0, 1, 2], stacks: [80, 80, 80], winner: null };
  const later: Match = { bank: 60, contributions: { 0: 10, 1: 10, 2: 40 }, players: [0, 1, 2], stacks: [190, 50, 0], winner: 1 };
  for (const match of [fresh, won, bank, later]) assert.equal(fault(match), "", JSON.stringify(match));
  const bad: [Match, Ruleset?, number?][] = [
    [{}],
    [{ ...fresh, more: 1 }],
    [{ ...fresh, players: [0, 1] }],
    [{ ...fresh, stacks: [100, 100, 99] }],
    [{ ...fresh, stacks: [90, 100, 110] }],
    [{ ...fresh, contributions: [] }],
    [{ ...fresh, contributions: { 0: 0 } }],
    [{ ...fresh, winner: 3 }],
    [{ ...won, players: [2, 0] }],
    [{ ...won, players: [0, 0, 2] }],
    [{ ...won, players: [0, 1, 2] }],
    [{ ...won, winner: 1 }],
    [{ ...won, stacks: [0, 0, 300], players: [2] }],
    [{ ...won, stacks: [-100, 0, 400] }],
    [{ ...bank, bank: 59 }],
    [{ ...bank, contributions: { 0: 20, 1: 20, 3: 20 } }],
    [{ ...bank, contributions: { 0: 20, 1: 20, "02": 20 } }],
    [{ ...bank, contributions: { 0: 20, 1: 20, 2: 19 } }],
    [{ ...bank, players: [0, 1] }],
    [{ ...bank, stacks: [70, 90, 80] }],
    [{ ...bank, contributions: { 0: 30, 1: 30 }, players: [0, 1, 2] }],
    [{ ...bank, contributions: { 0: 30, 1: 25, 2: 5 }, stacks: [70, 75, 95] }],
    [{ ...later, winner: 0, contributions: { 1: 20, 2: 40 }, players: [1, 2] }],
    [{ ...bank, winner: "1" }],
    [{ ...bank, players: [0, 1] }, { azi: "half_bank" }],
  ];
  for (const [match, given, seats] of bad) assert.match(fault(match, given, seats), /\(AZI-19\)$/, JSON.stringify(match));
  const four: Match = { bank: 80, contributions: { 0: 20, 1: 20, 2: 20, 3: 20 }, players: [0, 1, 2], stacks: [80, 80, 80, 80], winner: null };
  assert.match(fault(four, { azi: "all_ante" }, 4), /AZI-19/);
  for (const option of ["half_bank", "three_only"]) assert.equal(fault(four, { azi: option }, 4), "");
  assert.match(fault({ ...four, players: [0, 1, 2, 3] }, { azi: "three_only" }, 4), /AZI-19/);
  for (const option of ["half_bank", "all_ante"]) assert.equal(fault({ ...four, players: [0, 1, 2, 3] }, { azi: option }, 4), "");
});

test("a move that Azi does not have", () => {
  for (const line of ["back", "pares: 0"]) assert.equal(move(begin(2), line), "no such move");
});
