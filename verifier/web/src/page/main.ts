/** The page: takes files in, has them verified, and shows what was found. */

import packed from "virtual:words";
import { sha256 } from "@noble/hashes/sha2.js";
import { hex, utf8 } from "../verify/bytes.ts";
import type { HandFile } from "../verify/file.ts";
import { type Given as Asked, type MatchReport, readNotes, verifyMatchSteps, verifySteps } from "../verify/index.ts";
import type { Report, Word } from "../verify/report.ts";
import { loadLanguages } from "../words/load.ts";
import { Words } from "../words/words.ts";
import { checkFold, drawChecks } from "./checks.ts";
import { qrCode, spoken } from "./code.ts";
import { type Child, h, icon } from "./dom.ts";
import { drawEvidence, type Given, NOTHING, stepOf } from "./evidence.ts";
import { type Brought, kindOf, type Linked, MOST, readFiles, readLink, Refused, whose } from "./intake.ts";
import { ownHash } from "./itself.ts";
import type { Context } from "./numbers.ts";
import { drawPrint } from "./print.ts";
import { matchToJson, notProved, reportToJson } from "./report.ts";
import { TableView } from "./table.ts";
import { tamperedCopy, tamperings } from "./tamper.ts";
import { askKey, badge, banner, drawVerdict, wordName } from "./verdict.ts";
import { button, code, Folds, section, type View } from "./view.ts";
import "./page.css";

/** How long the page may be busy before it looks up, in milliseconds. */
const SLICE = 12;

/** Bytes that are hashed at a time. */
const PIECE = 1 << 18;
/** Rotations that lead nowhere are not kept for the next file. */
const BAD_ROTATIONS = "unreadable.rotations";

/** A hand as it was brought, and what was found. */
interface Hand {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Hex. */
  readonly fileHash: string;
  readonly report: Report;
  readonly file: HandFile | null;
  readonly table: TableView | null;
  /** The hand that this one is a changed copy of, and what was changed. */
  readonly real: Hand | null;
  readonly change: string;
}

interface Match {
  readonly names: readonly string[];
  readonly bytes: readonly Uint8Array[];
  /** Of each file what it says that it is: `named`. */
  readonly hands: readonly string[];
  readonly report: MatchReport;
  /** With what it was verified. */
  readonly given: Given;
}

// Before anything is changed: see itself.ts.
const pageHash = ownHash();

class Page {
  readonly #languages: readonly Words[];
  readonly #header = h("header", {});
  readonly #main = h("main", {});
  readonly #result = h("div", { "aria-live": "polite" });
  readonly #alert = h("div", { role: "alert" });
  readonly #rest = h("div", {});
  readonly #paper = h("div", {});
  readonly #picker = h("input", { type: "file", multiple: true, class: "hidden", tabindex: -1, "aria-hidden": "true" });
  readonly #folds = new Folds();
  #words: Words;
  #link: Linked = { brought: [], key: null, language: null };
  #given: Given = NOTHING;
  #match: Match | null = null;
  #hand: Hand | null = null;
  #problem: string | null = null;
  /** Counts verifications, so that an old one does not show its result after a newer one began. */
  #run = 0;

  constructor(languages: readonly Words[]) {
    this.#languages = languages;
    this.#words = languages[0] as Words; // the build puts five in
    const wished = navigator.languages.map((tag) => tag.slice(0, 2));
    this.#choose(wished.find((tag) => languages.some((words) => words.language.tag === tag)) ?? "en");
    this.#picker.addEventListener("change", () => {
      const files = [...(this.#picker.files ?? [])];
      this.#picker.value = "";
      void this.#take(readFiles(files));
    });
    this.#main.append(this.#alert, this.#result, this.#rest);
    // It says that scripts are off.
    document.getElementById("off")?.remove();
    document.body.append(this.#header, this.#main, this.#paper, this.#picker);
    this.#listen();
  }

  get #view(): View {
    const words = this.#words;
    return { words, folds: this.#folds, t: (key, values) => words.text(key, values) };
  }

  #choose(tag: string): void {
    this.#words = this.#languages.find((words) => words.language.tag === tag) ?? this.#words;
    document.documentElement.lang = this.#words.language.tag;
    document.title = `fairdeal: ${this.#words.text("page.title")}`;
  }

  #listen(): void {
    window.addEventListener("hashchange", () => void this.follow());
    window.addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("over");
    });
    window.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) document.body.classList.remove("over");
    });
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("over");
      void this.#take(readFiles(event.dataTransfer?.files ?? []));
    });
    window.addEventListener("paste", (event) => {
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
      const { files } = event.clipboardData ?? new DataTransfer();
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (files.length > 0) void this.#take(readFiles(files));
      else if (text) this.#takeText(text);
    });
  }

  /** Shows what the link holds. */
  async follow(): Promise<void> {
    try {
      this.#link = await readLink(location.hash);
    } catch (error) {
      this.#complain(error);
      return;
    }
    if (this.#link.language !== null) this.#choose(this.#link.language);
    this.draw();
    if (this.#link.brought.length > 0) await this.#take(Promise.resolve(this.#link.brought));
  }

  #takeText(text: string): void {
    const bytes = utf8(text.trim());
    void this.#take(
      bytes.length > MOST
        ? Promise.reject(new Refused("unreadable.size"))
        : Promise.resolve([{ name: "", kind: kindOf(bytes), bytes }]),
    );
  }

  /** Sorts what was brought: hands replace the one shown, all else is evidence. */
  async #take(reading: Promise<readonly Brought[]>): Promise<void> {
    let brought: readonly Brought[];
    try {
      brought = await reading;
    } catch (error) {
      this.#complain(error);
      return;
    }
    // Neither a verdict on the hand nor evidence: the command refuses them as well.
    if (brought.some((one) => one.kind === "notes" && !readNotes(one.bytes))) return this.#complain(new Refused("page.error.notes"));
    const hands = brought.filter((one) => one.kind === "hand");
    // No match, so nothing that it could have wrong; and nothing to accuse anybody of.
    if (hands.length > 1 && new Set(hands.map((one) => whose(one.bytes).table).filter(Boolean)).size > 1) return this.#complain(new Refused("page.error.tables"));
    this.#problem = null;
    const notes = brought.filter((one) => one.kind === "notes").map((one) => one.bytes);
    const texts = (kind: string): string[] => brought.filter((one) => one.kind === kind).map((one) => new TextDecoder().decode(one.bytes).trim());
    // What was given for one hand says nothing about the next; the key and those that it leads to do.
    const { key } = this.#given;
    const reports = this.#hand ? [this.#hand.report] : (this.#match?.report.reports ?? []);
    const rotations = reports.some((one) => one.reason?.key === BAD_ROTATIONS) ? null : this.#given.rotations;
    const before: Given = hands.length > 0 && (this.#hand || this.#match) ? { ...NOTHING, key, rotations } : { ...this.#given, rotations };
    this.#given = {
      key: texts("key").at(-1) ?? before.key,
      seeds: before.seeds,
      notes: notes.length > 0 ? notes : before.notes,
      receipts: [...before.receipts, ...brought.filter((one) => one.kind === "receipt").map((one) => one.bytes)],
      witnesses: [...new Set([...before.witnesses, ...texts("witness")])],
      rotations: brought.findLast((one) => one.kind === "rotations")?.bytes ?? before.rotations,
    };
    const [only] = hands;
    if (hands.length > 1) await this.#verifyMatch(hands);
    else if (only) {
      this.#match = null;
      this.#folds.clear();
      await this.#verify(only.name, only.bytes);
    } else if (this.#hand) await this.#verify(this.#hand.name, this.#hand.bytes);
    else if (this.#match) await this.#matchAgain(this.#match);
    else {
      this.#problem = "page.error.only_evidence";
      this.draw();
    }
  }

  #complain(error: unknown): void {
    this.#problem = error instanceof Refused ? error.key : "page.error.nothing";
    this.draw();
    window.scrollTo(0, 0); // where it stands
  }

  async #verify(name: string, bytes: Uint8Array, real: Hand | null = null, change = ""): Promise<void> {
    const { seeds, receipts, witnesses, key, rotations } = this.#given;
    const notes = this.#notesOf(bytes);
    const asked = {
      ...(key !== null && { key }), ...(notes && { notes }), ...(rotations && { rotations }), mine: new Map(seeds), receipts, witnesses,
    };
    const match = this.#match?.report.reports.flatMap((one) => one.file ?? []) ?? [];
    const checked = await this.#work(checkSteps(bytes, asked, match));
    if (!checked) return;
    const { report, fileHash } = checked;
    const before = this.#hand;
    const file = report.hand ? report.file : null;
    // The same file again, with more evidence: the reader stays at the same step.
    const same = before?.bytes === bytes && before.file !== null && before.report.word !== "UNREADABLE";
    const table = file && (same && before.table ? before.table : new TableView(file, report));
    this.#hand = { name, bytes, fileHash, report, file, table, real, change };
    this.draw();
    this.#arrive();
  }

  /** The notes of a hand; if there are none of it, any but those that came with a match and are of another hand of it. */
  #notesOf(bytes: Uint8Array): Uint8Array | undefined {
    const { notes } = this.#given;
    if (notes.length === 0) return undefined;
    const hand = named(whose(bytes));
    const elsewhere = (one: Uint8Array): boolean | undefined => this.#match?.given.notes.includes(one) && this.#match.hands.includes(named(readNotes(one)));
    return notes.find((one) => named(readNotes(one)) === hand) ?? notes.find((one) => !elsewhere(one));
  }

  /** What was given for one hand of a match says nothing about the others; the key does. */
  #forgetHand({ given }: Match): void {
    const { key, rotations } = this.#given;
    this.#given = { ...given, key, rotations };
  }

  #matchAgain({ names, bytes }: Match): Promise<void> {
    return this.#verifyMatch(bytes.map((one, at) => ({ name: names[at] ?? "", kind: "hand", bytes: one })));
  }

  async #verifyMatch(hands: readonly Brought[]): Promise<void> {
    // The order of dropped files is the file manager's; a match is in the order of its hands.
    const sorted = hands
      .map((one) => ({ ...one, of: whose(one.bytes) }))
      .sort((a, b) => a.of.hand - b.of.hand);
    const given = this.#given;
    const report = await this.#work(verifyMatchSteps(sorted.map((one) => one.bytes), given.key ?? undefined, given.rotations ?? undefined));
    if (!report) return;
    this.#folds.clear();
    this.#hand = null;
    this.#match = { names: sorted.map((one) => one.name), bytes: sorted.map((one) => one.bytes), hands: sorted.map((one) => named(one.of)), report, given };
    this.draw();
    this.#arrive();
  }

  /** Runs a verification in slices, with its progress shown; null if a newer one began meanwhile, or if it broke off. */
  async #work<R>(steps: Generator<number, R>): Promise<R | null> {
    const run = ++this.#run;
    const progress = h("progress", { max: 1, value: 0, "aria-label": this.#view.t("page.working") });
    this.#alert.replaceChildren();
    this.#result.replaceChildren(h("div", { class: "working" }, progress, h("p", {}, this.#view.t("page.working"))));
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve));
      if (run !== this.#run) return null;
      try {
        const until = performance.now() + SLICE;
        let next = steps.next();
        while (!next.done && performance.now() < until) next = steps.next();
        if (next.done) return next.value;
        progress.value = next.value;
      } catch (error) {
        // No file makes the verifier throw: the browser lacks something, or there is a mistake in this page.
        this.#complain(new Refused("page.error.broken"));
        reportError(error);
        return null;
      }
    }
  }

  /** The verdict is what comes next for who listens or uses the keyboard. */
  #arrive(): void {
    window.scrollTo(0, 0);
    this.#result.querySelector("h1")?.focus({ preventScroll: true });
  }

  draw(): void {
    const view = this.#view;
    this.#drawHeader(view);
    this.#alert.replaceChildren(...(this.#problem === null ? [] : [problem(view, this.#problem)]));
    const hand = this.#hand;
    this.#paper.replaceChildren();
    document.body.classList.toggle("with-paper", hand !== null);
    if (hand) {
      this.#result.replaceChildren(...this.#handTop(view, hand));
      this.#rest.replaceChildren(...this.#handRest(view, hand));
      this.#paper.replaceChildren(drawPrint(view, hand.file, hand.report, hand.fileHash, pageHash));
    } else if (this.#match) {
      this.#result.replaceChildren(...this.#matchTop(view, this.#match));
      this.#rest.replaceChildren(this.#about(view));
    } else {
      this.#result.replaceChildren();
      this.#rest.replaceChildren(this.#welcome(view), this.#about(view));
    }
  }

  #drawHeader(view: View): void {
    const select = h(
      "select",
      { id: "language", onchange: () => { this.#choose(select.value); this.draw(); document.getElementById("language")?.focus(); } },
      this.#languages.map(({ language }) => h("option", { value: language.tag, lang: language.tag, selected: language === view.words.language }, language.name)),
    );
    const shown = this.#hand !== null || this.#match !== null;
    this.#header.replaceChildren(
      h("span", { class: "brand" }, icon("i-ok", "logo"), h("strong", { translate: "no" }, "fairdeal"), h("span", { class: "muted" }, view.t("page.title"))),
      h(
        "div",
        { class: "row" },
        shown && button(view.t("page.another"), () => this.#picker.click()),
        h("label", { for: "language", class: "hidden" }, view.t("page.language")),
        select,
      ),
    );
  }

  #welcome(view: View): HTMLElement {
    const text = h("textarea", { id: "text", rows: 5, spellcheck: "false", "aria-label": view.t("page.paste") });
    return h(
      "div",
      { class: "welcome" },
      // After a file that could not be read the verdict is the page's heading.
      h(this.#hand ? "h2" : "h1", {}, view.t("page.title")),
      h("p", { class: "lead" }, view.t("page.intro")),
      h(
        "div",
        { class: "drop" },
        h("p", { class: "large" }, view.t("page.drop")),
        button(view.t("page.choose"), () => this.#picker.click(), { class: "primary" }),
        h("p", { class: "muted" }, view.t("page.drop_hint")),
      ),
      this.#folds.fold("paste", {}, view.t("page.paste"), () => [text, button(view.t("page.paste_check"), () => { if (text.value.trim()) this.#takeText(text.value); })]),
    );
  }

  #handTop(view: View, hand: Hand): HTMLElement[] {
    const top: HTMLElement[] = [];
    const { real } = hand;
    if (real) {
      top.push(
        h("div", { class: "copy" }, h("p", {}, view.t("page.tamper.banner", { what: view.t(`page.tamper.${hand.change}`) })), button(view.t("page.tamper.back"), () => { this.#hand = real; this.draw(); this.#arrive(); }, { class: "primary" })),
      );
    } else if (this.#match) {
      const match = this.#match;
      top.push(button(view.t("page.match.back"), () => {
        // A key that was confirmed here is confirmed for all of them.
        this.#forgetHand(match);
        if (match.given.key !== this.#given.key || match.given.rotations !== this.#given.rotations) return void this.#matchAgain(match);
        this.#hand = null;
        this.draw();
        this.#arrive();
      }));
    }
    const text = new TextDecoder().decode(hand.bytes.slice(-64)).trimEnd();
    top.push(drawVerdict(view, hand.report, hand.report.reason?.key === "unreadable.json" && hand.bytes[0] === 0x7b && !text.endsWith("}")));
    const { key } = this.#given;
    if (hand.report.failed === "log.signature" && key !== null && key !== hand.file?.table.body.log_key) {
      top.push(h("section", { class: "ask" }, h("p", {}, view.t("page.key.changed", { path: "/log/rotations" })), button(view.t("page.choose"), () => this.#picker.click())));
    }
    if (hand.report.word === "CONSISTENT" && hand.file) {
      top.push(askKey(view, hand.file, this.#link.key, (key) => { this.#given = { ...this.#given, key }; void this.#verify(hand.name, hand.bytes, real, hand.change); }));
    }
    return top;
  }

  #handRest(view: View, hand: Hand): HTMLElement[] {
    const { file, report, table } = hand;
    if (!file || !table) return [report.checks.length > 0 ? drawChecks(view, report, null) : this.#welcome(view), this.#about(view)];
    const context: Context = { bytes: hand.bytes, fileHash: hand.fileHash, file, report, names: table.names };
    return [
      h(
        "div",
        { class: "columns" },
        h("div", {}, table.draw(view), this.#evidence(view, hand, context), hand.real ? null : this.#tamper(view, hand, file)),
        h("div", {}, drawChecks(view, report, context), this.#proved(view, report.word), this.#seal(view, file), this.#keep(view, () => reportToJson(this.#english, report))),
      ),
      this.#about(view),
    ];
  }

  get #english(): Words {
    return this.#languages.find((words) => words.language.tag === "en") ?? this.#words;
  }

  #evidence(view: View, hand: Hand, context: Context): HTMLElement {
    return drawEvidence(
      view, context.file, hand.report, context, this.#given,
      (given, seat) => {
        this.#given = given;
        if (seat !== null) hand.table?.sit(seat);
        void this.#verify(hand.name, hand.bytes, hand.real, hand.change);
      },
      () => this.#picker.click(),
    );
  }

  #tamper(view: View, hand: Hand, file: HandFile): HTMLElement {
    const choice = h("select", { id: "change" }, tamperings(file).map((name) => h("option", { value: name }, view.t(`page.tamper.${name}`))));
    return section(
      "tamper",
      view.t("page.tamper.title"),
      h("p", {}, view.t("page.tamper.text")),
      h("label", { for: "change" }, view.t("page.tamper.what")),
      h("div", { class: "row" }, choice, button(view.t("page.tamper.go"), () => {
        const copy = tamperedCopy(hand.bytes, choice.value);
        if (copy) void this.#verify(hand.name, copy, hand, choice.value);
      })),
    );
  }

  #proved(view: View, word: Word): HTMLElement {
    return section(
      "proved",
      view.t("page.proved.title"),
      word === "VERIFIED" && h("ul", {}, [1, 2, 3].map((n) => h("li", {}, view.t(`page.proved.${n}`)))),
      h("p", {}, view.t("report.not_proved")),
      h("ul", {}, notProved(view.words).map((line) => h("li", {}, line))),
    );
  }

  /** The service's seal on its secret: of this hand, and of the one after it. */
  #seal(view: View, file: HandFile): HTMLElement {
    const { commitment, next_commitment: next } = file.opened.body;
    const one = (title: string, digest: string): Child => [
      h("h3", {}, view.t(title)),
      h("div", { class: "seal" }, qrCode(digest, view.t("page.seal.qr")), h("div", {}, h("p", {}, view.t("page.short_form")), h("p", { class: "spoken" }, code(spoken(digest))), h("p", { class: "muted" }, code(digest)))),
    ];
    return section("seal", view.t("page.seal.title"), h("p", {}, view.t("page.seal.text")), one("page.seal.this", commitment), this.#folds.fold("next", {}, view.t("page.seal.next"), () => one("page.seal.next", next)));
  }

  #keep(view: View, report: () => object): HTMLElement {
    const said = h("p", { role: "status" });
    const text = (): string => `${JSON.stringify(report(), null, 2)}\n`;
    const copy = async (): Promise<void> => {
      try {
        await navigator.clipboard.writeText(text());
        said.textContent = view.t("page.keep.copied");
      } catch {
        // A browser may refuse; the reader can copy it by hand.
        said.replaceChildren(h("textarea", { rows: 8, readonly: true, "aria-label": view.t("page.keep.title") }, text()));
      }
    };
    const download = (): void => {
      const link = h("a", { href: URL.createObjectURL(new Blob([text()], { type: "application/json" })), download: "report.json" });
      link.click();
      URL.revokeObjectURL(link.href);
    };
    return section(
      "keep",
      view.t("page.keep.title"),
      h("div", { class: "row" }, button(view.t("page.keep.print"), () => window.print()), button(view.t("page.keep.copy"), () => void copy()), button(view.t("page.keep.download"), download)),
      said,
    );
  }

  #matchTop(view: View, match: Match): HTMLElement[] {
    const { names, bytes, report, given } = match;
    const worst = report.word;
    const unconfirmed = worst === "CONSISTENT" ? report.reports.find((one) => one.word === worst)?.file : null;
    const rows = report.reports.map((one, at) => {
      const open = (): void => { void this.#verify(names[at] ?? "", bytes[at] ?? new Uint8Array()); };
      const title = one.hand ? view.t("report.match_hand", { hand: one.hand.number }) : (names[at] ?? "");
      return h("li", {}, badge(view, one.word), " ", h("span", { class: "grow" }, title, " ", h("span", { class: "muted" }, names[at])), one.failed !== null && code(one.failed), button(view.t("page.match.open"), open, { "aria-label": `${view.t("page.match.open")}: ${title}` }));
    });
    return [
      banner(worst, `${view.t("report.match", { n: names.length })}: ${view.t(`page.word.${wordName(worst)}`)}`, h("p", { class: "lead" }, view.t(`page.verdict.${wordName(worst)}`))),
      ...(unconfirmed ? [askKey(view, unconfirmed, this.#link.key, (key) => { this.#given = { ...this.#given, key }; void this.#matchAgain(match); })] : []),
      section("match", view.t("page.match.title"), checkFold(view, report.check, null), given.notes.length + given.receipts.length > 0 && h("p", { class: "muted" }, view.t("page.match.own")), h("ul", { class: "hands" }, rows)),
      this.#proved(view, worst),
      this.#keep(view, () => matchToJson(this.#english, report, names)),
    ];
  }

  #about(view: View): HTMLElement {
    return section(
      "about",
      view.t("page.about.title"),
      h("p", {}, view.t("page.about.text")),
      h("p", {}, view.t("page.page_hash"), " ", code(pageHash)),
      h("p", { class: "muted" }, view.t("page.about.compare"), " ", code("fairdeal-verify --page-hash verify.html")),
      view.words.language.unreviewed && h("p", { class: "muted" }, view.t("page.about.unreviewed")),
    );
  }
}

/** The report, and the SHA-256 of the file in hex. A receipt of another hand of its match says nothing of this one. */
function* checkSteps(bytes: Uint8Array, asked: Asked & Pick<Given, "receipts">, match: readonly HandFile[]): Generator<number, { report: Report; fileHash: string }> {
  const hand = named(whose(bytes));
  const receipts: Uint8Array[] = [];
  for (const one of asked.receipts) {
    const step = yield* stepOf(one, match);
    if (!step || named(step.body) === hand) receipts.push(one);
  }
  const report = yield* verifySteps(bytes, { ...asked, receipts }, { trace: true });
  const hash = sha256.create();
  for (let at = 0; at < bytes.length; at += PIECE) {
    hash.update(bytes.subarray(at, at + PIECE));
    yield 1;
  }
  return { report, fileHash: hex(hash.digest()) };
}

/** A hand as one text, to compare it. */
function named(one: { readonly table: string; readonly hand: number } | null): string {
  return `${one?.table} ${one?.hand}`;
}

/** What is wrong with what was brought; that a hand is still to come is not. */
function problem(view: View, key: string): HTMLElement {
  const missing = key === "page.error.only_evidence";
  return h("p", { class: missing ? "problem missing" : "problem" }, !missing && [icon("i-bad"), " "], view.t(key));
}

void new Page(loadLanguages(packed).map((language) => new Words(language))).follow();
