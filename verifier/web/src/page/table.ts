/** The table: seats and their cards, step by step. */

import type { HandEvent } from "../verify/events.ts";
import type { HandFile } from "../verify/file.ts";
import type { Told } from "../verify/outcome.ts";
import type { Report } from "../verify/report.ts";
import { cardName, drawCard, sentence, told, WHOLE_DECK } from "./cards.ts";
import { append, type Child, h, icon } from "./dom.ts";
import { type Count, countText, Counting, countsText, type Owner, type Standing, teamText } from "./counts.ts";
import { cardNames, type Laid, type Scene, Stage } from "./scene.ts";
import { button, section, type View } from "./view.ts";

/** As many cards of a pile as can be told apart. */
const PILE = 8;
/** Steps listed at once: as many as most hands have. A false file may have twenty thousand, */
const LISTED = 100;
/** and hundreds of cards in each: once so many are listed, a step has room for a few. */
const LISTED_CARDS = 300;
const FEW_CARDS = 2;
/** Lines of the story that are JSON: the page shows these numbers elsewhere. */
const RAW = new Set(["story.score", "story.match"]);

/** One hand on the table; it keeps where the reader is when the page is drawn anew. */
export class TableView {
  readonly #file: HandFile;
  readonly #report: Report;
  readonly #stage: Stage;
  readonly #counting: Counting;
  readonly #names: ReadonlyMap<string, string>;
  /** The story by step. */
  readonly #told = new Map<number, Told[]>();
  /** Kozel's indicator or Azi's turned card: both lie open. The report may not have got as far. */
  readonly #turned: string | null;
  #step: number;
  /** Whose cards are shown; null is everybody's. */
  #viewer: number | null = null;
  #fourColours = false;

  constructor(file: HandFile, report: Report) {
    this.#file = file;
    this.#report = report;
    this.#stage = new Stage(file, report.hand?.cards ?? 0);
    this.#counting = new Counting(file, report);
    this.#names = cardNames(file, report.traces);
    for (const one of report.story) {
      const told = this.#told.get(one.step);
      if (RAW.has(one.said.key)) continue;
      if (told) told.push(one);
      else this.#told.set(one.step, [one]);
    }
    const dealt = file.steps.findIndex(({ type }) => type === "hand.dealt");
    const deal = file.steps[dealt];
    this.#turned = deal?.type === "hand.dealt" ? (deal.body.indicator ?? deal.body.shown.find((one) => one.seat === null)?.card ?? report.hand?.turned ?? null) : null;
    this.#step = dealt < 0 ? file.steps.length - 1 : dealt;
  }

  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** The view of one seat from now on: its own cards at the bottom, others hidden. */
  sit(seat: number): void {
    this.#viewer = seat < this.#seats ? seat : null;
  }

  get #seats(): number {
    return Math.min(this.#file.table.body.seats, 10);
  }

  draw(view: View): HTMLElement {
    const { steps } = this.#file;
    const last = steps.length - 1;
    const board = h("div", { class: "board" });
    const caption = h("div", { class: "caption", "aria-live": "polite" });
    const range = h("input", {
      type: "range", min: 0, max: last, value: this.#step, "aria-label": view.t("page.step"), oninput: () => go(range.valueAsNumber),
    });
    const list = h("ol");
    /** The first step that is listed, and the buttons of those that are. */
    let from = -1;
    let listed: HTMLButtonElement[] = [];
    const fill = (start: number): void => {
      from = start;
      let cards = 0;
      listed = steps.slice(from, from + LISTED).map((step, i) => {
        const lines = h("span", {}, this.lines(view, from + i, cards < LISTED_CARDS ? WHOLE_DECK : FEW_CARDS));
        cards += lines.querySelectorAll(".word").length;
        return h("button", { type: "button", class: "step", onclick: () => go(from + i) }, h("time", { datetime: step.body.at }, step.body.at.slice(11, 19)), lines);
      });
      const turn = (key: string, n: number, to: number): Child =>
        n > 0 && h("li", {}, button(view.t(key, { n }), () => { fill(to); mark(); list.querySelector<HTMLElement>(".step")?.focus(); }));
      list.replaceChildren();
      append(list, [
        turn("page.steps_before", from, from - LISTED),
        listed.map((one) => h("li", {}, one)),
        turn("page.steps_after", last + 1 - from - listed.length, from + LISTED),
      ]);
    };
    const mark = (): void => {
      for (const [i, one] of listed.entries()) {
        if (from + i === this.#step) one.setAttribute("aria-current", "step");
        else one.removeAttribute("aria-current");
      }
      const current = listed[this.#step - from];
      if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 3;
    };
    const show = (): void => {
      range.value = String(this.#step);
      range.setAttribute("aria-valuetext", view.t("page.step_of", { n: this.#step + 1, all: last + 1 }));
      const standing = this.#counting.after(this.#step);
      const changed = this.#counting.changed(this.#step, standing.counts);
      board.replaceChildren(...this.#board(view, standing, changed));
      caption.replaceChildren(h("span", { class: "muted" }, view.t("page.step_of", { n: this.#step + 1, all: last + 1 })), " ", h("span", {}, this.lines(view, this.#step)));
      // On the board the numbers stand where they belong; who listens hears those that have changed.
      if (changed.length > 0) caption.append(h("span", { class: "hidden" }, countsText(view, changed)));
      const start = this.#step - (this.#step % LISTED);
      if (this.#step < from || this.#step >= from + LISTED || from < 0) fill(start);
      mark();
    };
    const go = (to: number): void => {
      this.#step = Math.max(0, Math.min(last, to));
      show();
    };
    const moves: readonly [label: string, sign: string, to: () => number][] = [
      ["page.first_step", "|◀", () => 0],
      ["page.previous_step", "◀", () => this.#step - 1],
      ["page.next_step", "▶", () => this.#step + 1],
      ["page.last_step", "▶|", () => last],
    ];
    const buttons = moves.map(([label, sign, to]) =>
      button(h("span", { "aria-hidden": "true" }, sign), () => go(to()), { "aria-label": view.t(label), title: view.t(label), class: "square" }),
    );
    const viewer = h(
      "select",
      { id: "viewer", onchange: () => { this.#viewer = viewer.value === "" ? null : Number(viewer.value); show(); } },
      h("option", { value: "", selected: this.#viewer === null }, view.t("page.everyone")),
      Array.from({ length: this.#seats }, (_, seat) =>
        h("option", { value: seat, selected: this.#viewer === seat }, view.t("report.seat", { seat }))),
    );
    const colours = h("input", { type: "checkbox", id: "four", checked: this.#fourColours, onchange: () => { this.#fourColours = colours.checked; show(); } });
    show();
    const whole = section(
      "table",
      view.t("page.table"),
      h(
        "div",
        { class: "row tools" },
        h("label", { for: "viewer" }, view.t("page.cards_of")), viewer,
        this.#file.table.body.game !== "mus" && h("label", { class: "check" }, colours, view.t("page.four_colours")),
      ),
      board,
      h("div", { class: "row stepper" }, buttons.slice(0, 2), range, buttons.slice(2)),
      caption,
      view.folds.fold("steps", { class: "steps", open: true }, view.t("page.all_steps", { n: last + 1 }), () => list),
    );
    whole.addEventListener("keydown", (event) => {
      const at = event.target;
      if (at instanceof HTMLInputElement || at instanceof HTMLSelectElement || event.altKey || event.ctrlKey || event.metaKey) return;
      const to = { ArrowLeft: this.#step - 1, ArrowRight: this.#step + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    });
    return whole;
  }

  /** What a step says: the story's lines, or, without a story, what the event is. */
  lines(view: View, at: number, most = WHOLE_DECK): Child {
    const step = this.#file.steps[at];
    if (!step) return null;
    const story = this.#told.get(at) ?? [];
    const all: { text: Child[]; indented: boolean }[] =
      story.length > 0 && step.type !== "hand.closed"
        ? story.map((one) => ({ text: told(view.words, one.said, most), indented: one.indented }))
        : [...this.#describe(view, step, most).map((text) => ({ text, indented: false })), ...story.map((one) => ({ text: told(view.words, one.said, most), indented: true }))];
    return all.map(({ text, indented }) => h("span", { class: indented ? "line then" : "line" }, text));
  }

  #describe(view: View, step: HandEvent, most: number): Child[][] {
    const say = (key: string, values?: Parameters<View["t"]>[1]): Child[] => sentence(view.words, key, values, most);
    const bySeat = <T>(pairs: readonly (readonly [seat: number, value: T])[]): Map<number, T[]> => {
      const found = new Map<number, T[]>();
      for (const [seat, value] of pairs) {
        const values = found.get(seat);
        if (values) values.push(value);
        else found.set(seat, [value]);
      }
      return found;
    };
    const known = (places: readonly string[]): string[] => places.flatMap((place) => this.#names.get(place) ?? []);
    switch (step.type) {
      case "table.opened":
        return [say("page.event.table", { n: step.body.seats, game: view.t(`game.${step.body.game}`) })];
      case "hand.opened":
        return [say("page.event.opened", { hand: step.body.hand })];
      case "trumps.declared":
        return Object.entries(step.body.trumps).map(([seat, suit]) => say("page.event.declares", { seat, suit }));
      case "seeds.sealed":
        return [say("page.event.sealed", { seats: Object.keys(step.body.seals) })];
      case "seeds.opened":
        return [say("page.event.seeds", { seats: Object.keys(step.body.seeds) })];
      case "hand.dealt":
        return [say("page.event.dealt", { seat: step.body.first })];
      case "cards.drawn":
        return [...bySeat(step.body.draws.map(([seat, epoch, position]) => [seat, `${epoch}/${position}`]))].map(([seat, places]) => {
          const cards = known(places);
          return cards.length === places.length ? say("story.draws", { seat, cards }) : say("page.event.draws", { seat, n: places.length });
        });
      case "cards.discarded":
        return Object.entries(step.body.discards).map(([seat, { count }]) => say("page.event.throws", { seat, n: count }));
      case "cards.shown":
        return [...bySeat(step.body.shown.map((one) => [one.seat ?? -1, one.card]))].map(([seat, cards]) => say("story.shows", { seat, cards }));
      case "cards.given":
        return step.body.given.map((one) => say("page.event.gives", { seat: one.from, to: one.to, card: one.card }));
      case "cards.returned":
        return [say("story.returned")];
      case "cards.looked":
        return [say("story.looks", { seat: step.body.seat })];
      case "play.called": {
        const { seat, call, amount } = step.body;
        return [amount === null ? say("story.says", { seat, call }) : say("story.says_amount", { seat, call, n: amount })];
      }
      case "play.declared":
        return [step.body.seats.length ? say("story.declared", { lance: step.body.what, seats: step.body.seats }) : say("story.declared_none", { lance: step.body.what })];
      case "stock.reshuffled":
        return [say("page.event.reshuffled", { n: step.body.count })];
      case "hand.closed":
        return [say("page.event.closed")];
      case "hand.aborted":
        return [say("report.ended_early", { reason: view.t(`aborted.${step.body.reason}`) })];
    }
  }

  #board(view: View, standing: Standing, changed: readonly Count[]): HTMLElement[] {
    const scene = this.#stage.at(this.#step);
    const { counts } = standing;
    const draw = (owner: Owner): Child => {
      const own = counts.filter((one) => one.owner === owner);
      return own.length > 0 && h("p", { class: "counts" }, own.map((one) => [h("span", { class: changed.includes(one) ? "new" : "" }, one.name === "bank" && icon("p-o"), countText(view, one)), " "]));
    };
    const teams = [0, 1].map((team) => [team, draw(`team ${team}`)] as const).filter(([, drawn]) => drawn);
    const seats = this.#seats;
    const bottom = this.#viewer ?? 0;
    // The next seat sits to the left, in Mus to the right: that is how each game goes round.
    const turn = this.#file.table.body.game === "mus" ? -1 : 1;
    const felt = h(
      "div",
      { class: this.#fourColours ? "felt four" : "felt", "data-seats": seats },
      this.#middle(view, scene, draw("table")),
      Array.from({ length: seats }, (_, at) => {
        const seat = (((bottom + turn * at) % seats) + seats) % seats;
        return this.#seat(view, scene, standing, seat, at, draw(`seat ${seat}`));
      }),
    );
    const above: HTMLElement[] = [];
    if (teams.length > 0) above.push(h("div", { class: "teams" }, teams.map(([team, drawn]) => h("div", {}, h("h3", {}, teamText(view, team)), drawn))));
    const match = draw("match");
    if (match) above.push(h("div", {}, match));
    if (!standing.counted) above.push(h("p", { class: "muted" }, view.t("page.count.none")));
    return [...above, felt];
  }

  #seat(view: View, scene: Scene, standing: Standing, seat: number, at: number, counts: Child): HTMLElement {
    const hand = this.#report.hand;
    const holding = [...(scene.holdings[seat] ?? [])];
    const call = scene.calls.get(seat);
    const trump = hand?.trumps.get(seat);
    const dealt = scene.stock !== null;
    return h(
      "section",
      { class: `seat at-${at}${scene.out.has(seat) ? " out" : ""}`, "aria-label": view.t("report.seat", { seat }) },
      h(
        "h3",
        {},
        view.t("report.seat", { seat }),
        hand?.first === seat && dealt && standing.mano === null && h("span", { class: "tag" }, view.t("report.first")),
        standing.mano === seat && h("span", { class: "tag" }, view.t("page.mano")),
        standing.turn.includes(seat) && h("span", { class: "tag turn" }, view.t("page.turn")),
        this.#viewer === seat && h("span", { class: "tag own" }, view.t("page.you")),
        trump !== undefined && h("span", { class: `tag u-${trump}` }, view.t("report.trump", { suit: trump }), icon(`p-${trump}`, "pip")),
        scene.out.has(seat) && h("span", { class: "tag" }, view.t("call.fold")),
      ),
      counts,
      holding.length > 0
        ? h("div", { class: holding.length > 8 ? "cards many" : "cards" }, holding.slice(0, WHOLE_DECK).map((place) => this.#card(view, scene, place, seat)), this.#more(view, holding))
        : h("p", { class: "muted" }, dealt ? view.t("page.no_cards_left") : view.t("report.no_cards")),
      call && h("p", { class: "bubble" }, view.t(`call.${call.call}`), call.amount !== null && ` ${view.words.number(call.amount)}`),
    );
  }

  #card(view: View, scene: Scene, place: string, seat: number | null, down = false): Element {
    const name = this.#names.get(place) ?? null;
    const hidden = this.#viewer !== null && seat !== this.#viewer && !scene.open.has(place);
    const state = `${scene.moved.has(place) && !scene.dealing ? "moved " : ""}${down ? "down" : ""}`;
    return drawCard(view.words, hidden ? null : name, state);
  }

  #more(view: View, cards: readonly unknown[]): Child {
    return cards.length > WHOLE_DECK && h("span", { class: "tag" }, view.t("page.and_more", { n: cards.length - WHOLE_DECK }));
  }

  #middle(view: View, scene: Scene, counts: Child): HTMLElement {
    const turned = this.#turned;
    const played = scene.middle;
    const pile = this.#file.table.body.game === "svoi";
    const seats = [...new Set(played.map((one) => one.seat))];
    const group = (cards: readonly Laid[], label: Child): HTMLElement =>
      h("div", { class: "laid" }, label, h("div", { class: pile ? "cards pile" : "cards" }, cards.slice(0, WHOLE_DECK).map((one) => this.#card(view, scene, one.place, one.seat, one.down)), this.#more(view, cards)));
    return h(
      "div",
      { class: "middle" },
      counts,
      h(
        "div",
        { class: "row" },
        scene.stock !== null && scene.stock > 0 &&
          h("figure", {}, drawCard(view.words, null, "stock"), h("figcaption", {}, view.t("page.stock", { n: scene.stock }))),
        scene.stock !== null && turned !== null &&
          h("figure", {}, drawCard(view.words, turned), h("figcaption", { "aria-label": `${view.t("page.turned")}: ${cardName(view.words, turned)}` }, view.t("page.turned"))),
        scene.heap > 0 && h("figure", {}, drawCard(view.words, null), h("figcaption", {}, view.t("page.heap", { n: scene.heap }))),
      ),
      pile
        ? played.length > 0 && group(played.slice(-PILE), h("p", {}, view.t("page.pile", { n: played.length })))
        : h("div", { class: "row" }, seats.map((seat) =>
            group(played.filter((one) => one.seat === seat), seat !== null && h("p", {}, view.t("report.seat", { seat }), played.some((one) => one.seat === seat && one.down) && [" · ", view.t("page.face_down")])))),
    );
  }
}

