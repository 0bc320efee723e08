/** The check `play`: every event of a refereed hand, told to the play of its game. Spec: PLAY-1..8. */

import type { Place } from "./decks.ts";
import { at } from "./decks.ts";
import type { EventOf, HandEvent } from "./events.ts";
import type { HandFile } from "./file.ts";
import { said } from "./findings.ts";
import { encode } from "./json.ts";
import type { Said, Scene, Told } from "./outcome.ts";
import type { Play, PlayRules, SeatCard } from "./play/base.ts";
import { CLOSED, DECLARED, DRAWN, isSame, range } from "./play/base.ts";

type Placed = readonly [seat: number, place: Place];

const ILLEGAL = "the game has no such event (PLAY-3)";
/** What the service does, and only when it is due. */
const SERVED = [DRAWN, DECLARED, CLOSED];
/** The events of the play. Others after the deal are seeds and new stocks, which the dealing judges. */
const OF_PLAY = ["cards.", "play.", "hand."];

/** What was found: both `fault` and `unknown` are empty if all of the play is right. */
export interface Followed {
  /** The first thing that is wrong, or "". */
  readonly fault: string;
  /** Why the play cannot be followed to its end, or null. */
  readonly unknown: Said | null;
  readonly story: readonly Told[];
  readonly scenes: ReadonlyMap<number, Scene>;
}

/** Says what is wrong with the match before the hand, as far as its file tells. Spec: PLAY-1, PLAY-2. */
export function matchFault(file: HandFile, rules: PlayRules): string {
  const { ruleset, seats } = file.table.body;
  const { match, hand } = file.opened.body;
  if (match === null) {
    return "the hand was opened without a match (PLAY-1)";
  }
  if (hand === 1 && !isSame(match, rules.fresh(ruleset, seats))) {
    return "hand 1 begins with a match that is not the fresh one (PLAY-2)";
  }
  return rules.matchFault(ruleset, seats, match);
}

/**
 * Follows the play of a hand that has been dealt and has ended.
 *
 * @param cards every card of the hand by its place, as `at` of decks.ts writes it
 */
export function follow(file: HandFile, rules: PlayRules, cards: ReadonlyMap<string, string>): Followed {
  const { steps } = file;
  const story: Told[] = [];
  const scenes = new Map<number, Scene>();
  /** How many discards each seat has made. */
  const thrown = new Map<number, number>();
  let unknown: Said | null = null;
  let step = steps.findLastIndex(({ type }) => type === "hand.dealt" || type === "cards.given");

  function tell(key: string, values?: Said["values"]): void {
    story.push({ step, indented: false, said: said(`story.${key}`, values) });
  }

  /** Tells what each seat does with its cards. */
  function tellCards(key: string, named: readonly SeatCard[]): void {
    for (const seat of new Set(named.map(([one]) => one))) {
      tell(key, { seat, cards: named.filter(([one]) => one === seat).map(([, card]) => card) });
    }
  }

  /** The names of cards; none if one of them is not known. */
  function name(placed: readonly Placed[]): readonly SeatCard[] {
    const named = placed.map(([seat, place]): SeatCard => [seat, cards.get(at(...place)) ?? ""]);
    if (named.every(([, card]) => card)) {
      return named;
    }
    unknown = said("note.play_card");
    return [];
  }

  /** Deals the cards, as the events up to the deal and the exchange of sixes say. */
  function begin(): Play | null {
    const trumps = new Map<number, string>();
    let first = 0;
    let turned: string | null = null;
    let held: readonly SeatCard[] = [];
    for (const { type, body } of steps.slice(0, step + 1)) {
      if (type === "trumps.declared") {
        Object.entries(body.trumps).forEach(([seat, suit]) => trumps.set(Number(seat), suit));
      } else if (type === "hand.dealt") {
        first = body.first;
        turned = body.indicator ?? body.shown[0]?.card ?? null;
        held = name(
          Object.entries(body.positions).flatMap(([seat, all]) => all.map((one): Placed => [Number(seat), [0, one]])),
        );
      } else if (type === "cards.given") {
        const given = name(body.given.map(({ to, epoch, position }): Placed => [to, [epoch, position]]));
        held = [...held.filter(([, card]) => !given.some(([, one]) => one === card)), ...given];
      }
    }
    const deck = [...cards].filter(([place]) => place.startsWith("0/")).map(([, card]) => card);
    if (turned !== null && !deck.includes(turned)) {
      unknown = said("note.play_turned");
    }
    if (unknown) {
      return null;
    }
    const { seats, ruleset } = file.table.body;
    const { hand, match } = file.opened.body;
    const hands = range(seats).map((seat) => held.filter(([one]) => one === seat).map(([, card]) => card));
    return rules.begin(ruleset, match ?? {}, { hand, seats, first, hands, stock: deck.length - held.length, turned, trumps });
  }

  /** Spec: PLAY-3, PLAY-4. */
  function judge(play: Play, event: HandEvent, before: HandEvent): string {
    const due = play.due();
    if (event.type === "hand.aborted") {
      return abortFault(play, event, before);
    }
    if (due !== event.type && (due || SERVED.includes(event.type))) {
      return due ? `${due} is due, not ${event.type} (PLAY-3)` : `${event.type} is not due (PLAY-4)`;
    }
    switch (event.type) {
      case "cards.shown":
        return shown(play, event.body.shown.map(({ seat, epoch, position }) => [seat, [epoch, position]]));
      case "cards.drawn": {
        const named = name(event.body.draws.map(([seat, ...place]): Placed => [seat, place]));
        tellCards("draws", named);
        return unknown ? "" : (play.drawn?.(named) ?? ILLEGAL);
      }
      case "cards.discarded":
        return discarded(play, Object.keys(event.body.discards).map(Number));
      case "cards.returned":
        tell("returned");
        return play.returned?.() ?? ILLEGAL;
      case "cards.looked":
        tell("looks", { seat: event.body.seat });
        return play.looked?.(event.body.seat) ?? ILLEGAL;
      case "play.called": {
        const { seat, call, amount } = event.body;
        tell(amount === null ? "says" : "says_amount", { seat, call, ...(amount !== null && { n: amount }) });
        return play.called?.(seat, call, amount) ?? ILLEGAL;
      }
      case "play.declared": {
        const { what, seats } = event.body;
        tell(seats.length ? "declared" : "declared_none", { lance: what, ...(seats.length && { seats }) });
        return play.declared?.(what, seats) ?? ILLEGAL;
      }
      case "hand.closed":
        return closed(play, event);
      default:
        return ILLEGAL;
    }
  }

  function shown(play: Play, entries: readonly (readonly [seat: number | null, place: Place])[]): string {
    const placed = entries.filter((one): one is Placed => one[0] !== null);
    if (placed.length < entries.length) {
      return "a card is shown that belongs to no seat (PLAY-3)";
    }
    const order = placed.map(([seat, [epoch, position]]) => (seat * 64 + epoch) * 256 + position);
    if (play.due() && order.some((one, i) => i > 0 && one <= (order[i - 1] ?? 0))) {
      return "the cards are not shown by seat, each seat's by their places (PLAY-4)";
    }
    const named = name(placed);
    tellCards("shows", named);
    return unknown ? "" : play.shown(named);
  }

  /** Of several discards in one event, that of a seat on turn comes first. Spec: PLAY-3. */
  function discarded(play: Play, seats: number[]): string {
    if (seats.length > 1 && !rules.throwsTogether) {
      return "two seats discard in one event (PLAY-3)";
    }
    let fault = "";
    while (seats.length > 0 && !fault) {
      const [seat = 0] = seats.splice(Math.max(0, seats.findIndex((one) => play.turn().includes(one))), 1);
      const k = thrown.get(seat) ?? 0;
      const listed = file.disclosed?.discards.get(seat)?.[k];
      thrown.set(seat, k + 1);
      if (!listed?.length) {
        unknown = said("note.play_discard");
        return "";
      }
      const named = name(listed.map((place): Placed => [seat, place]));
      tellCards("throws", named);
      fault = unknown ? "" : (play.thrown?.(seat, named.map(([, card]) => card)) ?? ILLEGAL);
    }
    return fault;
  }

  /** Spec: PLAY-1, PLAY-5. */
  function closed(play: Play, event: EventOf<"hand.closed">): string {
    const right = play.result();
    const stated = event.body.result ?? {};
    for (const key of ["score", "match"]) {
      tell(key, { json: encode(right[key] ?? null) });
    }
    const wrong = Object.keys(right).filter((key) => !isSame(right[key], stated[key]));
    return isSame(right, stated) ? "" : `the result is wrong in ${wrong.join(", ") || "saying too much"} (PLAY-5)`;
  }

  /** Spec: PLAY-6. */
  function abortFault(play: Play, { body }: EventOf<"hand.aborted">, before: HandEvent): string {
    const { reason, missing } = body;
    const turn = play.turn();
    const isTurn = isSame(missing, [...turn].sort());
    const waited = Date.parse(body.at) - Date.parse(before.body.at);
    if (reason === "turn_timeout") {
      if (turn.length === 0 || !isTurn) {
        return "the seats named as missing are not those on turn (PLAY-6)";
      }
      return waited < 1000 * file.table.body.timeouts.turn ? "the turn was not yet over (PLAY-6)" : "";
    }
    return reason === "idle" && turn.length > 0 ? "a seat was on turn, so the hand was not idle (PLAY-6)" : "";
  }

  function look(play: Play): void {
    scenes.set(step, { turn: play.turn().slice(), hands: play.hands(), laid: play.laid(), counts: play.counts() });
  }

  let fault = matchFault(file, rules);
  const play = fault ? null : begin();
  if (play) {
    look(play);
  }
  for (step += 1; play && step < steps.length && !fault && !unknown; step += 1) {
    const event = steps[step] as HandEvent;
    const before = steps[step - 1] as HandEvent;
    if (OF_PLAY.some((start) => event.type.startsWith(start))) {
      const known = play.told.length;
      fault = judge(play, event, before);
      story.push(...play.told.slice(known).map((one) => ({ step, indented: true, said: one })));
      if (!fault && !unknown) {
        look(play);
      }
    }
  }
  return { fault, unknown, story, scenes };
}
