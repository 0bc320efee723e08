/** The numbers behind each check, written as in the specification. */

import { base64, hex, utf8 } from "../verify/bytes.ts";
import { at, leaf } from "../verify/decks.ts";
import type { EventOf, HandEvent, Type } from "../verify/events.ts";
import type { HandFile } from "../verify/file.ts";
import { leafHash, path } from "../verify/merkle.ts";
import type { Trace } from "../verify/outcome.ts";
import type { Report } from "../verify/report.ts";
import { inlineCard, WHOLE_DECK } from "./cards.ts";
import { type Child, h } from "./dom.ts";
import { code, facts, inPieces, type View } from "./view.ts";

/** What the numbers are taken from. */
export interface Context {
  readonly bytes: Uint8Array;
  /** Hex. */
  readonly fileHash: string;
  readonly file: HandFile;
  readonly report: Report;
  readonly names: ReadonlyMap<string, string>;
}

type Row = readonly [name: string, value: Child];

function all<T extends Type>(file: HandFile, type: T): EventOf<T>[] {
  return file.steps.filter((step): step is HandEvent & EventOf<T> => step.type === type);
}

/** Names and values as in the specification. */
function listed(view: View, rows: readonly Row[]): HTMLElement[] {
  return facts(view, rows.map(([name, value]) => [code(name), typeof value === "string" ? code(value) : value]));
}

/** Items in one line, and how many more there are than fit. */
function few<T>(view: View, items: readonly T[], draw: (item: T) => Child): Child {
  return [items.slice(0, WHOLE_DECK).map(draw), items.length > WHOLE_DECK && view.t("page.and_more", { n: items.length - WHOLE_DECK })];
}

/** A map by seat, over all events that have one. */
function collect<T>(maps: readonly { readonly [seat: string]: T }[]): Record<string, T> {
  const all: Record<string, T> = {};
  for (const map of maps) Object.assign(all, map);
  return all;
}

function json(value: unknown): HTMLElement {
  return h("pre", { tabindex: 0 }, code(JSON.stringify(value, null, 1)));
}

/** A table; `row` makes the cells of one item. */
function grid<T>(view: View, head: readonly Child[], items: readonly T[], row: (item: T, at: number) => readonly Child[]): HTMLElement[] {
  const [body, ...more] = inPieces(view, h("tbody"), items, (item, at) => h("tr", {}, row(item, at).map((cell) => h("td", {}, cell))));
  return [h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))), body)), ...more];
}

/** Builds what a check's numbers are; nothing for a check that has no more than its values. */
export function numbers(view: View, context: Context, id: string): Child {
  const { file, report, bytes, names } = context;
  const { words } = view;
  const parts = id.split(".");
  const [a = 0, b = 0] = parts.filter((part) => /^\d+$/.test(part)).map(Number);
  const rows = (...list: Row[]): Child => listed(view, list);
  const card = (place: string): Child => {
    const name = names.get(place);
    return name === undefined ? "?" : inlineCard(words, name);
  };
  const trace = (epoch: number): Trace | undefined => report.traces.find((one) => one.epoch === epoch);
  const opened = (epoch: number): Record<string, string> =>
    collect(all(file, "seeds.opened").filter((event) => event.body.epoch === epoch).map((event) => event.body.seeds));
  const { commitment, terms } = file.opened.body;

  switch (parts[0]) {
    case "format":
      return rows(["bytes", words.number(bytes.length)], ["SHA-256", context.fileHash]);
    case "chain":
      return parts.length > 1
        ? rows([`x_${a}`, opened(a)[b] ?? "?"], [`H("link", x_${a})`, `x_${a - 1} = ${opened(a - 1)[b] ?? "?"}`])
        : grid(view, ["seq", "type", "SHA-256"], file.steps, (step) => [words.number(step.body.seq), code(step.type), code(hex(step.digest))]);
    case "terms":
      return [rows(["T", hex(file.table.digest)], ["hand.opened.terms", terms]), json(file.table.body)];
    case "server":
      return rows(["C", commitment], ["s", file.disclosed?.serverSeed ?? "?"], ["", 'C = H("server seed", s)']);
    case "seal":
      return rows(
        ["seal", collect(all(file, "seeds.sealed").map((event) => event.body.seals))[a] ?? "?"],
        ["x_0", opened(0)[a] ?? "?"],
        ["", `seal = H("seat seed", T, u32be(${file.opened.body.hand}), u8(${a}), C, x_0)`],
      );
    case "order":
      return listed(view, all(file, "seeds.opened").map((event): Row => [`seeds.opened ${event.body.epoch}`, `head ${event.body.head}`]));
    case "shuffle":
      return report.traces.map((one) => [rows([`K_${one.epoch}`, one.key]), swaps(view, one)]);
    case "deck":
      return parts[1] === "root" && trace(0) ? leaves(view, trace(0) as Trace) : null; // asked in the same line
    case "reshuffle": {
      const one = trace(a);
      return one && leaves(view, one);
    }
    case "deal": {
      const dealt = all(file, "hand.dealt")[0];
      return dealt && grid(view, [view.t("page.seat"), view.t("page.cards")], Object.entries(dealt.body.positions), ([seat, positions]) => [seat, few(view, positions, (position) => [`${position} `, card(at(0, position)), " "])]);
    }
    case "draw":
      return grid(view, [view.t("page.seat"), view.t("page.place"), view.t("page.cards")], all(file, "cards.drawn")[a - 1]?.body.draws ?? [], ([seat, epoch, position]) => [seat, at(epoch, position), card(at(epoch, position))]);
    case "discard":
      return discard(view, file, a, card);
    case "show": {
      const events = file.steps.filter((step) => step.type === "cards.shown" || step.type === "cards.given");
      const event = events[a - 1];
      const shown = event?.type === "cards.shown" ? event.body.shown : event?.type === "cards.given" ? event.body.given : [];
      return grid<(typeof shown)[number]>(view, [view.t("page.place"), view.t("page.cards"), "salt"], shown, (one) => [at(one.epoch, one.position), inlineCard(words, one.card), code(one.salt)]);
    }
    case "seats":
      return json({ contribute: file.table.body.contribute, custody: file.table.body.custody, keys: file.table.body.keys });
    case "seat": {
      const signed = file.steps.flatMap((step): Row[] => ("sigs" in step.body && step.body.sigs[a] !== undefined ? [[step.type, step.body.sigs[a]]] : []));
      return listed(view, [["key", file.table.body.keys[a] ?? "-"], ...signed]);
    }
    case "play":
    case "end": {
      const last = file.last;
      return [
        file.opened.body.match && json({ match: file.opened.body.match }),
        last.type === "hand.closed" ? json({ result: last.body.result }) : last.type === "hand.aborted" && json({ reason: last.body.reason, missing: last.body.missing }),
      ];
    }
    case "log": {
      const { checkpoint, index, path: beside } = file.proof;
      return parts[1] === "inclusion"
        ? rows(
            ["index", String(index)],
            ["leaf", hex(leafHash(file.last.raw))],
            ...beside.map((one, level): Row => [`path ${level}`, hex(one)]),
            ["root", hex(checkpoint.root)],
          )
        : [h("pre", { tabindex: 0 }, code(checkpoint.text)), rows(...checkpoint.lines.map((one): Row => [one.name, base64(one.signature)]), ["log_key", file.table.body.log_key])];
    }
    default:
      return null;
  }
}

/** The lock of the K-th `cards.discarded`, and the cards behind it. */
function discard(view: View, file: HandFile, k: number, card: (place: string) => Child): Child {
  const events = all(file, "cards.discarded");
  const event = events[k - 1];
  return Object.entries(event?.body.discards ?? {}).map(([seat, { lock }]) => {
    const before = events.slice(0, k - 1).filter((one) => one.body.discards[seat] !== undefined).length;
    const places = file.disclosed?.discards.get(Number(seat))?.[before];
    return listed(view, [
      ["lock", lock],
      [`${seat} ${before}`, places ? few(view, places, ([epoch, position]) => [`${at(epoch, position)} `, card(at(epoch, position)), " "]) : "?"],
    ]);
  });
}

/** Each swap of a shuffle. */
function swaps(view: View, trace: Trace): HTMLElement {
  const order = [...trace.cards];
  const lines = trace.draws.map(({ i, j, taken }, step) => {
    const a = order[i] ?? "";
    const b = order[j] ?? "";
    order[i] = b;
    order[j] = a;
    return [step + 1, i, taken.join(" "), j, [inlineCard(view.words, a), " ⇄ ", inlineCard(view.words, b)]];
  });
  return h("div", {}, grid(view, ["#", "i", view.t("page.bytes"), "j", view.t("page.cards")], lines, (line) => line), h("p", {}, view.t("page.order_after"), " ", trace.order.map((card) => [inlineCard(view.words, card), " "])));
}

/** One card's leaf and its path to the root of its deck, for the card that the reader chooses. */
function leaves(view: View, trace: Trace): HTMLElement {
  const hashes = trace.order.map((card, position) => leaf(trace.epoch, position, card, trace.salts[position] ?? ""));
  const shown = h("div", {});
  const show = (position: number): void => {
    const text = `${trace.epoch} ${position} ${trace.order[position] ?? ""} ${trace.salts[position] ?? ""}`;
    shown.replaceChildren(
      ...facts(view, [
        [code("leaf"), code(text)],
        [code("SHA-256(0x00 || leaf)"), code(hex(leafHash(utf8(text))))],
        ...path(hashes, position).map((one, level): readonly [Child, Child] => [code(`path ${level}`), code(hex(one))]),
        [code("root"), code(trace.root)],
      ]),
    );
  };
  const choice = h(
    "select",
    { "aria-label": view.t("page.which_card"), onchange: () => show(Number(choice.value)) },
    trace.order.map((card, position) => h("option", { value: position }, `${position}: ${card}`)),
  );
  show(0);
  return h("div", {}, h("p", { class: "row" }, view.t("page.which_card"), choice), shown);
}
