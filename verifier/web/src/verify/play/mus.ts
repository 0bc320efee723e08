/** The play of Mus: the talk, the lances, the count. Spec: play-mus.md. */

import { said } from "../findings.ts";
import type { Said } from "../outcome.ts";
import type { Deal, Match, Play, PlayRules, Ruleset, SeatCard } from "./base.ts";
import { add, at, CLOSED, DECLARED, DRAWN, from, hasFields, isNumber, isNumbers, isSame, range, SHOWN, sum } from "./base.ts";
import { weigh } from "./mus_hands.ts";

const SEATS = 4;
const NAMES = ["grande", "chica", "pares", "juego", "punto"] as const;
type Name = (typeof NAMES)[number];

/** A lance, from its first word to its points. */
interface Lance {
  readonly name: Name;
  /** Who speaks in it, in speaking order. */
  readonly speakers: readonly number[];
  end: "" | "paso" | "accepted" | "refused" | "ordago" | "uncontested";
  level: number;
  agreed: number;
  isOrdago: boolean;
  /** Who made the last bet. */
  bettor: number | null;
  /** What `hand.closed` says of it. Spec: MUS-24. */
  seat: number | null;
  team: number | null;
  stake: number;
  bonus: number;
}

function begin(ruleset: Ruleset, match: Match, deal: Deal): Play {
  const told: Said[] = [];
  const hands = deal.hands.map((cards) => new Set(cards));
  const target = ruleset["target"] as number;
  const isCorrido = ruleset["mus_corrido"] === true && deal.hand === 1;
  const lances: Lance[] = [];
  const score = [...(match["score"] as number[])];
  let mano = deal.first;
  let due = "";
  /** The seats that have still to talk, throw or speak, the next one first. */
  let waiting = from(mano, SEATS);
  let phase: "talk" | "throw" | "lance" = "talk";
  let declaring: "pares" | "juego" = "pares";
  const owed = [0, 0, 0, 0];
  /** The team that has won the game. */
  let gameTo: number | null = null;

  const hand = (seat: number): Set<string> => at(hands, seat);
  const worth = (seat: number) => weigh([...hand(seat)], ruleset["kings"] === 8, ruleset["real31"] === true);

  // The talk.

  function talk(seat: number, call: string): string {
    if (call !== "mus" && call !== "no_mus") {
      return `seat ${seat} says neither mus nor no_mus (MUS-11)`;
    }
    waiting.shift();
    if (call === "no_mus") {
      if (isCorrido) {
        mano = seat;
      }
      phase = "lance";
      told.push(said("story.mus.mano", { seat: mano }));
      open("grande", from(mano, SEATS));
    } else if (waiting.length === 0) {
      phase = "throw";
      waiting = from(mano, SEATS);
    }
    return "";
  }

  /** Spec: MUS-13. */
  function thrown(seat: number, cards: readonly string[]): string {
    if (phase !== "throw" || seat !== waiting[0]) {
      return `seat ${seat} cannot discard now (MUS-13)`;
    }
    if (cards.length > 4 || new Set(cards).size !== cards.length || !cards.every((card) => hand(seat).has(card))) {
      return `seat ${seat} does not hold these cards (MUS-13)`;
    }
    for (const card of cards) {
      hand(seat).delete(card);
    }
    owed[seat] = cards.length;
    waiting.shift();
    if (waiting.length === 0) {
      due = DRAWN;
    }
    return "";
  }

  /** Spec: MUS-12, MUS-13. */
  function drawn(cards: readonly SeatCard[]): string {
    for (const [seat, card] of cards) {
      add(owed, seat, -1);
      hand(seat).add(card);
    }
    if (owed.some((one) => one < 0)) {
      return "cards are drawn that nobody is owed (MUS-13)";
    }
    if (sum(owed) === 0) {
      due = "";
      phase = "talk";
      mano = (mano + (isCorrido ? 1 : 0)) % SEATS;
      waiting = from(mano, SEATS);
    }
    return "";
  }

  // The lances.

  const lance = (): Lance => lances[lances.length - 1] as Lance; // called while there is one

  /** Spec: MUS-14, MUS-15, MUS-16. */
  function open(name: Name, speakers: number[]): void {
    lances.push({
      name, speakers, end: "", level: 0, agreed: 0, isOrdago: false, bettor: null, seat: null, team: null, stake: 0, bonus: 0,
    });
    due = "";
    waiting = [...speakers];
    if (new Set(speakers.map((seat) => seat % 2)).size === 1) {
      told.push(said("story.mus.alone", { lance: name, team: at(speakers, 0) % 2 }));
      finish("uncontested");
    }
  }

  /** Spec: MUS-14, MUS-19, MUS-20, MUS-21. */
  function finish(end: Lance["end"]): void {
    const one = lance();
    one.end = end;
    waiting = [];
    if (end === "refused") {
      pay(one, (one.bettor as number) % 2, Math.max(1, one.agreed), 0);
    } else if (end === "accepted") {
      told.push(said("story.mus.accepted", { lance: one.name, n: one.level }));
    } else if (end === "ordago") {
      told.push(said("story.mus.ordago", { lance: one.name }));
    }
    if (gameTo !== null) {
      close();
    } else if (end === "ordago" || one.name === "juego" || one.name === "punto") {
      due = SHOWN;
    } else if (one.name === "grande") {
      open("chica", from(mano, SEATS));
    } else {
      declaring = one.name === "chica" ? "pares" : "juego";
      due = DECLARED;
    }
  }

  /** Gives points to a team. Spec: MUS-19, MUS-22. */
  function pay(one: Lance, team: number, stake: number, bonus: number): void {
    one.team = team;
    one.stake += stake;
    one.bonus += bonus;
    add(score, team, stake + bonus);
    if (stake + bonus > 0) {
      told.push(said(`story.mus.${one.end === "refused" ? "refused" : "best"}`, { lance: one.name, team, n: stake + bonus }));
    }
    if (at(score, team) >= target) {
      gameTo = team;
      told.push(said("story.mus.won", { team, n: at(score, team) }));
    }
  }

  /** Spec: MUS-14, MUS-15. */
  function declared(what: string, seats: readonly number[]): string {
    const able = range(SEATS).filter((seat) => worth(seat)[declaring] > 0);
    if (what !== declaring || !isSame(seats, able)) {
      return `it is not declared that seats ${able} have ${declaring} (MUS-14)`;
    }
    if (able.length > 0) {
      open(declaring, from(mano, SEATS).filter((seat) => able.includes(seat)));
    } else if (declaring === "juego") {
      open("punto", from(mano, SEATS));
    } else {
      declaring = "juego";
    }
    return "";
  }

  function called(seat: number, call: string, amount: number | null): string {
    if (phase === "throw" || seat !== waiting[0]) {
      return `seat ${seat} is not to call now (MUS-11, MUS-16, MUS-17)`;
    }
    const raises = phase === "lance" && (call === "envido" || call === "raise");
    if (raises ? !isNumber(amount, 2, ruleset["raises"] === "fixed2" ? 2 : target) : amount !== null) {
      return `the amount of this ${call} is wrong (MUS-18)`;
    }
    return phase === "talk" ? talk(seat, call) : speak(seat, call, amount ?? 0);
  }

  /** Spec: MUS-16, MUS-17, MUS-18. */
  function speak(seat: number, call: string, amount: number): string {
    const one = lance();
    const isOpen = one.bettor === null;
    if (call === "ordago" && ruleset["ordago"] === true && !one.isOrdago) {
      one.isOrdago = true;
      bet(one, seat, 0);
    } else if (call === (isOpen ? "envido" : "raise") && !one.isOrdago) {
      if (one.level + amount > target) {
        return `seat ${seat} bets more than a game (MUS-18)`;
      }
      bet(one, seat, amount);
    } else if (call === (isOpen ? "paso" : "no_quiero")) {
      waiting.shift();
      if (waiting.length === 0) {
        finish(isOpen ? "paso" : "refused");
      }
    } else if (call === "quiero" && !isOpen) {
      finish(one.isOrdago ? "ordago" : "accepted");
    } else {
      return `seat ${seat} cannot call ${call} now (MUS-16, MUS-17)`;
    }
    return "";
  }

  function bet(one: Lance, seat: number, amount: number): void {
    one.bettor = seat;
    one.agreed = one.level;
    one.level += amount;
    waiting = [(seat + 1) % SEATS, (seat + 3) % SEATS].filter((other) => one.speakers.includes(other));
  }

  // The end.

  /** Spec: MUS-21. */
  function shown(cards: readonly SeatCard[]): string {
    const all = hands.flatMap((held, seat) => [...held].map((card) => `${seat},${card}`));
    if (due !== SHOWN || !isSame(cards.map(String).sort(), all.sort())) {
      return "not exactly the sixteen cards are shown when all lances are over (MUS-21)";
    }
    for (const one of lance().end === "ordago" ? [lance()] : lances) {
      if (gameTo === null) {
        count(one);
      }
    }
    close();
    return "";
  }

  /** Spec: MUS-10, MUS-20, MUS-22, MUS-23. */
  function count(one: Lance): void {
    const { name, end } = one;
    const isRefused = end === "refused";
    const best = one.speakers.reduce((a, b) => (worth(b)[name] > worth(a)[name] ? b : a));
    const team = (isRefused ? (one.bettor as number) : best) % 2;
    one.seat = isRefused ? null : best;
    if (end === "ordago") {
      pay(one, team, target - at(score, team), 0);
    } else if (name === "pares" || name === "juego") {
      const bonus = sum([team, team + 2].map((seat) => worth(seat).bonus[name]));
      pay(one, team, end === "accepted" ? one.level : 0, bonus);
    } else {
      const isMore = name === "punto" && ruleset["punto"] === "plus_one" && end !== "paso";
      pay(one, team, end === "accepted" ? one.level : isRefused ? 0 : 1, isMore ? 1 : 0);
    }
  }

  function close(): void {
    due = CLOSED;
    told.push(said("story.mus.score", { a: at(score, 0), b: at(score, 1) }));
  }

  /** Spec: MUS-24, MUS-25. */
  function result(): Match {
    const points = [0, 0];
    const told: { [name: string]: Match | null } = {};
    for (const name of NAMES) {
      const one = lances.find((other) => other.name === name && other.end !== "");
      told[name] = one ? { bonus: one.bonus, end: one.end, seat: one.seat, stake: one.stake, team: one.team } : null;
      if (one && one.team !== null) {
        add(points, one.team, one.stake + one.bonus);
      }
    }
    const games = [...(match["games"] as number[])];
    if (gameTo !== null) {
      add(games, gameTo, 1);
    }
    const isWon = Math.max(...games) > (ruleset["games"] as number) / 2;
    return {
      first: (mano + 1) % SEATS,
      match: { games, score: gameTo === null || isWon ? [...score] : [0, 0] },
      score: { lances: told, mano, points },
      winner: isWon ? gameTo : null,
    };
  }

  return {
    told,
    shown,
    thrown,
    called,
    declared,
    drawn,
    turn: () => (due ? [] : waiting.slice(0, 1)),
    due: () => due,
    result,
    hands: () => hands.map((cards) => [...cards]),
    laid: () => [],
    counts: () => ({ score: [...score], mano, lance: phase === "lance" ? lance().name : "", level: lances.at(-1)?.level ?? 0 }),
  };
}

/** Spec: MUS-26. */
function matchFault(ruleset: Ruleset, _seats: number, match: Match): string {
  const isRight =
    hasFields(match, "games", "score") &&
    isNumbers(match["games"], 2, 0, Math.floor((ruleset["games"] as number) / 2)) &&
    isNumbers(match["score"], 2, 0, (ruleset["target"] as number) - 1);
  return isRight ? "" : "no match of Mus can be like this (MUS-26)";
}

export const mus: PlayRules = {
  options: {
    games: [1, 3, 5],
    kings: [8, 4],
    ordago: [true, false],
    punto: ["plus_one", "literal"],
    raises: ["free", "fixed2"],
    real31: [false, true],
    target: [40, 30],
  },
  throwsTogether: true,
  fresh: () => ({ games: [0, 0], score: [0, 0] }),
  matchFault,
  sitsOut: () => new Set(),
  begin,
};
