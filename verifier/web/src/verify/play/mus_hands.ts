/** How hands of Mus compare. Spec: MUS-6..9, MUS-23. */

import { at, rankOf, sum } from "./base.ts";

/** Sums that are juego, from worst to best. */
const JUEGO = [33, 34, 35, 36, 37, 40, 32, 31];
const REAL = "10,7,7,7";

/** How good a hand is in each lance: of two numbers the greater wins; 0 is none. */
export interface Worth {
  readonly grande: number;
  readonly chica: number;
  readonly pares: number;
  readonly juego: number;
  readonly punto: number;
  /** What the hand adds to its team's bonus. Spec: MUS-23. */
  readonly bonus: { readonly pares: number; readonly juego: number };
}

/** Numbers below 16, the first weighing most. */
const digits = (numbers: readonly number[]): number => numbers.reduce((all, one) => 16 * all + one, 0);

/** Pairs, or what is more: 0 none, 1 par, 2 medias, 3 duples; with their ranks. `ranks` descend. Spec: MUS-8. */
function paresOf(ranks: readonly number[]): { kind: number; worth: number } {
  const pairs = [...new Set(ranks)].flatMap((rank) => {
    const count = ranks.filter((one) => one === rank).length;
    return count === 4 ? [rank, rank] : count > 1 ? [rank] : [];
  });
  const isMedias = ranks.some((rank) => ranks.filter((one) => one === rank).length === 3);
  const kind = pairs.length === 2 ? 3 : isMedias ? 2 : pairs.length;
  return { kind, worth: kind && digits([kind, at(pairs, 0), pairs[1] ?? 0]) };
}

/** Weighs four cards of the Spanish deck. */
export function weigh(cards: readonly string[], eightKings: boolean, real31: boolean): Worth {
  const faces = cards.map((card) => Number(rankOf(card)));
  const ranks = faces
    .map((face) => (eightKings && face === 3 ? 12 : eightKings && face === 2 ? 1 : face))
    .sort((a, b) => b - a);
  const total = sum(ranks.map((rank) => Math.min(rank, 10)));
  const pares = paresOf(ranks);
  const isReal = real31 && [...faces].sort((a, b) => b - a).join() === REAL;
  return {
    grande: digits(ranks),
    chica: digits(ranks.map((rank) => 15 - rank).reverse()),
    pares: pares.worth,
    juego: total < 31 ? 0 : 1 + (isReal ? JUEGO.length : JUEGO.indexOf(total)),
    punto: total,
    bonus: { pares: pares.kind, juego: total < 31 ? 0 : total === 31 ? 3 : 2 },
  };
}
