/** The money of Azi: who paid what, and who gets it. Spec: AZI-6, AZI-16, AZI-19. */

import { isObject } from "../json.ts";
import type { Json } from "../outcome.ts";
import { add, at, hasFields, isNumber, isNumbers, isSame, range, sum } from "./base.ts";
import type { Match, Ruleset } from "./base.ts";

/** A product and a quotient may be of more than 53 bits on the way. */
const share = (whole: number, part: number, parts: number): number =>
  parts === 0 ? 0 : Number((BigInt(whole) * BigInt(part)) / BigInt(parts));

/** The seats that have some, with what they have: `contributions` and `paid`. */
export const bySeat = (chips: readonly number[]): { [seat: string]: number } =>
  Object.fromEntries(chips.flatMap((n, seat) => (n > 0 ? [[String(seat), n]] : [])));

/** What a `contributions` says, by seat; null if that cannot be. */
export function readChips(value: Match[string] | undefined, seats: number): number[] | null {
  if (!isObject(value) || !Object.keys(value).every((key) => range(seats).map(String).includes(key))) {
    return null;
  }
  const chips = range(seats).map((seat) => (Object.hasOwn(value, seat) ? (value[seat] as Json) : 0));
  return isNumbers(chips, seats, 0) && Object.values(value).every((n) => isNumber(n, 1)) ? chips : null;
}

/**
 * What a winner that is short leaves of the bank. Spec: AZI-16.
 *
 * @param c the contributions
 * @param active seats that have not folded
 * @returns what each seat gets
 */
export function shortPayment(isCapped: boolean, c: readonly number[], winner: number, active: readonly number[]): number[] {
  const bank = sum(c);
  const own = at(c, winner);
  if (isCapped) {
    const paid = c.map((n) => Math.max(0, n - own));
    paid[winner] = bank - sum(paid);
    return paid;
  }
  const won = share(bank, own, Math.max(...c));
  const paid = c.map((n, seat) => (seat === winner ? won : share(bank - won, n, bank - own)));
  const others = active.filter((seat) => seat !== winner);
  for (let left = bank - sum(paid), i = 0; left > 0; left -= 1, i += 1) {
    add(paid, others[i % others.length] ?? winner, 1);
  }
  return paid;
}

/** Spec: AZI-19. */
export function matchFault(ruleset: Ruleset, seats: number, match: Match): string {
  const { bank, players, stacks, winner } = match;
  const contributions = readChips(match["contributions"], seats);
  const stack = ruleset["stack"] as number;
  if (
    !hasFields(match, "bank", "contributions", "players", "stacks", "winner") ||
    !isNumber(bank, 0) ||
    contributions === null ||
    !Array.isArray(players) ||
    !isSame(players, range(seats).filter((seat) => players.includes(seat))) ||
    !isNumbers(stacks, seats, 0) ||
    !(winner === null || isNumber(winner, 0, seats - 1))
  ) {
    return "the match is not one of Azi (AZI-19)";
  }
  const has = (seat: number): boolean => at(stacks, seat) > 0;
  const gave = (seat: number): number => at(contributions, seat);
  let isRight = sum(stacks) + bank === seats * stack && sum(contributions) === bank;
  if (bank === 0) {
    isRight &&=
      winner === null
        ? isSame(match, fresh(ruleset, seats))
        : isSame(players, range(seats).filter(has)) && players.length > 1 && has(winner);
  } else {
    const paid = range(seats).filter((seat) => gave(seat) > 0);
    isRight &&=
      range(seats).every((seat) => !has(seat) || gave(seat) >= (ruleset["ante"] as number)) &&
      (winner === null ? range(seats).every((seat) => at(stacks, seat) + gave(seat) === stack) : gave(winner) > 0) &&
      players.length >= 3 &&
      players.every((seat) => paid.includes(seat)) &&
      !(ruleset["azi"] === "all_ante" && players.length !== paid.length) &&
      !(ruleset["azi"] === "three_only" && players.length !== 3);
  }
  return isRight ? "" : "no match of Azi can come to this (AZI-19)";
}

/** Spec: AZI-5. */
export const fresh = (ruleset: Ruleset, seats: number): Match => ({
  bank: 0,
  contributions: {},
  players: range(seats),
  stacks: Array<number>(seats).fill(ruleset["stack"] as number),
  winner: null,
});
