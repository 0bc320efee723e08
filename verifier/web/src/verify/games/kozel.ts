/** Kozel. Spec: KOZ-1..7. */

import { at } from "../decks.ts";
import { Dealing, FRENCH, cards, type DealingGame, type SeatPlace, type Setting, type Throw } from "./base.ts";

const SIZE = 4;
const STOCK = 16;

/** How deep in the stock the indicator lies: the number that was drawn, or null. Spec: KOZ-1. */
export function indicatorDepth(mode: unknown, pick: (name: string, m: number) => number | null): number | null {
  if (mode === "index10") return 10;
  const drawn = pick("indicator", mode === "all" ? 20 : 18);
  return drawn === null ? null : mode === "all" ? drawn : 1 + drawn;
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
    let depth = indicatorDepth(ruleset["indicator"], setting.pick);
    // Without the seeds the place is what the event itself says (KOZ-3).
    if (depth === null && shown[0]) depth = shown[0].position - STOCK;
    const place = depth === null ? null : at(0, STOCK + depth);
    this.turned = [[null, place]];
    if (bottom && place !== null && this.stock.includes(place)) this.stock = [...this.stock.filter((one) => one !== place), place];
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
