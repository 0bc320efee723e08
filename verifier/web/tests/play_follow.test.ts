/** A hand's events told to its play: what is due, who may be named, what is told. Spec: PLAY-1..6. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { HandFile } from "../src/verify/file.ts";
import { follow } from "../src/verify/follow.ts";
import type { Followed } from "../src/verify/follow.ts";
import { tryRead } from "../src/verify/json.ts";
import type { Json } from "../src/verify/outcome.ts";
import type { Ruleset } from "../src/verify/play/base.ts";
import { PLAY } from "../src/verify/play/index.ts";
import { defaults } from "./playing.ts";

type Body = { readonly [field: string]: Json };
type Event = readonly [type: string, body: Body, seconds?: number];

/** The events of a hand; each comes a second after the one before if nothing is said. */
function followed(game: string, given: Ruleset, seats: number, cards: Record<string, string>, events: readonly Event[], more: { opened?: Body; discards?: [number, [number, number][][]][] } = {}): Followed {
  const rules = PLAY.get(game);
  assert.ok(rules);
  const ruleset = defaults(rules, given);
  const all: Event[] = [
    ["table.opened", { game, ruleset, seats, referee: true, timeouts: { turn: 5 } }],
    ["hand.opened", { hand: 1, match: rules.fresh(ruleset, seats), ...more.opened }],
    ...events,
  ];
  let time = Date.UTC(2026, 10, 29);
  const steps = all.map(([type, body, seconds = 1], seq) => {
    time += 1000 * seconds;
    return { type, seq, body: { ...body, at: new Date(time).toISOString() } };
  });
  const [table, opened] = steps;
  const file = { steps, table, opened, last: steps.at(-1), final: true, disclosed: { serverSeed: "", discards: new Map(more.discards) } };
  return follow(file as unknown as HandFile, rules, new Map(Object.entries(cards)));
}

const card = (seat: number | null, position: number, epoch = 0): Body => ({ seat, epoch, position, card: "", salt: "" });
const show = (...cards: Body[]): Event => ["cards.shown", { shown: cards }];

// Svoi Kozyri with two cards each: seat 0 has 6H 7H and hearts, seat 1 9C 8C and spades.
const CARDS = { "0/0": "6H", "0/1": "9C", "0/2": "7H", "0/3": "8C" };
const DEAL: Event[] = [
  ["trumps.declared", { trumps: { 0: "H", 1: "S" } }],
  ["hand.dealt", { first: 1, positions: { 0: [0, 2], 1: [1, 3] }, indicator: null, shown: [] }],
];
const RIGHT: Body = { first: 0, match: { draws: 0, wins: [1, 0] }, score: { draw: false, left: [0, 1], reason: "out", winner: 0 }, winner: null };
const svoi = (...events: Event[]): Followed => followed("svoi", {}, 2, CARDS, [...DEAL, ...events]);
const PLAYED = [show(card(1, 1)), show(card(0, 0), card(0, 2))];

test("a hand from its deal to its result, its story and its scenes", () => {
  const found = svoi(...PLAYED, ["hand.closed", { result: RIGHT }]);
  assert.deepEqual([found.fault, found.unknown], ["", null]);
  assert.deepEqual(found.story, [
    { step: 4, indented: false, said: { key: "story.shows", values: { seat: 1, cards: ["9C"] } } },
    { step: 5, indented: false, said: { key: "story.shows", values: { seat: 0, cards: ["6H", "7H"] } } },
    { step: 5, indented: true, said: { key: "story.svoi.won", values: { seat: 0 } } },
    { step: 6, indented: false, said: { key: "story.score", values: { json: '{"draw":false,"left":[0,1],"reason":"out","winner":0}' } } },
    { step: 6, indented: false, said: { key: "story.match", values: { json: '{"draws":0,"wins":[1,0]}' } } },
  ]);
  assert.deepEqual([...found.scenes.keys()], [3, 4, 5, 6]);
  assert.deepEqual(found.scenes.get(3), { turn: [1], hands: [["6H", "7H"], ["9C", "8C"]], laid: [], counts: {} });
  assert.deepEqual(found.scenes.get(4), { turn: [0], hands: [["6H", "7H"], ["8C"]], laid: [{ seat: 1, card: "9C", hidden: false }], counts: {} });
});

test("PLAY-5: a result that is wrong, or says more or less", () => {
  const end = (result: Body | null): string => svoi(...PLAYED, ["hand.closed", { result }]).fault;
  assert.equal(end(RIGHT), "");
  assert.match(end({ ...RIGHT, first: 1 }), /wrong in first \(PLAY-5\)/);
  assert.match(end({ ...RIGHT, score: { draw: false, left: [0, 1], reason: "out" } }), /wrong in score/);
  assert.match(end({ ...RIGHT, more: null }), /saying too much/);
  assert.match(end(null), /wrong in first, match, score, winner/);
  // As a reader of JSON gives it: an own member of that name.
  const read = tryRead(new TextEncoder().encode(JSON.stringify(RIGHT).replace("{", '{"__proto__":{},')));
  assert.ok(typeof read === "object");
  assert.match(end(read.value as Body), /saying too much/);
});

test("PLAY-1, PLAY-2: the match that a hand begins with", () => {
  const begin = (opened: Body): string => followed("svoi", {}, 2, CARDS, [...DEAL, ...PLAYED, ["hand.closed", { result: RIGHT }]], { opened }).fault;
  assert.match(begin({ match: null }), /PLAY-1/);
  assert.match(begin({ match: { draws: 1, wins: [0, 0] } }), /PLAY-2/);
  assert.match(begin({ hand: 2, match: { draws: 1 } }), /SVO-15/);
  assert.match(begin({ hand: 2, match: { draws: 1, wins: [0, 0] } }), /wrong in match/);
});

test("PLAY-3, PLAY-4: what is not due, what is, and what the game does not have", () => {
  assert.match(svoi(["hand.closed", { result: RIGHT }]).fault, /hand.closed is not due \(PLAY-4\)/);
  assert.match(svoi(...PLAYED, show(card(1, 3))).fault, /hand.closed is due, not cards.shown \(PLAY-3\)/);
  assert.match(svoi(["cards.drawn", { draws: [[0, 0, 0]] }]).fault, /PLAY-4/);
  assert.match(svoi(["play.declared", { what: "pares", seats: [] }]).fault, /PLAY-4/);
  assert.match(svoi(["cards.returned", {}]).fault, /PLAY-3/);
  assert.match(svoi(["cards.looked", { seat: 1 }]).fault, /PLAY-3/);
  assert.match(svoi(show(card(null, 1))).fault, /PLAY-3/);
  assert.match(svoi(["play.called", { seat: 1, call: "take", amount: 1 }]).fault, /SVO-6/);
});

test("PLAY-6: who is named when a turn was not taken in time", () => {
  const abort = (reason: string, missing: number[], seconds: number, ...before: Event[]): string =>
    svoi(...before, ["hand.aborted", { reason, missing }, seconds]).fault;
  assert.equal(abort("turn_timeout", [1], 5), "");
  assert.match(abort("turn_timeout", [1], 4), /PLAY-6/);
  assert.match(abort("turn_timeout", [0], 5), /PLAY-6/);
  assert.match(abort("turn_timeout", [], 5), /PLAY-6/);
  assert.match(abort("turn_timeout", [0, 1], 5), /PLAY-6/);
  assert.match(abort("turn_timeout", [], 5, ...PLAYED), /PLAY-6/); // nobody is on turn
  assert.match(abort("idle", [], 99), /PLAY-6/);
  assert.equal(abort("idle", [], 99, ...PLAYED), "");
  assert.equal(abort("operator", [], 1), "");
  assert.equal(abort("operator", [1], 1), "");
  assert.equal(abort("operator", [0], 1), ""); // whom it may name is no matter of the play
});

test("a card or a discard that is not known ends it without a fault", () => {
  assert.deepEqual(svoi(show(card(1, 9))).unknown, { key: "note.play_card" });
  const kozel = { "0/0": "6H", "0/1": "9C", "0/2": "7H", "0/3": "8C" };
  const deal = (indicator: string): Event => ["hand.dealt", { first: 0, positions: { 0: [0], 1: [1], 2: [2], 3: [3] }, indicator, shown: [] }];
  const throws = (...seats: number[]): Event => ["cards.discarded", { discards: Object.fromEntries(seats.map((seat) => [seat, { count: 1, lock: "" }])) }];
  const play = (events: Event[], discards: [number, [number, number][][]][] = []): Followed => followed("kozel", { discards: "hidden" }, 4, kozel, events, { discards });
  assert.deepEqual(play([deal("9H")]).unknown, { key: "note.play_turned" });
  assert.deepEqual(play([deal("6H"), show(card(0, 0)), throws(1)]).unknown, { key: "note.play_discard" });
  assert.match(play([deal("6H"), show(card(0, 0)), throws(1, 2)], [[1, [[[0, 1]]]], [2, [[[0, 2]]]]]).fault, /PLAY-3/);
  const counted = (...order: number[]): Followed =>
    play(
      [deal("6H"), show(card(0, 0)), throws(1), throws(2), throws(3), show(...order.map((seat) => card(seat, seat)))],
      [[1, [[[0, 1]]]], [2, [[[0, 2]]]], [3, [[[0, 3]]]]],
    );
  assert.equal(counted(1, 2, 3).fault, "");
  assert.match(counted(2, 1, 3).fault, /PLAY-4/); // seats ascend at the count
  assert.match(counted(1, 2).fault, /KOZ-17/);
});

test("PLAY-3: several discards in one event are moves in the order of the turn", () => {
  const rules = PLAY.get("mus");
  assert.ok(rules);
  const cards = Object.fromEntries([..."0123456789abcdef"].map((_, i) => [`0/${i}`, `${[1, 4, 5, 7][Math.floor(i / 4)] ?? 0}${"bceo"[i % 4] ?? ""}`]));
  const positions = Object.fromEntries([0, 1, 2, 3].map((seat) => [seat, [seat, seat + 4, seat + 8, seat + 12]]));
  const call = (seat: number): Event => ["play.called", { seat, call: "mus", amount: null }];
  const all = Object.fromEntries([0, 1, 2, 3].map((seat) => [seat, { count: 1, lock: "" }]));
  const found = followed("mus", { mus_corrido: false }, 4, cards, [
    ["hand.dealt", { first: 2, positions, indicator: null, shown: [] }],
    ...[2, 3, 0, 1].map(call),
    ["cards.discarded", { discards: all }],
  ], { discards: [0, 1, 2, 3].map((seat) => [seat, [[[0, seat]]]]) });
  assert.deepEqual([found.fault, found.unknown], ["", null]);
  // The second discard of a seat is the second that is disclosed.
  const again = followed("mus", { mus_corrido: false }, 4, { ...cards, "0/16": "6b", "0/17": "6c", "0/18": "6e", "0/19": "6o" }, [
    ["hand.dealt", { first: 2, positions, indicator: null, shown: [] }],
    ...[2, 3, 0, 1].map(call),
    ["cards.discarded", { discards: all }],
    ["cards.drawn", { draws: [[2, 0, 16], [3, 0, 17], [0, 0, 18], [1, 0, 19]] }],
    ...[2, 3, 0, 1].map(call),
    ["cards.discarded", { discards: all }],
  ], { discards: [0, 1, 2, 3].map((seat) => [seat, [[[0, seat]], [[0, seat + 4]]]]) });
  assert.deepEqual([again.fault, again.unknown], ["", null]);
  assert.deepEqual(found.story.filter(({ said }) => said.key === "story.throws").map(({ said }) => said.values?.["seat"]), [2, 3, 0, 1]);
});
