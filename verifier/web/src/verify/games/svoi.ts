/** Svoi Kozyri. Spec: SVO-1..3, SVO-5. */

import { at } from "../decks.ts";
import type { Given, Shown } from "../events.ts";
import { Dealing, FRENCH, cards, suit, type DealingGame, type Setting } from "./base.ts";

class SvoiDealing extends Dealing {
  /** With a referee: bottom to top. */
  readonly #pile: string[] = [];
  /** Six by six who has to give it to whom; null if the cards are not known. */
  readonly #owed: Map<string, readonly [from: number, to: number]> | null = new Map();
  #begun = false;

  constructor(setting: Setting) {
    super(setting, 18, 36);
    const { trumps } = setting;
    if (setting.ruleset["sixes"] !== "exchange" || trumps.get(0) === trumps.get(1)) return;
    for (const [from, holding] of this.holdings.entries()) {
      for (const place of holding.had) {
        const card = setting.card(place);
        if (card === undefined) {
          this.#owed = null;
          this.unknown = true;
        } else if (this.#moves(card, from)) this.#owed?.set(place, [from, 1 - from]);
      }
    }
    if (this.#owed?.size) this.due = "cards.given";
  }

  /** Whether a card of a seat has to go to the other one. Spec: SVO-3. */
  #moves(card: string, from: number): boolean {
    const { trumps } = this.setting;
    return card.startsWith("6") && trumps.get(1 - from) === suit(card) && trumps.get(from) !== suit(card);
  }

  override given(given: readonly Given[]): string {
    let fault = this.early("cards.given");
    if (this.setting.ruleset["sixes"] !== "exchange") fault ||= "cards were given at a table that keeps its sixes (SVO-3)";
    else if (this.#begun || (this.#owed && this.due !== "cards.given")) fault ||= "cards were given when none were due (SVO-3)";
    else if (this.#owed && this.#owed.size !== given.length) fault ||= "the sixes that had to change hands did not (SVO-3)";
    this.#begun = true;
    this.due = "";
    let last = -1;
    for (const { from, to, epoch, position, card } of given) {
      const place = at(epoch, position);
      if (from < last) fault ||= "sixes are not listed by who gives them (SVO-3)";
      last = from;
      if (to !== 1 - from || !this.of(from).had.has(place)) fault ||= `seat ${from} gave a card that it did not hold (SVO-3)`;
      else {
        if (!this.#moves(card, from) || this.#owed?.has(place) === false) fault ||= "a card was given that does not have to be (SVO-3)";
        this.of(from).had.delete(place);
        // A six that was given counts as shown; with a referee it is held like any other card.
        if (this.setting.referee) this.of(to).had.add(place);
      }
    }
    return fault;
  }

  override shown(cards: readonly Shown[]): string {
    this.#begun = true;
    return super.shown(cards);
  }

  override shownBefore(cards: readonly Shown[]): void {
    this.#begun = true;
    super.shownBefore(cards);
  }

  protected override take(seat: number, place: string): string {
    const fault = super.take(seat, place);
    if (!fault) this.#pile.push(place);
    return fault;
  }

  override called(seat: number, call: string, amount: number | null): void {
    this.#begun = true;
    if (call !== "take" || amount === null || amount < 1) return;
    for (const place of this.#pile.splice(-amount)) this.of(seat).had.add(place);
  }
}

export const svoi: DealingGame = {
  options: { distinct_trumps: [true, false], pack: [36], sixes: ["keep", "exchange"] },
  least: 2,
  most: 2,
  types: ["cards.shown", "cards.given"],
  declares: true,
  deck: () => cards("CDHS", FRENCH),
  begin: (setting) => new SvoiDealing(setting),
};
