/** Plays of a hand written down as scripts, for the tests of the rules. */

import assert from "node:assert/strict";
import type { Deal, Play, PlayRules, Ruleset, SeatCard } from "../src/verify/play/base.ts";

/** The default of each option; where it is a number, the one given. */
export function defaults(rules: PlayRules, given: Ruleset): Ruleset {
  const first = Object.entries(rules.options).map(([name, values]) => [name, Array.isArray(values) ? values[0] : 0]);
  return { ...Object.fromEntries(first), ...given };
}

export function dealt(hands: readonly string[], more: Partial<Deal> = {}): Deal {
  const lists = hands.map((cards) => cards.split(" ").filter(Boolean));
  return { hand: 2, seats: hands.length, first: 0, hands: lists, stock: 0, turned: null, trumps: new Map(), ...more };
}

const cards = (seat: number, names: string): SeatCard[] => names.split(" ").map((card): SeatCard => [seat, card]);

/**
 * Makes one move; gives its fault, or "".
 *
 * "2 shows 7H 8H", "1 throws 6C", "back", "0 looks", "3 raise 5", "0 draws 6H, 1 draws 7H",
 * "pares: 0 2", "count: 0 6C 7C, 1 8C".
 */
export function move(play: Play, line: string): string {
  if (line === "back") return play.returned?.() ?? "no such move";
  const [, what, seats] = /^(pares|juego): ?(.*)$/.exec(line) ?? [];
  if (what !== undefined) return play.declared?.(what, (seats ?? "").split(" ").filter(Boolean).map(Number)) ?? "no such move";
  if (line.startsWith("count: ")) {
    const shown = line.slice(7).split(", ").flatMap((one) => cards(Number(one[0]), one.slice(2)));
    return play.shown(shown);
  }
  if (line.includes(" draws ")) return play.drawn?.(line.split(", ").flatMap((one) => cards(Number(one[0]), one.slice(8)))) ?? "no such move";
  const [seat = "", verb = "", ...rest] = line.split(" ");
  const by = Number(seat);
  if (verb === "shows") return play.shown(cards(by, rest.join(" ")));
  if (verb === "throws") return play.thrown?.(by, rest) ?? "no such move";
  if (verb === "looks") return play.looked?.(by) ?? "no such move";
  return play.called?.(by, verb, rest[0] === undefined ? null : Number(rest[0])) ?? "no such move";
}

/** Makes moves that have to be legal. */
export function moves(play: Play, ...lines: string[]): Play {
  for (const line of lines) assert.equal(move(play, line), "", line);
  return play;
}

/** A move that has to break this requirement. */
export function breaks(play: Play, line: string, id: string): void {
  assert.match(move(play, line), new RegExp(`\\(.*${id}.*\\)$`), line);
}
