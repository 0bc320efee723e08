/** Kozel. Spec: KOZ-1..7. */

import { at } from "../decks.ts";
import { Dealing, FRENCH, cards, type DealingGame, type SeatPlace, type Setting, type Throw } from "./base.ts";

const SIZE = 4;
const STOCK = 16;

/** How deep in the stock the indicator can lie, at least and at most. Spec: KOZ-1. */
function depths(mode: unknown): readonly [least: number, most: number] {
  return mode === "index10" ? [10, 10] : mode === "all" ? [0, 19] : [1, 18];
}

/** How deep in the stock the indicator lies: where there is a choice, a number that is drawn. Spec: KOZ-1. */
export function indicatorDepth(mode: unknown, pick: (name: string, m: number) => number): number {
  const [least, most] = depths(mode);
  return least === most ? least : least + pick("indicator", most - least + 1);
}

class KozelDealing extends Dealing {
  /** What was laid since the deal or the last draw: the place, or null for cards not known. */
  #laid: { seat: number; place: string | null; thrown: boolean }[] = [];
  /** Each seat's discards that are known and have not gone back. Spec: KOZ-7. */
  readonly #thrown: Set<string>[];

  constructor(setting: Setting) {
    super(setting, SIZE, 36);
    this.#thrown = this.holdings.map(() => new Set());
    const { ruleset, shown } = setting;
    const bottom = ruleset["indicator_place"] === "bottom";
    if (!bottom && ruleset["indicator"] !== "index10") return;
    // Where it lies the event says, among the places where it can. That it was drawn there is not of this check.
    const [one] = shown;
    const [least, most] = depths(ruleset["indicator"]);
    const fits = one !== undefined && one.epoch === 0 && one.position >= STOCK + least && one.position <= STOCK + most;
    const place = fits ? at(0, one.position) : "";
    this.turned = [[null, place]];
    if (bottom && this.stock.includes(place)) this.stock = [...this.stock.filter((one) => one !== place), place];
  }

  get #counting(): boolean {
    return this.stock.length === 0 && this.holdings.every((holding) => holding.size === 0);
  }

  protected override drawFault(draws: readonly SeatPlace[]): string {
    const size = this.of(0).size;
    const stock = this.stock.length;
    this.#laid = [];
    if (size >= SIZE || this.holdings.some((holding) => holding.size !== size)) return "cards were drawn although the seats did not all hold the same number below four (KOZ-5)";
    if (stock === 0) return "cards were drawn from an empty stock (KOZ-5)";
    const taker = draws[0]?.[0] ?? 0;
    const due = Math.min(SIZE * (SIZE - size), stock);
    return draws.length === due && draws.every(([seat], i) => seat === (taker + i) % 4) ? "" : "the seats did not draw one card a pass until all held four (KOZ-5)";
  }

  protected override discardFault(throws: readonly Throw[]): string {
    if (this.setting.ruleset["discards"] !== "hidden") return "cards were thrown face down at a table that plays openly (KOZ-4)";
    return throws.some(({ count }) => count > SIZE) ? "more than four cards were thrown at once (KOZ-4)" : "";
  }

  protected override throwOut(one: Throw): string {
    const fault = super.throwOut(one);
    const { seat, count, places } = one;
    for (const place of places ?? Array.from({ length: count }, () => null)) {
      this.#laid.push({ seat, place, thrown: true });
      if (place !== null) this.#thrown[seat]?.add(place);
    }
    return fault;
  }

  protected override take(seat: number, place: string): string {
    if (this.#counting) {
      const holding = this.of(seat);
      if (this.#thrown[seat]?.delete(place)) return "";
      if (holding.hidden > 0 && holding.had.delete(place)) {
        holding.hidden -= 1;
        return "";
      }
      return `seat ${seat} showed a card that is not among its discards (KOZ-7)`;
    }
    const fault = super.take(seat, place);
    if (!fault) this.#laid.push({ seat, place, thrown: false });
    return fault;
  }

  override returned(): string {
    if (this.#laid.length === 0) return "cards went back although none lay on the table (KOZ-6)";
    const none = this.holdings.every((holding) => holding.size < SIZE);
    for (const { seat, place, thrown } of this.#laid) {
      const holding = this.of(seat);
      if (place === null) holding.hidden -= 1;
      else {
        holding.had.add(place);
        if (thrown) this.#thrown[seat]?.delete(place);
      }
    }
    this.#laid = [];
    return none ? "cards went back although no seat held the four that a pull takes (KOZ-6)" : "";
  }
}

export const kozel: DealingGame = {
  options: { discards: ["hidden", "open"], indicator: ["interior", "all", "index10"], indicator_place: ["stays", "bottom"] },
  least: 4,
  most: 4,
  types: ["cards.drawn", "cards.discarded", "cards.shown", "cards.returned"],
  declares: false,
  deck: () => cards("CDHS", FRENCH),
  begin: (setting) => new KozelDealing(setting),
};
