/** The dealing of the four games, asked directly: places only, no seeds and no file. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Given, Shown } from "../src/verify/events.ts";
import type { Dealing, Ruleset, SeatPlace, Setting } from "../src/verify/games/base.ts";
import { GAMES, rulesetFault } from "../src/verify/games/index.ts";

/** The ruleset of a game's defaults, changed in some options. */
function rules(game: string, changed: Ruleset = {}): Ruleset {
  const options = GAMES.get(game)?.options ?? assert.fail(`${game} is no game`);
  return { ...Object.fromEntries(Object.entries(options).map(([option, values]) => [option, values[0] ?? null])), ...changed };
}

function begin(game: string, changed: Ruleset = {}, setting: Partial<Setting> = {}): Dealing {
  const known = GAMES.get(game) ?? assert.fail(`${game} is no game`);
  return known.begin({
    ruleset: rules(game, changed), hand: 1, seats: known.least, first: 0, referee: false,
    trumps: new Map(), out: new Set(), shown: [], card: () => undefined, ...setting,
  });
}

/** Cards of one seat, shown from epoch 0. What they are is not the dealing's. */
function show(seat: number, ...positions: number[]): Shown[] {
  return positions.map((position) => ({ card: "7H", epoch: 0, position, salt: "", seat }));
}

/** A discard of cards from epoch 0. */
function thrown(seat: number, ...positions: number[]): { seat: number; count: number; places: string[] } {
  return { seat, count: positions.length, places: positions.map((position) => `0/${position}`) };
}

function draws(from: number, ...seats: number[]): SeatPlace[] {
  return seats.map((seat, i) => [seat, `0/${from + i}`]);
}

test("published deals", () => {
  type Deal = { first: number; game: string; positions: number[][]; ruleset: Ruleset; seats: number; stock: number[]; turned: [number | null, number][] };
  const { deals } = JSON.parse(readFileSync(new URL("../../../seeds/procedures.json", import.meta.url), "utf8")) as { deals: Deal[] };
  assert.deepEqual(new Set(deals.map(({ game }) => game)), new Set(GAMES.keys()));
  for (const { first, game, positions, ruleset, seats, stock, turned } of deals) {
    const dealing = begin(game, ruleset, { first, seats });
    assert.deepEqual(dealing.dealt, positions);
    assert.deepEqual(dealing.holdings.map(({ had }) => [...had]), positions.map((all) => all.map((position) => `0/${position}`)));
    assert.deepEqual(dealing.stock, stock.map((position) => `0/${position}`));
    assert.deepEqual(dealing.turned, turned.map(([seat, position]) => [seat, `0/${position}`]));
  }
});

test("a ruleset has exactly the options of its game, each with a value of its own", () => {
  for (const [game, { options, least, most }] of GAMES) {
    const fault = (ruleset: Ruleset, seats = least): string => rulesetFault({ game, ruleset, seats, referee: false } as Parameters<typeof rulesetFault>[0]);
    assert.equal(fault(rules(game)), "");
    assert.equal(fault(rules(game), most), "");
    assert.match(fault(rules(game), most + 1), /TBL-1/);
    assert.match(fault(rules(game), least - 1), /TBL-1/);
    assert.match(fault(rules(game, { more: true })), /GAME-3/);
    for (const [option, values] of Object.entries(options)) {
      for (const value of values) assert.equal(fault(rules(game, { [option]: value })), "");
      for (const value of [null, "other", 17, [], {}]) assert.match(fault(rules(game, { [option]: value })), /GAME-3/);
      const { [option]: _, ...less } = rules(game);
      assert.match(fault(less), /GAME-3/);
    }
  }
});

test("Kozel: draws go round from anybody, from the top, when all hold the same", () => {
  const played = (): Dealing => {
    const dealing = begin("kozel");
    for (const seat of [0, 1, 2]) assert.equal(dealing.shown(show(seat, seat)), "");
    return dealing;
  };
  assert.match(played().drawn(draws(16, 0, 1, 2, 3)), /KOZ-5/);
  const after = (): Dealing => {
    const dealing = played();
    assert.equal(dealing.discarded([thrown(3, 3)]), "");
    return dealing;
  };
  assert.equal(after().drawn(draws(16, 2, 3, 0, 1)), "");
  assert.match(after().drawn(draws(16, 2, 3, 1, 0)), /KOZ-5/);
  assert.match(after().drawn(draws(16, 2, 3, 0)), /KOZ-5/);
  assert.match(after().drawn(draws(17, 2, 3, 0, 1)), /GAME-4/);
  const twice = after();
  assert.equal(twice.drawn(draws(16, 2, 3, 0, 1)), "");
  assert.match(twice.drawn(draws(20, 2, 3, 0, 1)), /KOZ-5/);
});

test("Kozel: a card goes back to where it came from, and only for a pull", () => {
  const dealing = begin("kozel");
  assert.match(dealing.returned(), /KOZ-6/);
  assert.equal(dealing.shown(show(0, 0, 4)), "");
  assert.match(dealing.shown(show(0, 0)), /HAND-11/);
  assert.equal(dealing.discarded([{ seat: 1, count: 2, places: null }]), "");
  assert.equal(dealing.of(1).size, 2);
  assert.equal(dealing.returned(), "");
  assert.deepEqual(dealing.holdings.map(({ size }) => size), [4, 4, 4, 4]);
  assert.equal(dealing.shown(show(0, 0)), "");

  const none = begin("kozel");
  for (const seat of [0, 1, 2, 3]) assert.equal(none.shown(show(seat, seat)), "");
  assert.match(none.returned(), /KOZ-6/);
});

test("Kozel: the indicator goes under the stock with bottom, and discards are open with open", () => {
  const lying = (position: number, option = "interior"): Dealing => {
    const shown: Shown[] = [{ card: "7H", epoch: 0, position, salt: "", seat: null }];
    return begin("kozel", { indicator: option, indicator_place: "bottom" }, { shown });
  };
  const bottom = lying(21);
  assert.deepEqual(bottom.turned, [[null, "0/21"]]);
  assert.equal(bottom.stock.length, 20);
  assert.equal(bottom.stock.at(-1), "0/21");
  assert.equal(bottom.stock[5], "0/22");
  // Inside the stock, anywhere in it, at its one place: nowhere else is a place that could be shown.
  const can = (option: string): number[] => Array.from({ length: 40 }, (_, position) => position).filter((position) => lying(position, option).turned[0]?.[1] === `0/${position}`);
  assert.deepEqual([can("interior")[0], can("interior").at(-1), can("interior").length], [17, 34, 18]);
  assert.deepEqual([can("all")[0], can("all").at(-1), can("all").length], [16, 35, 20]);
  assert.deepEqual(can("index10"), [26]);
  assert.match(begin("kozel", { discards: "open" }).discarded([thrown(0, 0)]), /KOZ-4/);
  assert.match(begin("kozel").discarded([thrown(0, 1)]), /HAND-11/);
  assert.match(begin("kozel").discarded([thrown(0, 0, 0)]), /HAND-11/);
});

test("Mus: throws in turn, then service, in the order of the throws", () => {
  const dealing = begin("mus", {}, { first: 2 });
  // Seat 2 is first: it has positions 0, 4, 8, 12.
  assert.match(begin("mus", {}, { first: 2 }).discarded([thrown(3, 1)]), /MUS-1/);
  assert.match(begin("mus", {}, { first: 2 }).discarded([{ seat: 2, count: 5, places: null }]), /HAND-11/);
  assert.equal(dealing.discarded([thrown(2, 0, 4), thrown(3, 1)]), "");
  assert.equal(dealing.halfLocked, true);
  assert.match(dealing.shown(show(0, 2)), /MUS-5/);
  /** A round of which only the service is missing. */
  const locked = (): Dealing => {
    const all = begin("mus", {}, { first: 2 });
    for (const one of [thrown(2, 0, 4), thrown(3, 1), thrown(0, 2), thrown(1, 3, 7)]) assert.equal(all.discarded([one]), "");
    assert.equal(all.due, "cards.drawn");
    return all;
  };
  assert.match(locked().discarded([thrown(2, 8)]), /HAND-9/);
  assert.match(locked().shown(show(2, 8)), /HAND-9/);
  const whole = locked();
  assert.equal(whole.drawn(draws(16, 2, 2, 3, 0, 1, 1)), "");
  assert.equal(whole.due, "");
  assert.match(whole.drawn(draws(22, 2)), /MUS-3/);
  assert.equal(whole.shown(show(2, 8)), "");
  assert.match(whole.discarded([thrown(2, 12)]), /MUS-5/);
});

test("Mus: with mus_corrido the first to throw moves on, in hand 1 only", () => {
  const round = (dealing: Dealing, from: number, seat: number): string => {
    for (let i = 0; i < 4; i++) {
      const next = (seat + i) % 4;
      const fault = dealing.discarded([{ seat: next, count: 1, places: null }]);
      if (fault) return fault;
    }
    return dealing.drawn(draws(from, ...[0, 1, 2, 3].map((i) => (seat + i) % 4)));
  };
  for (const [corrido, hand, second] of [[true, 1, 1], [true, 2, 0], [false, 1, 0]] as const) {
    for (const seat of [0, 1, 2, 3]) {
      const dealing = begin("mus", { mus_corrido: corrido }, { hand });
      assert.equal(round(dealing, 16, 0), "");
      assert.equal(round(dealing, 20, seat) === "", seat === second, `${corrido} ${hand} ${seat}`);
    }
  }
});

test("Mus: one card at a time only if all four threw four", () => {
  const serve = (counts: number[], seats: number[]): string => {
    const dealing = begin("mus", { service: "one_by_one_if_all_four" });
    counts.forEach((count, seat) => assert.equal(dealing.discarded([{ seat, count, places: null }]), ""));
    return dealing.drawn(draws(16, ...seats));
  };
  const passes = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
  const block = [...passes].sort();
  assert.equal(serve([4, 4, 4, 4], passes), "");
  assert.match(serve([4, 4, 4, 4], block), /MUS-3/);
  assert.equal(serve([4, 4, 4, 3], block.slice(0, -1)), "");
  assert.match(serve([4, 4, 4, 3], passes.slice(0, -1)), /MUS-3/);
});

test("Mus: the pool of a reshuffle, and what is served after it", () => {
  /** All throw four; then 4, 2, 1, `last`, for which the eight cards left do or do not suffice. */
  const short = (reshuffle: string, last: number): Dealing => {
    const dealing = begin("mus", { reshuffle });
    for (const seat of [0, 1, 2, 3]) dealing.discarded([{ seat, count: 4, places: null }]);
    assert.equal(dealing.drawn(draws(16, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)), "");
    [4, 2, 1, last].forEach((count, seat) => assert.equal(dealing.discarded([{ seat, count, places: null }]), ""));
    assert.equal(dealing.drawn(draws(32, 0, 0, 0, 0, 1, 1, 2, 3)), "");
    return dealing;
  };
  assert.equal(short("all", 1).due, "");
  for (const [mode, size] of [["all", 26], ["previous", 16], ["all_but_own_last", 23]] as const) {
    const dealing = short(mode, 3);
    assert.equal(dealing.due, "stock.reshuffled");
    assert.equal(dealing.pool().size, size);
    dealing.restock(1);
    assert.equal(dealing.due, "cards.drawn");
    assert.equal(dealing.stock.length, size);
    assert.equal(dealing.drawn([[3, "1/0"], [3, "1/1"]]), "");
    assert.equal(dealing.due, "");
    // What is not in the pool stays on the heap.
    assert.equal(dealing.pool().size, mode === "previous" ? 10 : 26 - size);
  }
});

test("Azi: one throw each before a card is shown, and a look before it with blind", () => {
  assert.match(begin("azi").discarded([thrown(0, 0)]), /AZI-2/);
  const dealing = begin("azi", { cards: 4, blind: true }, { seats: 3, out: new Set([2]) });
  assert.match(begin("azi", { cards: 4 }, { seats: 3, out: new Set([2]) }).discarded([thrown(2, 2)]), /AZI-2/);
  assert.match(begin("azi", { cards: 4 }, { seats: 3 }).discarded([thrown(2, 2, 5)]), /AZI-2/);
  assert.match(begin("azi", { cards: 4 }, { seats: 3 }).shown(show(0, 0)), /AZI-2/);
  assert.equal(dealing.discarded([thrown(1, 1)]), "");
  assert.equal(dealing.discarded([thrown(0, 0)]), "");
  assert.equal(dealing.looked(0), "");
  assert.match(dealing.looked(0), /AZI-3/);
  assert.equal(dealing.shown(show(0, 3)), "");
  assert.match(dealing.shown(show(1, 4)), /AZI-3/);
  assert.match(begin("azi").looked(0), /AZI-3/);
  const again = begin("azi", { cards: 4 });
  again.discarded([thrown(0, 0)]);
  assert.match(again.discarded([thrown(0, 2)]), /AZI-2/);
});

test("Svoi Kozyri: a six changes hands exactly when it is one's trump and not the other's", () => {
  const six = (holder: number, suit: string, trumps: [string, string], sixes = "exchange"): Dealing =>
    begin("svoi", { sixes, distinct_trumps: false }, { trumps: new Map(trumps.entries()), card: (place) => (place === `0/${holder}` ? `6${suit}` : "7C") });
  const give = (from: number, position: number): Given[] => [{ from, to: 1 - from, epoch: 0, position, card: "6H", salt: "" }];
  assert.equal(six(0, "H", ["C", "H"]).due, "cards.given");
  assert.equal(six(1, "H", ["H", "C"]).due, "cards.given");
  for (const [holder, trumps] of [[0, ["H", "H"]], [0, ["H", "C"]], [0, ["C", "D"]]] as const) assert.equal(six(holder, "H", [...trumps]).due, "");
  assert.equal(six(0, "H", ["C", "H"], "keep").due, "");
  const late = six(0, "H", ["C", "H"]);
  assert.match(late.shown(show(0, 2)), /HAND-9/);
  assert.match(late.given(give(0, 0)), /SVO-3/);
  const due = six(0, "H", ["C", "H"]);
  assert.equal(due.given(give(0, 0)), "");
  assert.equal(due.due, "");
  assert.match(due.shown(show(1, 0)), /HAND-11/);
  assert.match(six(0, "H", ["C", "H"]).given(give(0, 2)), /SVO-3/);
  assert.match(six(0, "H", ["C", "H"]).given(give(1, 1)), /SVO-3/);
  assert.match(six(0, "H", ["C", "D"]).given(give(0, 0)), /SVO-3/);
  assert.match(six(0, "H", ["C", "H"], "keep").given(give(0, 0)), /SVO-3/);
});

test("Svoi Kozyri: with a referee a card that was taken is shown again by who took it", () => {
  const dealing = begin("svoi", {}, { referee: true });
  assert.equal(dealing.shown(show(0, 0)), "");
  assert.match(dealing.shown(show(1, 0)), /HAND-11/);
  dealing.called(1, "take", 1);
  assert.match(dealing.shown(show(0, 0)), /HAND-11/);
  assert.equal(dealing.shown(show(1, 0)), "");
  const without = begin("svoi");
  assert.equal(without.shown(show(0, 0)), "");
  assert.match(without.shown(show(0, 0)), /HAND-11/);
});
