/** The play of Kozel: worked examples, and what each requirement forbids. Spec: KOZ-8..20. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Match, Play, Ruleset } from "../src/verify/play/base.ts";
import { holdsBeat, isBeat, kozel, penaltyOf } from "../src/verify/play/kozel.ts";
import { breaks, dealt, defaults, move, moves } from "./playing.ts";

const FRESH: Match = { defeat: [0, 0], doubled: false, eggs: false, leader: null };
const PLAIN: Ruleset = { discards: "hidden" };

function begin(hands: readonly string[], given: Ruleset = {}, match: Match = FRESH, turned = "9H", stock = 0): Play {
  return kozel.begin(defaults(kozel, { ...PLAIN, ...given }), match, dealt(hands, { turned, stock }));
}

const beats = (cards: string, best: string, led: string, trumps: string): boolean =>
  isBeat(cards.split(" "), best.split(" "), led, trumps);

test("K-T1, K-T2, K-T4: what beats what", () => {
  const cases: [cards: string, best: string, led: string, trumps: string, right: boolean][] = [
    ["9H", "7H", "H", "D", true],
    ["10C", "QC", "C", "H", true],
    ["6H", "AS", "S", "H", true],
    ["AS", "10D", "D", "H", false],
    ["10D", "AS", "S", "H", false],
    ["9D JS", "QS 7S", "S", "D", true],
    ["KD QS", "9D JS", "S", "D", true],
    ["KD 8D", "9D JS", "S", "D", true],
    ["8D AS", "9D JS", "S", "D", false],
    ["6D AS", "9D JS", "S", "D", false],
    ["10C 6H", "KC 9C", "C", "H", true],
    ["AC 7H", "10C 6H", "C", "H", true],
    ["AC KC", "10C 6H", "C", "H", false],
    ["JS QS KS 6H", "6S 7S 8S 9S", "S", "H", true],
    ["JS QS KS 10S", "6S 7S 8S AS", "S", "H", false],
  ];
  for (const [cards, best, led, trumps, right] of cases) assert.equal(beats(cards, best, led, trumps), right, `${cards} on ${best}`);
});

test("the sorted comparison says the same as every pairing, and so does holding a beat", () => {
  const deck = ["6S", "9S", "10S", "AS", "6H", "JH", "AH", "QD"];
  const ranks = ["6", "7", "8", "9", "J", "Q", "K", "10", "A"];
  const one = (a: string, b: string): boolean =>
    a.slice(-1) === b.slice(-1) ? ranks.indexOf(a.slice(0, -1)) > ranks.indexOf(b.slice(0, -1)) : a.endsWith("H");
  const choose = (from: readonly string[], k: number): string[][] =>
    k === 0 ? [[]] : from.flatMap((card, i) => choose(from.slice(i + 1), k - 1).map((rest) => [card, ...rest]));
  const paired = (cards: readonly string[], best: readonly string[]): boolean =>
    best.length === 0 || cards.some((card, i) => one(card, best[0] ?? "") && paired(cards.filter((_, j) => j !== i), best.slice(1)));
  let found = 0;
  for (const k of [1, 2, 3]) {
    for (const best of choose(deck.filter((card) => !card.endsWith("D")), k)) {
      const others = deck.filter((card) => !best.includes(card));
      const right = choose(others, k).filter((cards) => paired(cards, best));
      for (const cards of choose(others, k)) assert.equal(isBeat(cards, best, "S", "H"), paired(cards, best), `${cards} on ${best}`);
      assert.equal(holdsBeat(others, best, "S", "H"), right.length > 0);
      found += right.length;
    }
  }
  assert.equal(found > 50, true);
});

test("K-T3: a whole trick, its points and its draw", () => {
  const play = begin(["KC 9C 6D 7D", "10C 6H 8D 9D", "AC 7H JD KD", "QD 8S 10D AD"], {}, FRESH, "9H", 20);
  assert.deepEqual(play.turn(), [0]);
  moves(play, "0 shows KC 9C", "1 shows 10C 6H", "2 shows AC 7H", "3 throws QD 8S");
  assert.equal(play.due(), "cards.drawn");
  assert.deepEqual(play.turn(), []);
  assert.deepEqual(play.counts(), { stock: 20, points: [28, 0], tricks: [1, 0] });
  const [c, d] = ["6C,7C,8C,JC,QC,8H,9H,JH".split(","), [2, 3, 0, 1, 2, 3, 0, 1]];
  const draw = (seats: number[]): string => seats.map((seat, i) => `${seat} draws ${c[i] ?? ""}`).join(", ");
  const wrong = begin(["KC 9C 6D 7D", "10C 6H 8D 9D", "AC 7H JD KD", "QD 8S 10D AD"], {}, FRESH, "9H", 20);
  moves(wrong, "0 shows KC 9C", "1 shows 10C 6H", "2 shows AC 7H", "3 throws QD 8S");
  breaks(wrong, draw([0, 1, 2, 3, 0, 1, 2, 3]), "KOZ-16");
  moves(play, draw(d));
  assert.deepEqual(play.turn(), [2]);
  assert.equal(play.due(), "");
  assert.equal(play.counts()["stock"], 12);
  assert.deepEqual(play.told.map((one) => one.key.slice(12)), ["led", "beat", "beat", "trick"]);
  assert.deepEqual(play.told.at(-1)?.values, { n: 1, seat: 2, points: 28 });
});

test("K-T5: a pull, and a nearer one", () => {
  const hands = ["7S 6C 7C 8C", "6D 9C JC QC", "8S 9S JS QS", "9D 10D JD KD"];
  const play = begin(hands, {}, FRESH, "9H", 20);
  moves(play, "0 shows 7S", "1 throws 6D");
  assert.deepEqual(play.laid(), [{ seat: 0, card: "7S", hidden: false }, { seat: 1, card: "6D", hidden: true }]);
  moves(play, "back");
  assert.deepEqual([play.turn(), play.laid(), play.due()], [[], [], ""]);
  assert.deepEqual(play.hands()[1]?.toSorted(), ["6D", "9C", "JC", "QC"]);
  moves(play, "3 shows 9D 10D JD KD");
  assert.deepEqual(play.turn(), [0]);
  moves(play, "back", "2 shows 8S 9S JS QS");
  assert.deepEqual(play.turn(), [3]);
  breaks(play, "back", "KOZ-15"); // seat 3 is farther
});

test("KOZ-14, KOZ-15: who may not pull", () => {
  const hands = ["7S 6C 7C 8C", "6D 9C JC QC", "8S 9S JS QS", "9D 10D JD KD"];
  const four = ["6C 7C 8C 9C", "6D 7D 8D 9D", "8S 9S JS QS", "JD 10D KD AD"];
  breaks(begin(hands), "1 shows 6D", "KOZ-14");
  breaks(begin(hands), "back", "KOZ-15"); // no card lies
  breaks(begin(hands, { pull: "off" }), "3 shows 9D 10D JD KD", "KOZ-14");
  breaks(begin(hands, { pull: "trumps_only" }), "3 shows 9D 10D JD KD", "KOZ-14");
  moves(begin(hands, { pull: "trumps_only" }, FRESH, "6D"), "3 shows 9D 10D JD KD");
  breaks(moves(begin(hands), "0 shows 7S"), "3 shows 9D 10D JD KD", "KOZ-11"); // the cards have not gone back
  breaks(moves(begin(four), "0 shows 6C 7C 8C 9C"), "back", "KOZ-15"); // four were led
  const answered = moves(begin(hands), "3 shows 9D 10D JD KD", "0 throws 7S 6C 7C 8C");
  breaks(answered, "back", "KOZ-15");
  const back = (): Play => moves(begin(hands), "0 shows 7S", "back");
  breaks(back(), "back", "KOZ-15");
  breaks(back(), "1 shows 6D 9C JC QC", "KOZ-14");
  breaks(back(), "3 shows 9D 10D JD", "KOZ-15");
  breaks(back(), "0 throws 7S", "KOZ-11");
  moves(back(), "2 shows 8S 9S JS QS");
});

test("KOZ-8, KOZ-10, KOZ-11, KOZ-13: what a seat may not show or throw", () => {
  const hands = ["7S 8S 7C 8C", "9S 6S 9D JC", "10D AD 9C JS", "QD KD 6C QC"];
  breaks(begin(hands), "0 shows 7S 7C", "KOZ-10");
  breaks(begin(hands), "0 shows 9S", "KOZ-8");
  breaks(begin(hands), "0 shows 7S 7S", "KOZ-8");
  breaks(begin(hands), "0 throws 7S", "KOZ-11");
  breaks(begin(hands), "count: 0 7S, 1 9S", "KOZ-8");
  const led = (given: Ruleset = {}): Play => moves(begin(hands, given), "0 shows 7S");
  breaks(led(), "2 throws 9C", "KOZ-11");
  breaks(led(), "2 shows JS", "KOZ-11");
  breaks(led(), "1 shows 9S 6S", "KOZ-11");
  breaks(led(), "1 shows 6S", "KOZ-11"); // does not beat
  breaks(led(), "1 throws 7S", "KOZ-8");
  moves(led(), "1 throws 9S");
  breaks(led({ must_beat: true }), "1 throws 6S", "KOZ-13");
  breaks(led({ must_beat: true }), "1 throws 9S", "KOZ-13");
  moves(led({ must_beat: true }), "1 shows 9S", "2 shows JS", "3 throws QD");
  breaks(led({ discards: "open" }), "1 throws 9S", "KOZ-8");
  const open = moves(led({ discards: "open" }), "1 shows 6S", "2 shows JS", "3 shows QD");
  assert.deepEqual(open.told.map((one) => one.key.slice(12)), ["led", "threw", "beat", "threw", "trick"]);
  breaks(led({ discards: "open", must_beat: true }), "1 shows 6S", "KOZ-13");
});

/** A last trick of one card each; seat 1 throws a ten face down. */
const LAST = ["7S", "10D", "8S", "QD"];

test("KOZ-17: what was discarded face down is shown at the count, and nothing else", () => {
  const play = (): Play => moves(begin(LAST), "0 shows 7S", "1 throws 10D", "2 shows 8S", "3 throws QD");
  assert.equal(play().due(), "cards.shown");
  breaks(play(), "count: 1 10D", "KOZ-17");
  breaks(play(), "count: 3 10D, 1 QD", "KOZ-17");
  breaks(play(), "count: 1 10D, 3 QD, 0 7S", "KOZ-17");
  assert.equal(moves(play(), "count: 1 10D, 3 QD").due(), "hand.closed");
  const none = moves(begin(["7S", "8S", "9S", "JS"]), "0 shows 7S", "1 shows 8S", "2 shows 9S", "3 shows JS");
  assert.equal(none.due(), "hand.closed");
});

test("K-T6: the penalty of a team", () => {
  const found = [[61, 1], [60, 1], [59, 1], [31, 1], [30, 4], [0, 1], [0, 0]].map(([points = 0, tricks = 0]) => penaltyOf(points, tricks));
  assert.deepEqual(found, [0, 0, 2, 2, 4, 4, 6]);
});

test("K-T7, KOZ-18, KOZ-19: the result", () => {
  const end = (match: Match, given: Ruleset = {}): Match =>
    moves(begin(LAST, given, match), "0 shows 7S", "1 throws 10D", "2 shows 8S", "3 throws QD", "count: 1 10D, 3 QD").result();
  // A deck so short gives team 0 thirteen points and team 1 none.
  assert.deepEqual(end(FRESH), {
    first: 1,
    match: { defeat: [4, 6], doubled: false, eggs: false, leader: 2 },
    score: { penalty: [4, 6], points: [13, 0], tricks: [1, 0] },
    winner: null,
  });
  const at = (defeat: number[], more: Match = {}): Match => ({ ...FRESH, defeat, leader: 0, ...more });
  assert.equal(end(at([2, 6]))["winner"], 0);
  assert.equal(end(at([2, 4]))["winner"], null);
  assert.equal(end(at([0, 4], { eggs: true, doubled: true }))["winner"], 0);
  assert.deepEqual((end(at([0, 4], { eggs: true, doubled: true }))["score"] as Match)["penalty"], [8, 12]);
  assert.deepEqual((end(at([0, 2], { eggs: true }))["match"] as Match)["eggs"], true);
  assert.equal(end(at([0, 0], { eggs: true }), { target: 6 })["winner"], 0);
});

test("60-60: eggs, and the next game double", () => {
  const hands = ["AS 10C JC KD QD", "10S 10D AD QH QS", "KS AH 10H KH AC", "JS JH KC QC JD"];
  const end = (given: Ruleset, match: Match): Play =>
    moves(
      begin(hands, given, match, "9D"),
      "0 shows AS", "1 throws 10S", "2 throws KS", "3 throws JS",
      "0 shows 10C", "1 shows 10D", "2 throws AH", "3 throws JH",
      "1 shows AD", "2 throws 10H", "3 throws KC", "0 throws JC",
      "1 shows QH", "2 shows KH", "3 throws QC", "0 throws KD",
      "2 shows AC", "3 throws JD", "0 throws QD", "1 throws QS",
      "count: 0 JC KD QD, 1 10S QS, 2 KS AH 10H, 3 JS JH KC QC JD",
    );
  const before: Match = { ...FRESH, leader: 0, defeat: [2, 2] };
  const play = end({ eggs: "double_next" }, before);
  assert.deepEqual(play.result(), {
    first: 1,
    match: { defeat: [2, 2], doubled: true, eggs: true, leader: 2 },
    score: { penalty: [0, 0], points: [60, 60], tricks: [3, 2] },
    winner: null,
  });
  assert.deepEqual(play.told.slice(-2).map((one) => one.key), ["story.kozel.points", "story.kozel.eggs"]);
  assert.deepEqual(end({}, before).result()["match"], { defeat: [2, 2], doubled: false, eggs: true, leader: 2 });
});

test("KOZ-10: who leads first", () => {
  assert.deepEqual(begin(LAST).turn(), [0]);
  assert.deepEqual(begin(LAST, { first_leader: "dealer" }).turn(), [3]);
  assert.deepEqual(begin(LAST, { first_leader: "dealer" }, { ...FRESH, leader: 2, defeat: [2, 0] }).turn(), [2]);
});

test("KOZ-20: a match before a hand", () => {
  const fault = (match: Match, given: Ruleset = {}): string => kozel.matchFault(defaults(kozel, given), 4, match);
  const double = { eggs: "double_next" };
  const good: [Match, Ruleset?][] = [
    [FRESH],
    [{ ...FRESH, leader: 1, defeat: [2, 10] }],
    [{ ...FRESH, leader: 1, eggs: true }],
    [{ ...FRESH, leader: 1, eggs: true, doubled: true }, double],
    [{ ...FRESH, leader: 1, eggs: true, defeat: [0, 4] }, double],
  ];
  const bad: [Match, Ruleset?][] = [
    [{}],
    [{ ...FRESH, more: 0 }],
    [{ defeat: [0, 0], doubled: false, eggs: false }],
    [{ ...FRESH, defeat: [2, 0] }],
    [{ ...FRESH, leader: 1 }],
    [{ ...FRESH, leader: 4, defeat: [2, 0] }],
    [{ ...FRESH, leader: "1", defeat: [2, 0] }],
    [{ ...FRESH, leader: 1, defeat: [1, 0] }],
    [{ ...FRESH, leader: 1, defeat: [12, 0] }],
    [{ ...FRESH, leader: 1, defeat: [6, 0] }, { target: 6 }],
    [{ ...FRESH, leader: 1, defeat: [2, -2] }],
    [{ ...FRESH, leader: 1, defeat: [2] }],
    [{ ...FRESH, leader: 1, defeat: [2, 2, 2] }],
    [{ ...FRESH, leader: 1, defeat: [2, 0], eggs: 1 }],
    [{ ...FRESH, leader: 1, defeat: [2, 0], doubled: null }],
    [{ ...FRESH, leader: 1, eggs: true, doubled: true }],
    [{ ...FRESH, leader: 1, defeat: [4, 0], doubled: true }, double],
    [{ ...FRESH, leader: 1, eggs: true, defeat: [2, 2] }, double],
    [{ ...FRESH, doubled: true, eggs: true }, double],
  ];
  for (const [match, given] of good) assert.equal(fault(match, given), "", JSON.stringify(match));
  for (const [match, given] of bad) assert.match(fault(match, given), /\(KOZ-20\)$/, JSON.stringify(match));
});

test("a move that Kozel does not have", () => {
  for (const line of ["0 looks", "0 take 3", "pares: 0"]) assert.equal(move(begin(LAST), line), "no such move");
});
