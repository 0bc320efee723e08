/** Azi. Spec: AZI-1..3. */

import { at } from "../decks.ts";
import type { Shown } from "../events.ts";
import { Dealing, FRENCH, cards, type DealingGame, type Setting, type Throw } from "./base.ts";

class AziDealing extends Dealing {
  readonly #thrown = new Set<number>();
  readonly #looked = new Set<number>();
  #shown = false;

  constructor(setting: Setting) {
    const each = Number(setting.ruleset["cards"]);
    const { seats, first } = setting;
    super(setting, each, 27);
    const dealer = (first + seats - 1) % seats;
    this.turned = setting.ruleset["trump"] === "next_card" ? [[null, at(0, seats * each)]] : [[dealer, at(0, seats * each - 1)]];
  }

  /** Seats that still have to throw. Spec: AZI-2. */
  get #owing(): number {
    return this.setting.ruleset["cards"] === 4 ? this.setting.seats - this.setting.out.size - this.#thrown.size : 0;
  }

  protected override discardFault(throws: readonly Throw[]): string {
    let fault = "";
    if (this.setting.ruleset["cards"] !== 4) fault = "a card was thrown at a table that deals three (AZI-2)";
    else if (this.#shown) fault = "a card was thrown after one had been shown (AZI-2)";
    for (const { seat, count } of throws) {
      if (count !== 1) fault ||= "more than one card was thrown (AZI-2)";
      if (this.#thrown.has(seat)) fault ||= `seat ${seat} threw twice (AZI-2)`;
      if (this.setting.out.has(seat)) fault ||= `seat ${seat} threw though it takes no part (AZI-2)`;
      else this.#thrown.add(seat);
    }
    this.halfLocked = this.#thrown.size > 0 && this.#owing > 0;
    return fault;
  }

  protected override showFault(cards: readonly Shown[]): string {
    this.#shown = true;
    if (this.#owing > 0) return "a card was shown before every seat had thrown one (AZI-2)";
    const unseen = this.setting.ruleset["blind"] === true && cards.find(({ seat }) => seat !== null && !this.#looked.has(seat));
    return unseen ? `seat ${unseen.seat} showed a card without having looked at its cards (AZI-3)` : "";
  }

  override looked(seat: number): string {
    if (this.setting.ruleset["blind"] !== true) return "a seat looked at its cards at a table where they are not dealt blind (AZI-3)";
    if (this.#looked.has(seat)) return `seat ${seat} looked twice (AZI-3)`;
    this.#looked.add(seat);
    return "";
  }
}

export const azi: DealingGame = {
  options: {
    blind: [false, true],
    cards: [3, 4],
    six_on_stage: [true, false],
    suits: ["DHS", "CDH", "CDS", "CHS"],
    trump: ["next_card", "dealer_last"],
  },
  least: 2,
  most: 6,
  types: ["cards.discarded", "cards.shown", "cards.looked"],
  declares: false,
  deck: ({ suits }) => cards(String(suits), FRENCH),
  begin: (setting) => new AziDealing(setting),
};
