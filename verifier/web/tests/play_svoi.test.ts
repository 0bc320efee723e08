/** The play of Svoi Kozyri: what beats, what is taken, how it ends. Spec: SVO-4..15. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Match, Play, Ruleset } from "../src/verify/play/base.ts";
import { beats, svoi, takes } from "../src/verify/play/svoi.ts";
import { breaks, dealt, defaults, move, moves } from "./playing.ts";

const FRESH: Match = { draws: 0, wins: [0, 0] };

/** Seat 0 has hearts for trumps, seat 1 spades. */
function begin(hands: readonly [string, string], given: Ruleset = {}, first = 0): Play {
  const trumps = new Map([[0, "H"], [1, "S"]]);
  return svoi.begin(defaults(svoi, given), FRESH, dealt(hands, { trumps, first }));
}

test("S-T1..S-T8: how many cards are taken", () => {
  const cases: [pile: string, trumps: string, right: number][] = [
    ["7C 9C 6D", "H", 3],
    ["7C 9C 6D QS", "H", 3],
    ["7C", "H", 1],
    ["7C 9C 6D QS KH", "H", 5],
    ["6C 7C 9C 6D QS KH", "H", 5],
    ["6C 7C 9C 6D QS KH", "S", 3],
    ["6C 7C 9C 6D QS KH AH", "H", 7],
    ["6C 7C 9C 6D QS KH AH", "S", 3],
  ];
  for (const [pile, trumps, right] of cases) {
    const cards = pile.split(" ");
    assert.equal(takes(cards.at(-1) ?? "", cards.length, trumps), right, pile);
  }
});

test("S-T9: what beats what, to whom", () => {
  const cases: [card: string, top: string, trumps: string, right: boolean][] = [
    ["10C", "9C", "H", true], ["6H", "9C", "H", true], ["6H", "AC", "H", true], ["10H", "9H", "H", true], ["6S", "9H", "H", false],
    ["10H", "9H", "S", true], ["6S", "9H", "S", true], ["8H", "9H", "S", false], ["9C", "9C", "H", false],
  ];
  for (const [card, top, trumps, right] of cases) assert.equal(beats(card, top, trumps), right, `${card} on ${top}`);
});

test("S-T10, SVO-6, SVO-8: leading and beating", () => {
  const hands = ["6H 7S KD 8C", "9C 8S AD 6S"] as const;
  const led = (): Play => moves(begin(hands, {}, 1), "1 shows 9C");
  for (const line of ["0 shows 6H", "1 shows 9C 8S", "1 shows 6H"]) breaks(begin(hands, {}, 1), line, "SVO-[456]");
  breaks(begin(hands, {}, 1), "1 take 1", "SVO-6");
  for (const line of ["0 shows 6H", "0 shows 7S 6H", "0 shows 6H 7S KD", "0 shows 6H 6H", "0 shows 6H AD"]) breaks(led(), line, "SVO-[58]");
  const play = moves(led(), "0 shows 6H 7S");
  assert.deepEqual(play.laid().map((one) => [one.seat, one.card]), [[1, "9C"], [0, "6H"], [0, "7S"]]);
  assert.deepEqual(play.turn(), [1]);
  moves(play, "1 take 3");
  assert.deepEqual(play.hands()[1]?.toSorted(), ["6H", "6S", "7S", "8S", "9C", "AD"]);
  assert.deepEqual(play.told.at(-1), { key: "story.takes", values: { seat: 1, cards: ["9C", "6H", "7S"] } });
  moves(play, "0 shows KD"); // S-T13: the pile is empty
});

test("SVO-9, SVO-10: taking", () => {
  const hands = ["6H 7S KD 8C", "9C 8S AD 6S"] as const;
  const led = (given: Ruleset = {}): Play => moves(begin(hands, given, 1), "1 shows 9C");
  for (const line of ["0 take", "0 take 2", "0 take 3"]) breaks(led(), line, "SVO-9");
  for (const line of ["1 take 1", "0 bet 1"]) breaks(led(), line, "SVO-4");
  moves(led(), "0 take 1");
  breaks(led({ pick_up: "strict" }), "0 take 1", "SVO-10");
  moves(begin(["7D KD", "9C AD"], { pick_up: "strict" }, 1), "1 shows 9C", "0 take 1");
});

test("S-T11, S-T12: going out", () => {
  const end = (mine: string, other: string, ...lines: string[]): Match => moves(begin([mine, other], {}, 1), "1 shows 9C", ...lines).result();
  const both = (other: string): Match => end("6H KD", `9C ${other}`, "0 shows 6H KD");
  assert.deepEqual(both("AD"), { first: 1, match: { draws: 1, wins: [0, 0] }, score: { draw: true, left: [0, 1], reason: "last_card", winner: null }, winner: null });
  assert.deepEqual(both("QD"), { first: 0, match: { draws: 0, wins: [1, 0] }, score: { draw: false, left: [0, 1], reason: "out", winner: 0 }, winner: null });
  assert.equal((both("AD 6C")["score"] as Match)["winner"], 0);
  assert.equal((both("6S")["score"] as Match)["reason"], "last_card"); // its trump, not the other's
  assert.equal((both("6H")["score"] as Match)["reason"], "out");
  assert.equal((end("10C", "9C JC", "0 shows 10C")["score"] as Match)["reason"], "last_card");
  assert.equal((end("10C", "9C 8C", "0 shows 10C")["score"] as Match)["reason"], "out");
  const led = moves(begin(["7C", "8C 9C"]), "0 shows 7C"); // the last card was led
  assert.deepEqual([led.due(), led.turn(), (led.result()["score"] as Match)["winner"]], ["hand.closed", [], 0]);
});

/** After these six moves all is as it was. */
const ROUND = ["0 shows 7D", "1 shows 9D 6C", "0 take 3", "1 shows 8D", "0 shows 9D 6C", "1 take 3"];
const ROUNDING = ["7D KC", "9D 6C 8D AC"] as const;

test("SVO-12: the same position for the third time", () => {
  const play = moves(begin(ROUNDING, { repetition: 3 }), ...ROUND, ...ROUND.slice(0, -1));
  assert.equal(play.due(), ""); // other positions are there for the second time only
  moves(play, "1 take 3");
  assert.equal(play.due(), "hand.closed");
  assert.deepEqual(play.result(), { first: 0, match: { draws: 1, wins: [0, 0] }, score: { draw: true, left: [2, 4], reason: "repetition", winner: null }, winner: null });
});

test("SVO-13: a thousand moves", () => {
  const play = begin(ROUNDING, { repetition: 0 });
  for (let made = 0; made < 1000; made += 1) {
    assert.equal(play.due(), "");
    moves(play, ROUND[made % 6] ?? "");
  }
  assert.equal(play.due(), "hand.closed");
  assert.deepEqual([(play.result()["score"] as Match)["reason"], play.told.at(-1)?.key], ["limit", "story.svoi.limit"]);
});

test("SVO-15: a match before a hand", () => {
  const fault = (match: Match): string => svoi.matchFault({}, 2, match);
  for (const match of [FRESH, { draws: 3, wins: [1, 7] }]) assert.equal(fault(match), "");
  const bad: Match[] = [{}, { draws: 0 }, { ...FRESH, more: 0 }, { draws: -1, wins: [0, 0] }, { draws: 0, wins: [0] }, { draws: 0, wins: [0, 0, 0] }, { draws: "0", wins: [0, 0] }, { draws: 0, wins: [true, 0] }, { draws: null, wins: [0, 0] }];
  for (const match of bad) assert.match(fault(match), /\(SVO-15\)$/, JSON.stringify(match));
});

test("a move that Svoi Kozyri does not have", () => {
  for (const line of ["back", "pares: 0", "0 looks", "0 throws 6H"]) assert.equal(move(begin(["6H 7H", "8S 9S"]), line), "no such move");
});
