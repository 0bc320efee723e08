/** The play of Mus: hands compared, all 91,390 of them counted; talk, lances, count. Spec: MUS-6..26. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Deal, Match, Play, Ruleset } from "../src/verify/play/base.ts";
import { mus } from "../src/verify/play/mus.ts";
import type { Worth } from "../src/verify/play/mus_hands.ts";
import { weigh } from "../src/verify/play/mus_hands.ts";
import { breaks, dealt, defaults, move, moves } from "./playing.ts";

const DECK = [..."bceo"].flatMap((suit) => [1, 2, 3, 4, 5, 6, 7, 10, 11, 12].map((rank) => `${rank}${suit}`));
const WORDS: Readonly<Record<string, number>> = { S: 10, C: 11, K: 12 };

/** A hand by its ranks: K, C and S are king, knight and jack. */
const worth = (ranks: string, eightKings = true, real31 = false): Worth =>
  weigh(ranks.split(" ").map((rank, i) => `${WORDS[rank] ?? rank}${"bceo"[i] ?? ""}`), eightKings, real31);

test("M-T1..M-T18: which hand is better", () => {
  const cases: [lance: "grande" | "chica" | "pares" | "juego", a: string, b: string, right: number, kings?: number][] = [
    ["grande", "K K 7 1", "K C C C", 1],
    ["grande", "3 K 7 1", "K K 7 1", 0],
    ["grande", "3 K 7 1", "K K 7 1", -1, 4],
    ["grande", "3 3 2 2", "K 3 4 1", -1],
    ["chica", "7 1 1 1", "6 5 4 1", 1],
    ["chica", "K 1 1 1", "4 1 1 1", -1],
    ["chica", "2 1 4 5", "1 1 4 5", 0],
    ["chica", "2 2 2 K", "1 1 4 4", 1],
    ["pares", "K K 7 1", "C C S S", -1],
    ["pares", "7 7 7 1", "K K C 1", 1],
    ["pares", "K K 1 1", "C C S S", 1],
    ["pares", "K K K K", "K K C C", 1],
    ["pares", "C C C C", "K K 4 4", -1],
    ["pares", "5 5 K 1", "5 5 C 1", 0],
    ["pares", "3 3 K 1", "7 7 7 4", 1],
    ["pares", "1 1 2 2", "K 3 K 4", 1],
    ["juego", "K C 7 4", "K K K S", 1],
    ["juego", "K K 7 5", "K K K S", 1],
    ["juego", "K K K 7", "K K 7 6", 1],
  ];
  for (const [lance, a, b, right, kings] of cases) {
    const [one, other] = [worth(a, kings !== 4)[lance], worth(b, kings !== 4)[lance]];
    assert.equal(Math.sign(one - other), right, `${lance}: ${a}, ${b}`);
  }
});

test("sums, and the real 31", () => {
  const sums: [string, number, number?][] = [
    ["7 7 7 S", 31], ["K K 3 1", 31], ["K K 3 1", 24, 4], ["K C 6 5", 31], ["3 C 6 6", 32], ["K K 3 3", 40], ["K K 3 7", 37],
    ["K K 3 4", 34], ["K S 7 6", 33], ["7 7 7 7", 28], ["K K 5 5", 30], ["K K 7 2", 28], ["K K 7 2", 29, 4],
  ];
  for (const [hand, sum, kings] of sums) assert.equal(worth(hand, kings !== 4).punto, sum, hand);
  const [real, other] = ["7 7 7 S", "K K S 1"];
  assert.equal(worth(real).juego, worth(other).juego);
  assert.equal(worth(real, true, true).juego > worth(other, true, true).juego, true);
  for (const not of ["7 7 7 C", "7 7 7 K", "7 7 7 3"]) assert.equal(worth(not, true, true).juego, worth(other, true, true).juego, not);
});

test("all hands: pares and juego as often as counted elsewhere", () => {
  const count = (eightKings: boolean): number[] => {
    const pares = [0, 0, 0, 0];
    const sums = new Map<number, number>();
    for (let a = 0; a < 40; a++)
      for (let b = a + 1; b < 40; b++)
        for (let c = b + 1; c < 40; c++)
          for (let d = c + 1; d < 40; d++) {
            const found = weigh([a, b, c, d].map((i) => DECK[i] ?? ""), eightKings, false);
            pares[found.bonus.pares] = (pares[found.bonus.pares] ?? 0) + 1;
            if (found.juego > 0) sums.set(found.punto, (sums.get(found.punto) ?? 0) + 1);
          }
    return [...pares, ...[31, 32, 40, 37, 36, 35, 34, 33].map((sum) => sums.get(sum) ?? 0), sums.size];
  };
  assert.deepEqual(count(true), [39680, 43776, 4448, 3486, 8384, 2640, 1820, 2240, 2240, 2240, 2960, 1920, 8]);
  assert.deepEqual(count(false), [53760, 34560, 1440, 1630, 3040, 2332, 495, 880, 880, 880, 1276, 1936, 8]);
});

const FRESH: Match = { games: [0, 0], score: [0, 0] };
/** M-T20. */
const HANDS = ["12o 3c 7e 1b", "11o 11c 10e 10b", "12c 12e 3b 1o", "7o 7c 7b 4e"];
/** Nobody has pares or juego; seat 3 has the best punto, seat 0 grande and chica. */
const POOR = ["12o 7c 2e 4b", "11o 7e 5e 4c", "11c 6o 5b 4e", "11e 7b 6c 5o"];

function begin(hands: readonly string[] = HANDS, given: Ruleset = {}, match: Match = FRESH, more: Partial<Deal> = {}): Play {
  return mus.begin(defaults(mus, { mus_corrido: false, ...given }), match, dealt(hands, more));
}

const PASSED = ["0 paso", "1 paso", "2 paso", "3 paso"];
const QUIET = ["0 no_mus", ...PASSED, ...PASSED];
const SHOW = (hands: readonly string[]): string => `count: ${hands.map((cards, seat) => `${seat} ${cards}`).join(", ")}`;

test("M-T20: a hand that all pass", () => {
  const pares = HANDS.map((cards) => weigh(cards.split(" "), true, false));
  assert.deepEqual(pares.map((one) => [one.bonus.pares, one.punto]), [[1, 28], [3, 40], [2, 31], [2, 25]]);
  const play = moves(begin(), ...QUIET, "pares: 0 1 2 3", ...PASSED, "juego: 1 2", "1 paso", "2 paso");
  assert.deepEqual([play.due(), play.turn()], ["cards.shown", []]);
  moves(play, SHOW(HANDS));
  assert.equal(play.due(), "hand.closed");
  assert.deepEqual(play.result(), {
    first: 1,
    match: { games: [0, 0], score: [5, 5] },
    score: {
      lances: {
        chica: { bonus: 0, end: "paso", seat: 0, stake: 1, team: 0 },
        grande: { bonus: 0, end: "paso", seat: 2, stake: 1, team: 0 },
        juego: { bonus: 3, end: "paso", seat: 2, stake: 0, team: 0 },
        pares: { bonus: 5, end: "paso", seat: 1, stake: 0, team: 1 },
        punto: null,
      },
      mano: 0,
      points: [5, 5],
    },
    winner: null,
  });
  assert.deepEqual(play.told.map((one) => one.key.slice(10)), ["mano", "best", "best", "best", "best", "score"]);
});

test("M-T21, MUS-10: of equal hands the one nearer to mano", () => {
  const hands = ["12o 12c 7e 1b", "12e 3c 7o 2b", "4o 4c 5e 6b", "4e 4b 5o 6c"];
  for (const first of [0, 1]) {
    const play = moves(begin(hands, {}, FRESH, { first }), `${first} no_mus`, `${first} ordago`, `${first + 1} quiero`);
    moves(play, SHOW(hands));
    const { grande } = (play.result()["score"] as Match)["lances"] as { [name: string]: Match };
    assert.deepEqual(grande, { bonus: 0, end: "ordago", seat: first, stake: 40, team: first % 2 });
  }
});

test("MUS-11, MUS-13: the talk and the discards", () => {
  const talk = (): Play => begin();
  breaks(talk(), "1 mus", "MUS-11");
  breaks(talk(), "0 paso", "MUS-11");
  breaks(talk(), "0 mus 2", "MUS-18");
  breaks(talk(), "0 throws 12o", "MUS-13");
  const four = (): Play => moves(talk(), "0 mus", "1 mus", "2 mus", "3 mus");
  assert.deepEqual(four().turn(), [0]);
  breaks(four(), "0 no_mus", "MUS-11");
  breaks(four(), "1 throws 11o", "MUS-13");
  breaks(four(), "0 throws 11o", "MUS-13");
  breaks(four(), "0 throws 12o 12o", "MUS-13");
  const thrown = (): Play => moves(four(), "0 throws 12o", "1 throws 11o 11c", "2 throws 12c", "3 throws 7o");
  assert.deepEqual([thrown().due(), thrown().turn()], ["cards.drawn", []]);
  breaks(thrown(), "0 draws 2o, 0 draws 2c", "MUS-13");
  const served = moves(thrown(), "0 draws 2o, 1 draws 2c", "1 draws 2e, 2 draws 2b, 3 draws 4o");
  assert.deepEqual([served.due(), served.turn()], ["", [0]]);
  assert.deepEqual(served.hands()[1]?.toSorted(), ["10b", "10e", "2c", "2e"]);
});

test("MUS-12: mus corrido moves mano on, in hand 1 only", () => {
  const rounds = ["0 mus", "1 mus", "2 mus", "3 mus", "0 throws 12o", "1 throws 11o", "2 throws 12c", "3 throws 7o", "0 draws 2o, 1 draws 2c, 2 draws 2e, 3 draws 2b"];
  const play = moves(begin(HANDS, { mus_corrido: true }, FRESH, { hand: 1 }), ...rounds);
  assert.deepEqual(play.turn(), [1]);
  moves(play, "1 mus", "2 no_mus");
  assert.deepEqual([play.turn(), play.counts()["mano"]], [[2], 2]);
  for (const [given, hand] of [[true, 2], [false, 1]] as const) {
    const other = moves(begin(HANDS, { mus_corrido: given }, FRESH, { hand }), ...rounds, "0 mus", "1 no_mus");
    assert.deepEqual([other.turn(), other.counts()["mano"]], [[0], 0]);
  }
});

test("MUS-14, MUS-15: who has pares and juego is declared; one team alone plays no lance", () => {
  const quiet = (): Play => moves(begin(), ...QUIET);
  assert.equal(quiet().due(), "play.declared");
  breaks(quiet(), "pares: 0 1 2", "MUS-14");
  breaks(quiet(), "juego: 1 2", "MUS-14");
  const none = moves(begin(POOR), ...QUIET, "pares:", "juego:", ...PASSED, SHOW(POOR));
  assert.deepEqual((none.result()["score"] as Match)["points"], [2, 1]);
  const alone = ["12o 12c 7e 1b", "11o 7c 5e 4b", "12e 12b 6e 1o", "11e 7b 6c 5o"];
  const play = moves(begin(alone), ...QUIET, "pares: 0 2", "juego:");
  assert.deepEqual(play.told.at(-1), { key: "story.mus.alone", values: { lance: "pares", team: 0 } });
  moves(play, ...PASSED, SHOW(alone));
  const { pares } = (play.result()["score"] as Match)["lances"] as { [name: string]: Match };
  assert.deepEqual(pares, { bonus: 2, end: "uncontested", seat: 0, stake: 0, team: 0 });
});

test("MUS-16, MUS-17, MUS-18: what can be called", () => {
  const lance = (...calls: string[]): Play => moves(begin(), "0 no_mus", ...calls);
  for (const line of ["0 quiero", "0 no_quiero", "0 raise 2", "0 mus", "1 paso"]) breaks(lance(), line, "MUS-1[67]");
  for (const line of ["0 envido", "0 envido 1", "0 envido 41", "0 paso 2", "0 ordago 2"]) breaks(lance(), line, "MUS-18");
  moves(lance(), "0 envido 40", "1 quiero");
  const bet = (): Play => lance("0 paso", "1 envido 2");
  assert.deepEqual(bet().turn(), [2]);
  for (const line of ["3 quiero", "0 quiero", "2 paso", "2 envido 2"]) breaks(bet(), line, "MUS-1[67]");
  for (const line of ["2 raise 1", "2 raise 39", "2 raise", "2 quiero 2"]) breaks(bet(), line, "MUS-18");
  assert.deepEqual(moves(bet(), "2 no_quiero").turn(), [0]); // who has passed answers all the same
  assert.deepEqual(moves(bet(), "2 raise 38").turn(), [3]);
  breaks(moves(bet(), "2 raise 38"), "3 raise 2", "MUS-18");
  const ordago = (): Play => moves(bet(), "2 ordago");
  for (const line of ["3 raise 2", "3 ordago"]) breaks(ordago(), line, "MUS-1[67]");
  moves(ordago(), "3 no_quiero", "1 no_quiero");
  const fixed = (): Play => moves(begin(HANDS, { raises: "fixed2", ordago: false }), "0 no_mus");
  for (const line of ["0 envido 3", "0 envido 1"]) breaks(fixed(), line, "MUS-18");
  breaks(fixed(), "0 ordago", "MUS-16");
  breaks(moves(fixed(), "0 envido 2"), "1 raise 3", "MUS-18");
  moves(fixed(), "0 envido 2", "1 raise 2", "2 quiero");
  // Only those who have it speak: seats 1 and 2 in the juego of M-T20.
  const juego = moves(begin(), ...QUIET, "pares: 0 1 2 3", ...PASSED, "juego: 1 2");
  assert.deepEqual(moves(juego, "1 envido 2").turn(), [2]);
  assert.equal(moves(juego, "2 no_quiero").due(), "cards.shown");
});

test("M-T22, M-T23: what a bet wins", () => {
  const grande = (...calls: string[]): number[] => {
    const play = moves(begin(), "0 no_mus", ...calls);
    return [...(play.counts()["score"] as number[])];
  };
  assert.deepEqual(grande("0 envido 2", "1 no_quiero", "3 no_quiero"), [1, 0]);
  assert.deepEqual(grande("0 envido 2", "1 raise 5", "2 no_quiero", "0 no_quiero"), [0, 2]);
  assert.deepEqual(grande("0 envido 2", "1 raise 5", "2 raise 10", "3 no_quiero", "1 no_quiero"), [7, 0]);
  assert.deepEqual(grande("0 envido 2", "1 raise 3", "2 raise 2", "3 no_quiero", "1 no_quiero"), [5, 0]);
  assert.deepEqual(grande("0 ordago", "1 no_quiero", "3 no_quiero"), [1, 0]);
  assert.deepEqual(grande("0 envido 4", "1 ordago", "2 no_quiero", "0 no_quiero"), [0, 4]);
  // 20-39: B's raise is refused, and B has 41.
  const over = moves(begin(HANDS, {}, { ...FRESH, score: [20, 39] }), "0 no_mus", "0 envido 2", "1 raise 5", "2 no_quiero", "0 no_quiero");
  assert.equal(over.due(), "hand.closed");
  assert.deepEqual(over.result(), {
    first: 1,
    match: { games: [0, 1], score: [20, 41] },
    score: {
      lances: { chica: null, grande: { bonus: 0, end: "refused", seat: null, stake: 2, team: 1 }, juego: null, pares: null, punto: null },
      mano: 0,
      points: [0, 2],
    },
    winner: 1,
  });
});

test("MUS-20, MUS-22, MUS-24, MUS-25: the count stops when a game is won", () => {
  // 36-38: one for grande, a bet of 3 on chica, and then nothing more is counted.
  const calls = ["0 no_mus", ...PASSED, "0 envido 3", "1 quiero", "pares: 0 1 2 3", "0 paso", "1 envido 2", "2 no_quiero", "0 no_quiero", "juego: 1 2", "1 paso", "2 paso"];
  const play = moves(begin(HANDS, { games: 3 }, { games: [0, 1], score: [36, 38] }), ...calls, SHOW(HANDS));
  assert.deepEqual(play.result(), {
    first: 1,
    match: { games: [1, 1], score: [0, 0] },
    score: {
      lances: {
        chica: { bonus: 0, end: "accepted", seat: 0, stake: 3, team: 0 },
        grande: { bonus: 0, end: "paso", seat: 2, stake: 1, team: 0 },
        juego: { bonus: 0, end: "paso", seat: null, stake: 0, team: null },
        pares: { bonus: 0, end: "refused", seat: null, stake: 1, team: 1 },
        punto: null,
      },
      mano: 0,
      points: [4, 1],
    },
    winner: null,
  });
  assert.equal(moves(begin(HANDS, { games: 3 }, { games: [1, 1], score: [36, 38] }), ...calls, SHOW(HANDS)).result()["winner"], 0);
  const bonus = moves(begin(), ...QUIET, "pares: 0 1 2 3", "0 envido 2", "1 no_quiero", "3 no_quiero", "juego: 1 2", "1 envido 5", "2 quiero", SHOW(HANDS));
  // Pares: 1 at once and 3 at the count, though seat 1 has duples; juego: 5 and 3.
  assert.deepEqual((bonus.result()["score"] as Match)["points"], [1 + 1 + 1 + 3 + 5 + 3, 0]);
  const ordago = moves(begin(), "0 no_mus", "0 envido 2", "1 quiero", "0 ordago", "1 no_quiero", "3 quiero", SHOW(HANDS));
  assert.deepEqual((ordago.result()["score"] as Match)["points"], [40, 0]);
});

test("MUS-22: punto, with one more or to the letter", () => {
  const points = (punto: string, ...calls: string[]): unknown =>
    (moves(begin(POOR, { punto }), ...QUIET, "pares:", "juego:", ...calls, SHOW(POOR)).result()["score"] as Match)["points"];
  assert.deepEqual(points("plus_one", "0 envido 2", "1 quiero"), [2, 3]);
  assert.deepEqual(points("literal", "0 envido 2", "1 quiero"), [2, 2]);
  assert.deepEqual(points("plus_one", "0 envido 2", "1 no_quiero", "3 no_quiero"), [4, 0]);
  assert.deepEqual(points("literal", "0 envido 2", "1 no_quiero", "3 no_quiero"), [3, 0]);
});

test("MUS-21: the showing is of all sixteen cards, and when it is due", () => {
  const play = (): Play => moves(begin(POOR), ...QUIET, "pares:", "juego:", ...PASSED);
  breaks(play(), SHOW(POOR.slice(0, 3)), "MUS-21");
  breaks(play(), SHOW(HANDS), "MUS-21");
  breaks(begin(POOR), "0 shows 12o", "MUS-21");
  moves(play(), SHOW(POOR));
});

test("MUS-26: a match before a hand", () => {
  const fault = (match: Match, given: Ruleset = {}): string => mus.matchFault(defaults(mus, given), 4, match);
  for (const match of [FRESH, { games: [0, 0], score: [39, 0] }]) assert.equal(fault(match), "");
  assert.equal(fault({ games: [2, 2], score: [0, 0] }, { games: 5 }), "");
  const bad: Match[] = [{}, { games: [0, 0] }, { ...FRESH, more: 1 }, { games: [1, 0], score: [0, 0] }, { games: [0, 0], score: [40, 0] }, { games: [0], score: [0, 0] }, { games: [0, 0], score: [-1, 0] }, { games: [0, 0], score: "00" }, { games: [true, 0], score: [0, 0] }];
  for (const match of bad) assert.match(fault(match), /\(MUS-26\)$/, JSON.stringify(match));
  assert.match(fault({ games: [2, 0], score: [0, 0] }, { games: 3 }), /MUS-26/);
  assert.match(fault({ games: [0, 0], score: [30, 0] }, { target: 30 }), /MUS-26/);
});

test("a move that Mus does not have", () => {
  for (const line of ["0 looks", "back"]) assert.equal(move(begin(), line), "no such move");
});
