/** The replay of one hand: whose cards lie where after each event, and what may come then. Spec: HAND-9..16, DECK-3, VER-9. */

import { hex, u32be } from "./bytes.ts";
import type { Seeds } from "./ceremony.ts";
import { Deck, at, joinPlaces, opens, type Place } from "./decks.ts";
import type { EventOf, HandEvent, Type } from "./events.ts";
import { isLost } from "./file.ts";
import type { HandFile } from "./file.ts";
import type { Dealing, DealingGame, Throw } from "./games/base.ts";
import { Stream, hash } from "./hashing.ts";
import { Order } from "./order.ts";
import { PLAY } from "./play/index.ts";

/** What was found of one `cards.*` or `stock.reshuffled`. */
export interface Found {
  /** `draw.1` */
  readonly id: string;
  readonly fault: string;
  /** Why it cannot be judged: a key of the catalogue, or "". */
  readonly skip: string;
}

/** A card as an event or the file states it. */
export interface Stated {
  readonly card: string;
  readonly epoch: number;
  readonly position: number;
  readonly salt: string;
}

/** Milliseconds of a time (ENC-6). */
function time({ body }: HandEvent): number {
  return Date.parse(body.at);
}

const SIXES = "the sixes that had to change hands did not (SVO-3)";

export class Replay {
  readonly order: Order;
  /** The first faults of the checks `deal` and `end`, or "". */
  deal = "";
  end = "";
  /** Why `deal` cannot be judged, or "". */
  dealSkip = "";
  readonly found: Found[] = [];
  readonly stated: Stated[] = [];
  /** The decks that the seeds make, by epoch. */
  readonly decks = new Map<number, Deck>();
  /** Each seat's places, in the order in which it received them. */
  readonly received: ReadonlyMap<number, Set<string>>;
  readonly drawn: ReadonlyMap<number, string[]>;
  /** The first `hand.dealt`. */
  readonly dealt: EventOf<"hand.dealt"> | null;
  dealing: Dealing | null = null;
  /** What was done with cards before they were dealt. */
  readonly #early: ((dealing: Dealing) => void)[] = [];

  readonly #file: HandFile;
  readonly #seeds: Seeds;
  readonly #game: DealingGame;
  /** Roots and sizes of the decks that have been begun, by epoch. */
  readonly #begun = new Map<number, { readonly root: string; readonly size: number }>();
  /** How many discards each seat has made. */
  readonly #throws = new Map<number, number>();
  readonly #counts = new Map<string, number>();
  /** A fault of `cards.returned`, which the next check reports. */
  #returned = "";
  /** The checks before which faults have come: what is found later is not held against them. Spec: VER-9. */
  #behind: "" | "deal" | "numbered" = "";

  constructor(file: HandFile, seeds: Seeds, game: DealingGame) {
    const seats = Array.from({ length: file.table.body.seats }, (_, seat) => seat);
    this.#file = file;
    this.#seeds = seeds;
    this.#game = game;
    this.order = new Order(file, game);
    this.dealt = file.steps.find((step) => step.type === "hand.dealt") ?? null;
    this.received = new Map(seats.map((seat) => [seat, new Set()]));
    this.drawn = new Map(seats.map((seat) => [seat, []]));
  }

  /** Replays the file; yields between events. */
  *run(): Generator<void, void> {
    const { steps } = this.#file;
    for (const [index, event] of steps.entries()) {
      if (index > 1) this.#next(event, steps[index - 1] as HandEvent); // there is one before
      yield;
    }
    // What went back last in a hand that goes on is a fault of its end so far.
    this.end ||= this.#returned;
  }

  #next(event: HandEvent, before: HandEvent): void {
    const { deal } = this;
    const { fault } = this.order;
    this.#step(event, before);
    if (this.#behind) this.order.fault = fault;
    if (this.#behind === "numbered") this.deal = deal;
    if (!this.order.fault) this.#behind = this.deal ? "deal" : this.#returned || this.found.at(-1)?.fault ? "numbered" : this.#behind;
  }

  #step(event: HandEvent, before: HandEvent): void {
    switch (event.type) {
      case "trumps.declared":
        if (this.#game.declares) this.order.declared(event);
        else this.order.blame("the game has no declarations (HAND-3)");
        break;
      case "seeds.sealed":
        this.order.sealed(event);
        break;
      case "seeds.opened":
        this.order.opened(event);
        break;
      case "hand.dealt":
        this.#deal(event);
        break;
      case "hand.closed":
      case "hand.aborted":
        this.end = this.#returned || this.#endFault(event, before);
        break;
      default:
        this.#play(event);
    }
  }

  /** Whether the play of this table has events of a type. */
  #has(type: Type): boolean {
    if (this.#game.types.includes(type)) return true;
    const { referee, game } = this.#file.table.body;
    return referee && ((type === "play.called" && game !== "kozel") || (type === "play.declared" && game === "mus"));
  }

  #play(event: HandEvent): void {
    const { type } = event;
    let fault = this.#has(type) ? "" : `the game has no ${type}`;
    if (type !== "stock.reshuffled" || this.order.phase !== "restock") {
      const own = type === "stock.reshuffled" && this.order.phase === "play" ? "" : this.order.blocked(type);
      fault ||= own;
    }
    if (fault) this.order.blame(fault);
    const due = this.dealing?.due;
    if (due === "cards.given" && type !== "cards.given" && this.#has(type)) this.deal ||= SIXES;
    this.#judge(event, fault);
    this.#follow(event);
  }

  /** A reshuffle may have become due by an event. */
  #follow(event: HandEvent): void {
    if (this.order.phase === "play" && this.dealing?.due === "stock.reshuffled") this.order.reshuffle(event);
  }

  #before(happened: (dealing: Dealing) => void): void {
    if (!this.dealing) this.#early.push(happened);
  }

  #judge(event: HandEvent, blocked: string): void {
    const { dealing } = this;
    let fault: string;
    switch (event.type) {
      case "cards.drawn": {
        const draws = event.body.draws.map(([seat, epoch, position]) => [seat, at(epoch, position)] as const);
        fault = dealing?.drawn(draws) ?? "";
        this.#before((later) => draws.forEach(([seat, place]) => later.of(seat).had.add(place)));
        for (const [seat, epoch, position] of event.body.draws) {
          this.received.get(seat)?.add(at(epoch, position));
          this.drawn.get(seat)?.push(at(epoch, position));
        }
        this.#add("draw", blocked || fault);
        break;
      }
      case "cards.discarded":
        this.#discard(event, blocked);
        break;
      case "cards.shown":
        fault = dealing?.shown(event.body.shown) ?? "";
        this.#before((later) => later.shownBefore(event.body.shown));
        this.#show(event.body.shown, blocked || fault);
        break;
      case "cards.given":
        fault = dealing?.given(event.body.given) ?? "";
        this.deal ||= blocked || fault;
        for (const { to, epoch, position } of event.body.given) this.received.get(to)?.add(at(epoch, position));
        this.#show(event.body.given, blocked || fault);
        break;
      case "cards.returned":
        this.#returned ||= blocked || (dealing?.returned() ?? "");
        break;
      case "cards.looked":
        fault = dealing?.looked(event.body.seat) ?? "";
        this.deal ||= blocked || fault;
        break;
      case "play.called":
        dealing?.called(event.body.seat, event.body.call, event.body.amount);
        this.#before((later) => later.called(event.body.seat, event.body.call, event.body.amount));
        break;
      case "stock.reshuffled":
        this.#reshuffle(event, blocked);
    }
  }

  #add(kind: string, fault: string, skip = ""): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.found.push({ id: `${kind}.${count}`, fault: this.#returned || fault, skip });
    this.#returned = "";
  }

  /** Spec: GAME-1, and what the games say of `hand.dealt`. */
  #deal(event: EventOf<"hand.dealt">): void {
    const again = event !== this.dealt;
    this.order.dealt(again);
    if (again) {
      this.stated.push(...event.body.shown);
      this.deal ||= "the cards were dealt twice (HAND-6)";
      return;
    }
    const { seats, ruleset, referee, game } = this.#file.table.body;
    const { hand, match } = this.#file.opened.body;
    const { first, shown, positions, indicator, deck_root } = event.body;
    const cards = this.#game.deck(ruleset);
    const key = this.order.isOpen(0) ? this.#seeds.key(0) : null;
    if (key) this.decks.set(0, new Deck(key, 0, cards));
    this.#begun.set(0, { root: deck_root, size: cards.length });
    const rules = referee ? PLAY.get(game) : undefined;
    const out = rules && match && !rules.matchFault(ruleset, seats, match) ? rules.sitsOut(match) : new Set<number>();
    const { trumps } = this.order;
    const dealing = this.#game.begin({
      ruleset, hand, seats, first, referee, trumps, out, shown,
      card: (place) => this.card(place),
    });
    this.dealing = dealing;
    dealing.catchUp(this.#early);
    for (const [seat, places] of dealing.dealt.entries()) for (const position of places) this.received.get(seat)?.add(at(0, position));
    const round = Object.keys(positions).length === seats && dealing.dealt.every((places, seat) => places.join() === positions[seat]?.join());
    if (!round) this.deal ||= "the cards did not go round one at a time from the first seat (GAME-1)";
    const places = dealing.turned.every(([seat, place], i) => {
      const one = shown[i];
      return one && one.seat === seat && at(one.epoch, one.position) === place;
    });
    if (shown.length !== dealing.turned.length || !places) this.deal ||= "other cards were shown at the deal than the rules say";
    const judged = this.#opening(shown);
    this.deal ||= judged.fault;
    this.dealSkip = judged.skip || (dealing.unknown ? "note.sixes" : "");
    if ((indicator === null) === (game === "kozel")) this.deal ||= "the indicator is stated exactly in Kozel (KOZ-1)";
    else if (game === "kozel" && shown[0] && shown[0].card !== indicator) this.deal ||= "the card shown is not the indicator (KOZ-3)";
    this.#follow(event);
  }

  card(place: string): string | undefined {
    const [epoch, position] = place.split("/").map(Number) as [number, number];
    return this.decks.get(epoch)?.order[position];
  }

  /** Each card is what it is said to be: by the seeds, or by its opening. */
  #opening(cards: readonly Stated[]): { fault: string; skip: string } {
    let skip = "";
    let fault = "";
    for (const one of cards) {
      const { card, epoch, position, salt } = one;
      this.stated.push(one);
      const begun = this.#begun.get(epoch);
      const deck = this.decks.get(epoch);
      if (!begun) fault ||= `${card} is shown from an epoch that has no deck`;
      else if (deck) {
        if (deck.order[position] !== card) fault ||= `${card} does not lie where it is shown`;
        else if (deck.salts[position] !== salt) fault ||= `the salt of ${card} is not the one of its place (DECK-1)`;
      } else if (this.#file.disclosed) skip = "note.epoch";
      else if (isLost(this.#file)) skip = "note.lost";
      else {
        // One for each card, in the order of the events (FILE-4).
        const opening = this.#file.openings[this.stated.length - 1];
        if (opening?.card !== card || opening.epoch !== epoch || opening.position !== position || opening.salt !== salt) fault ||= `${card} has no opening (FILE-4)`;
        else if (!opens(opening, begun.root, begun.size)) fault ||= `the opening of ${card} does not lead to the deck root (DECK-3)`;
      }
    }
    return { fault, skip };
  }

  #show(cards: readonly Stated[], legal: string): void {
    const { fault, skip } = this.#opening(cards);
    this.#add("show", legal || fault, skip);
  }

  #discard({ body }: EventOf<"cards.discarded">, blocked: string): void {
    const { disclosed } = this.#file;
    let wrong = "";
    let lock = "";
    const throws = Object.entries(body.discards).map(([name, { count, lock: locked }]): Throw => {
      const seat = Number(name);
      const k = this.#throws.get(seat) ?? 0;
      this.#throws.set(seat, k + 1);
      const places = disclosed?.discards.get(seat)?.[k] ?? null;
      if (disclosed && places?.length !== count) {
        wrong ||= `seat ${seat}'s discard ${k} is not disclosed as it was made (HAND-10)`;
        return { seat, count, places: null };
      }
      if (places && this.#lock(seat, k, places) !== locked) lock ||= `seat ${seat}'s lock does not fit the cards disclosed for it (HAND-10)`;
      return { seat, count, places: places && places.map((place) => at(...place)) };
    });
    const fault = this.dealing?.discarded(throws) || "";
    this.#before((later) => later.discarded(throws));
    const known = this.#seeds.good && this.decks.has(0);
    this.#add("discard", blocked || fault || wrong || (known ? lock : ""), known ? "" : "note.lock");
  }

  #lock(seat: number, k: number, places: readonly Place[]): string {
    const key = this.#seeds.key(0);
    if (!key) return "";
    const sorted = [...places].sort(([a, one], [b, other]) => a - b || one - other);
    const salt = new Stream(key, `discard ${seat} ${k}`).take(32);
    return hex(hash("discard", u32be(this.#file.opened.body.hand), Uint8Array.of(seat), u32be(k), salt, joinPlaces(sorted)));
  }

  /** Spec: HAND-12, HAND-13. */
  #reshuffle(event: EventOf<"stock.reshuffled">, blocked: string): void {
    const { epoch, count, deck_root } = event.body;
    const { dealing, order } = this;
    if (!dealing || blocked || order.phase !== "restock" || epoch !== order.epoch) {
      const due = dealing?.due;
      this.#add("reshuffle", blocked || (order.phase === "restock" ? "a new stock is of another epoch than the seeds (HAND-13)" : due ? `stock.reshuffled stands where ${due} was due (HAND-9)` : "a new stock was made when none was due (HAND-12)"));
      return;
    }
    const { size, places } = dealing.pool();
    const pool = places?.map((place) => this.card(place));
    const fault = count === size ? "" : "the new stock has not as many cards as the pool (MUS-4)";
    dealing.restock(epoch);
    this.#begun.set(epoch, { root: deck_root, size });
    order.restocked();
    const key = this.#seeds.key(epoch);
    let wrong = "";
    const back = new Set(pool);
    // A card that comes back twice was not thrown by one of the seats that say so: the pool is not known.
    if (!this.#behind && key && pool && !pool.includes(undefined) && back.size === pool.length) {
      const deck = new Deck(key, epoch, this.#game.deck(this.#file.table.body.ruleset).filter((card) => back.has(card)));
      this.decks.set(epoch, deck);
      if (deck.root !== deck_root) wrong = "the root is not that of the pool, shuffled with the new seeds (HAND-13)";
    }
    const known = this.#seeds.good && this.decks.has(epoch);
    this.#add("reshuffle", fault || (known ? wrong : ""), known ? "" : "note.pool");
  }

  /** Why the hand may not end like this. Spec: HAND-14..16, PLAY-6. */
  #endFault(event: EventOf<"hand.closed"> | EventOf<"hand.aborted">, before: HandEvent): string {
    const { referee, timeouts } = this.#file.table.body;
    const { order, dealing } = this;
    const { phase } = order;
    if (event.type === "hand.closed") {
      if (phase !== "play" || !dealing) return "the hand was closed before it was dealt, or while seeds or a new stock were due (HAND-15)";
      if (dealing.due === "cards.given") this.deal ||= SIXES;
      if (dealing.due) return `the hand was closed while ${dealing.due} was due (HAND-15)`;
      if (dealing.halfLocked) return "the hand was closed while a round of discards was half locked (HAND-15)";
      return (event.body.result !== null) === referee ? "" : "a hand has a result exactly if the table has a referee (PLAY-1)";
    }
    const { reason, missing } = event.body;
    const passed = (since: HandEvent, seconds: number): boolean => time(event) - time(since) >= 1000 * seconds;
    const sealing = phase === "declare" || phase === "seal";
    const opening = phase === "open" || phase === "reopen";
    const late = sealing || opening ? order.missing : [];
    const turn = referee && phase === "play" && dealing !== null && !dealing.due;
    let legal: boolean;
    let over = true;
    let named = missing.length === 0;
    switch (reason) {
      case "seal_timeout":
        legal = sealing;
        over = passed(this.#file.opened, timeouts.seal);
        named = missing.join() === late.join();
        break;
      case "open_timeout":
        legal = opening;
        over = passed(order.head, timeouts.open);
        named = missing.join() === late.join();
        break;
      case "turn_timeout":
        legal = turn;
        over = passed(before, timeouts.turn);
        named = missing.length > 0;
        break;
      case "idle":
        legal = dealing !== null && !opening && phase !== "exhausted";
        over = passed(before, timeouts.hand);
        break;
      case "epochs":
        legal = phase === "exhausted";
        break;
      case "operator":
        legal = phase !== "exhausted";
        named = missing.every((seat) => late.includes(seat));
        break;
      default:
        return "the service has lost its secret";
    }
    if (phase === "exhausted" && reason !== "epochs") return "a hand that has used its last epoch ends with reason epochs (HAND-14)";
    if (!legal) return `there was no ${reason}: nothing of the kind was awaited (HAND-16)`;
    if (!over) return `there was no ${reason}: the time was not over (HAND-16)`;
    return named ? "" : "the seats named as missing are not those that are (HAND-16)";
  }
}
