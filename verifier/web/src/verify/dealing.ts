/** The checks from `order` to `disclosure`, by replaying the hand. Spec: VER-2, VER-3. */

import type { Seeds } from "./ceremony.ts";
import { hex } from "./bytes.ts";
import { at, type Place } from "./decks.ts";
import { isLost } from "./file.ts";
import type { HandFile } from "./file.ts";
import { said, type Findings } from "./findings.ts";
import { follow, matchFault } from "./follow.ts";
import { GAMES, rulesetFault } from "./games/index.ts";
import { indicatorDepth } from "./games/kozel.ts";
import { Replay } from "./hand.ts";
import { pick } from "./hashing.ts";
import type { Hand, Scene, Told, Trace } from "./outcome.ts";
import { PLAY } from "./play/index.ts";

/** What the checks after the deal, and the report, take from the replay. */
export interface Dealt {
  readonly hand: Hand;
  readonly story: readonly Told[];
  readonly scenes: ReadonlyMap<number, Scene>;
  readonly traces: readonly Trace[];
  /** The card at a place, if the seeds are good; key as of `at` in decks.ts. */
  readonly cards: ReadonlyMap<string, string>;
  /** The places that each seat received, dealt, drawn or given; keys as above. */
  readonly received: ReadonlyMap<number, ReadonlySet<string>>;
}

/** Makes the checks; yields between slices of work. */
export function* checkDealing(file: HandFile, seeds: Seeds, findings: Findings, trace: boolean): Generator<void, Dealt> {
  const game = rulesetFault(file.table.body) ? undefined : GAMES.get(file.table.body.game);
  if (!game) return withoutRules(file, findings);
  const replay = new Replay(file, seeds, game);
  yield* replay.run();

  findings.judge("order", replay.order.fault);
  findings.na("beacon", "note.no_beacon");
  checkShuffle(file, seeds, replay, findings);
  yield;
  checkCards(file, replay, findings);
  yield;
  checkDealt(file, seeds, replay, findings);
  for (const { id, fault, skip } of replay.found) {
    if (!fault && skip) findings.skip(id, skip);
    else findings.judge(id, fault);
  }
  checkSeats(file, findings);
  const cards = new Map<string, string>();
  for (const [epoch, { order }] of replay.decks) order.forEach((card, position) => cards.set(at(epoch, position), card));
  yield;
  const followed = checkPlay(file, seeds, replay, findings, cards);
  if (!file.final && !replay.end) findings.skip("end", "note.not_ended");
  else findings.judge("end", replay.end);
  yield;
  checkDisclosure(file, findings, replay);
  yield;
  return {
    hand: summary(file, replay),
    story: followed?.story ?? [],
    scenes: followed?.scenes ?? new Map<number, Scene>(),
    traces: trace ? [...replay.decks.values()].map((deck) => deck.trace()) : [],
    cards: seeds.good ? cards : new Map<string, string>(),
    received: replay.received,
  };
}

/** The table's terms are not those of a game: nothing can be replayed. */
function withoutRules(file: HandFile, findings: Findings): Dealt {
  const { referee } = file.table.body;
  for (const id of ["order", "beacon", "shuffle", "deck.cards", "deck.root", "first", "deal", "pick.first"]) {
    if (id === "beacon") findings.na(id, "note.no_beacon");
    else findings.skip(id, "note.no_rules");
  }
  checkSeats(file, findings);
  if (referee) findings.skip("play", "note.no_rules");
  else findings.na("play", "note.no_referee");
  for (const id of ["end", "disclosure"]) findings.skip(id, "note.no_rules");
  const none = new Map<never, never>();
  return { hand: summary(file, null), story: [], scenes: none, traces: [], cards: none, received: none };
}

/** Whether the seeds tell of an epoch; makes the check N/A or SKIP if not. Spec: VER-3. */
function seedsTell(id: string, file: HandFile, seeds: Seeds, replay: Replay, findings: Findings): boolean {
  const open = seeds.complete(0);
  if (!open && file.final) findings.na(id, "note.never_open");
  else if (!open || !seeds.good || (replay.dealt && !replay.decks.has(0))) findings.skip(id, "note.no_seeds");
  else return true;
  return false;
}

/** Spec: KEY-1, SHUF-1, SHUF-2. */
function checkShuffle(file: HandFile, seeds: Seeds, replay: Replay, findings: Findings): void {
  if (!seeds.complete(0) || !seeds.good) {
    seedsTell("shuffle", file, seeds, replay, findings);
    return;
  }
  let fault = "";
  let known = true;
  for (const { card, epoch, position } of replay.stated) {
    const deck = replay.decks.get(epoch);
    const held = deck?.order[position] ?? "no card";
    if (!deck) known = false;
    else if (held !== card) fault ||= `position ${position} of epoch ${epoch} holds ${held}, stated is ${card} (SHUF-2)`;
  }
  if (!fault && !known) {
    findings.skip("shuffle", "note.pool");
    return;
  }
  const keys = [...replay.decks.values()].map(({ epoch, key }) => `K_${epoch} ${hex(key)}`);
  findings.judge("shuffle", fault, undefined, keys.join(", "));
}

/** Each card once. */
function checkCards(file: HandFile, replay: Replay, findings: Findings): void {
  const game = GAMES.get(file.table.body.game);
  const deck = game?.deck(file.table.body.ruleset) ?? [];
  const indicator = replay.dealt?.body.indicator;
  const places = new Map<string, string>();
  const cards = new Map<string, string>();
  const named = new Set(indicator ? [indicator] : []);
  let fault = "";
  for (const { card, epoch, position } of [...replay.stated, ...file.openings]) {
    const place = at(epoch, position);
    named.add(card);
    if ((places.get(place) ?? card) !== card) fault ||= `position ${position} of epoch ${epoch} is stated with two cards`;
    if ((cards.get(`${epoch} ${card}`) ?? place) !== place) fault ||= `${card} is stated at two positions`;
    places.set(place, card);
    cards.set(`${epoch} ${card}`, place);
  }
  for (const card of named) if (!deck.includes(card)) fault = `${card} is no card of the deck (SHUF-1)`;
  findings.judge("deck.cards", fault, undefined, `${named.size} different cards of ${deck.length} are stated`);
}

/** The checks `deck.root`, `first`, `deal`, `pick.first`, `pick.indicator`. */
function checkDealt(file: HandFile, seeds: Seeds, replay: Replay, findings: Findings): void {
  const { game, ruleset, seats } = file.table.body;
  const { hand, first: given } = file.opened.body;
  // Dealt or not: the hand after one that was never dealt begins with the same seat (HAND-2).
  const forced = given !== null && hand === 1 ? "in a table's first hand the first seat is drawn (HAND-2)" : "";
  const ids = ["deck.root", "first", "deal", "pick.first", ...(game === "kozel" ? ["pick.indicator"] : [])];
  if (!replay.dealt) {
    for (const id of ids) {
      if (id === "first" && forced) findings.fail(id, forced);
      else if (id === "pick.first" && given !== null) findings.na(id, "note.first_not_drawn");
      else if (id === "deal" && replay.deal) findings.fail(id, replay.deal);
      else if (file.final) findings.na(id, "note.not_dealt");
      else findings.skip(id, "note.not_dealt_yet");
    }
    return;
  }
  const { deck_root, first, indicator } = replay.dealt.body;
  const deck = replay.decks.get(0);
  const tell = (id: string): boolean => seedsTell(id, file, seeds, replay, findings);
  if (tell("deck.root") && deck) {
    findings.judge("deck.root", deck.root === deck_root ? "" : "the root is not the one of this order (DECK-2)", undefined, `stated ${deck_root}; computed ${deck.root}`);
  }

  if (given === null) findings.pass("first", "note.first_drawn", `seat ${first}`);
  else if (forced) findings.fail("first", forced);
  else if (given !== first) findings.fail("first", `seat ${given} was to be first, seat ${first} was dealt to (GAME-2)`);
  else findings.na("first", "note.first_given");

  if (!replay.deal && replay.dealSkip) findings.skip("deal", replay.dealSkip);
  else findings.judge("deal", replay.deal);

  if (given !== null) findings.na("pick.first", "note.first_not_drawn");
  else if (tell("pick.first") && deck) {
    const drawn = pick(deck.key, "first", seats);
    findings.judge("pick.first", drawn === first ? "" : "another seat was first than the one drawn (GAME-2)", undefined, `drawn seat ${drawn}`);
  }
  if (game === "kozel" && tell("pick.indicator") && deck) {
    const depth = indicatorDepth(ruleset["indicator"], (name, m) => pick(deck.key, name, m));
    const card = deck.order[16 + depth];
    const elsewhere = replay.dealt.body.shown.some(({ position }) => position !== 16 + depth);
    const fault = card !== indicator ? "the indicator is not the card at the drawn place (KOZ-1)" : elsewhere ? "the indicator is shown at another place than the drawn one (KOZ-1)" : "";
    findings.judge("pick.indicator", fault, undefined, `index ${depth}: ${card}`);
  }
}

function checkSeats(file: HandFile, findings: Findings): void {
  const { contribute, custody, keys } = file.table.body;
  const keyed = Object.keys(keys).map(Number);
  const alone = custody === "operator" ? (keyed.length ? "_operator" : "_operator_alone") : "";
  findings.pass("seats", said(`note.seats${alone}`, { seats: contribute, keys: keyed }));
}

/** What of VER-3 keeps the play from being judged: a key of the catalogue and its values, or null. */
function checkPlay(file: HandFile, seeds: Seeds, replay: Replay, findings: Findings, cards: ReadonlyMap<string, string>): ReturnType<typeof follow> | null {
  const { referee, game } = file.table.body;
  const rules = PLAY.get(game);
  // Also if nothing is played: the hand after one that was aborted begins with the same match (PLAY-2).
  const wrong = referee && rules ? matchFault(file, rules) : "";
  if (!referee || !rules) findings.na("play", "note.no_referee");
  else if (wrong) findings.fail("play", wrong);
  else if (!replay.dealt && file.final) findings.na("play", "note.not_dealt");
  else if (!replay.dealt) findings.skip("play", "note.not_dealt_yet");
  else if (!file.disclosed) findings.skip("play", "note.play_later");
  else if (!seeds.good || !replay.decks.has(0)) findings.skip("play", "note.no_seeds");
  else {
    const failed = findings.checks.find(({ id, status }) => status === "FAIL" && /^(order|deal|draw\.\d+|reshuffle\.\d+)$/.test(id));
    if (failed) findings.skip("play", said("note.play_failed", { check: failed.id }));
    else {
      const followed = follow(file, rules, cards);
      const fault = followed.fault;
      if (!fault && followed.unknown) findings.skip("play", followed.unknown);
      else if (!fault && !file.final) findings.skip("play", "note.not_ended");
      else findings.judge("play", fault);
      return followed;
    }
  }
  return null;
}

/** Spec: FILE-3, FILE-4. */
function checkDisclosure(file: HandFile, findings: Findings, replay: Replay): void {
  const { disclosed, openings } = file;
  const id = "disclosure";
  let fault = "";
  if (disclosed) {
    const made = new Map<number, number[]>();
    for (const step of file.steps) {
      if (step.type !== "cards.discarded") continue;
      for (const [key, { count }] of Object.entries(step.body.discards)) {
        const counts = made.get(Number(key));
        if (counts) counts.push(count);
        else made.set(Number(key), [count]);
      }
    }
    const listed = (seats: ReadonlyMap<number, readonly unknown[]>): string => JSON.stringify([...seats].sort(([a], [b]) => a - b));
    const counts = new Map([...disclosed.discards].map(([seat, all]) => [seat, all.map((places) => places.length)]));
    if (listed(counts) !== listed(made)) fault = "the discards disclosed are not those of the hand (FILE-3)";
    const rank = ([epoch, position]: Place): number => 256 * epoch + position;
    for (const all of disclosed.discards.values()) {
      for (const places of all) {
        if (places.some((place, i) => i > 0 && rank(place) < rank(places[i - 1] ?? place))) fault ||= "a discard is not disclosed in ascending order (FILE-3)";
      }
    }
    if (openings.length) fault ||= "single cards are opened although the server seed is (FILE-4)";
  } else {
    const name = ({ card, epoch, position, salt }: (typeof replay.stated)[number]): string => `${epoch} ${position} ${card} ${salt}`;
    const due = isLost(file) ? [] : replay.stated;
    if (openings.map(name).join() !== due.map(name).join()) fault = "the cards opened are not those that were shown (FILE-4)";
  }
  if (fault) findings.fail(id, fault);
  else if (!file.final) findings.skip(id, "note.not_ended");
  else if (disclosed) findings.pass(id);
  else if (file.table.body.disclosure === "hand") findings.fail(id, "the service has not opened its secret at the hand's end (HAND-17)");
  else findings.skip(id, "note.secret_later");
}

/** Who got which cards. */
function summary(file: HandFile, replay: Replay | null): Hand {
  const { table, game, ruleset, seats } = { ...file.table.body, ruleset: file.table.body.ruleset };
  const { opened, last } = file;
  const aborted = last.type === "hand.aborted" ? last.body : null;
  const cards = (places: Iterable<string>): string[] => [...places].flatMap((place) => replay?.card(place) ?? []);
  const dealt = replay?.dealt?.body;
  const all = Array.from({ length: seats }, (_, seat) => seat);
  return {
    table,
    number: opened.body.hand,
    game,
    cards: replay ? (GAMES.get(game)?.deck(ruleset).length ?? 0) : 0,
    seats,
    at: opened.body.at,
    first: dealt?.first ?? null,
    aborted: aborted?.reason ?? null,
    missing: aborted?.missing ?? [],
    dealt: new Map(all.map((seat) => [seat, cards((replay?.dealing?.dealt[seat] ?? []).map((position) => at(0, position)))])),
    drawn: new Map(all.map((seat) => [seat, cards(replay?.drawn.get(seat) ?? [])])),
    turned: dealt?.indicator ?? dealt?.shown[0]?.card ?? null,
    trumps: replay?.order.trumps ?? new Map(),
  };
}
