/** What of the page needs no browser; tests/page of the repository opens it in one. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { base32, qrText, spoken } from "../src/page/code.ts";
import { type Count, Counting } from "../src/page/counts.ts";
import { kindOf, readLink, Refused, whose } from "../src/page/intake.ts";
import { cardNames, Stage } from "../src/page/scene.ts";
import { tamperedCopy, tamperings } from "../src/page/tamper.ts";
import { readFile, verify } from "../src/verify/index.ts";
import { Words } from "../src/words/words.ts";

const SEEDS = new URL("../../../seeds/", import.meta.url);
const key = readFileSync(new URL("log.vkey", SEEDS), "utf8").trim();
const seed = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(`${name}.fair.json`, SEEDS)));
const words = (tag: string, messages: Record<string, string>): Words =>
  new Words({ tag, name: tag, messages: new Map(Object.entries(messages)), unreviewed: false });

/** Ways to make HTML of a text, and to reach beyond the page. */
const FORBIDDEN = /innerHTML|insertAdjacentHTML|outerHTML\s*=|document\.write|DOMParser|createContextualFragment|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|localStorage|cookie|style=|"style"|\beval\(|new Function/;

test("no source of the page makes HTML of a text, connects, or stores", () => {
  for (const folder of ["page", "words"]) {
    const at = new URL(`../src/${folder}/`, import.meta.url);
    for (const name of readdirSync(at).filter((one) => one.endsWith(".ts"))) {
      assert.doesNotMatch(readFileSync(new URL(name, at), "utf8"), FORBIDDEN, name);
    }
  }
  assert.match("element.innerHTML = text", FORBIDDEN); // the pattern does find it
});

/** What Chrome 103, Firefox 113 or Safari 16.4 lacks: types and the compiler know it, those browsers do not. */
const TOO_NEW =
  /\.to(?:Sorted|Reversed|Spliced)\(|\.with\(|(?:Object|Map)\.groupBy|fromAsync|withResolvers|(?:is|to)WellFormed|\.(?:union|intersection|difference)\(|fromHex\(\)|URL\.canParse|AbortSignal\.any|showPopover|:has\(|:popover|color-mix|@layer|@container|@starting|\(width|content-visibility|light-dark|\/v[.,;)]/;

test("no source needs a newer browser than the page names", () => {
  for (const folder of ["page", "words", "verify", "verify/play", "verify/games"]) {
    const at = new URL(`../src/${folder}/`, import.meta.url);
    for (const name of readdirSync(at).filter((one) => /\.(?:ts|css)$/.test(one))) {
      assert.doesNotMatch(readFileSync(new URL(name, at), "utf8"), TOO_NEW, name);
    }
  }
  for (const line of ["list.toSorted()", "body:has(.paper) { }", "@media (width >= 40rem)"]) assert.match(line, TOO_NEW);
});

test("plurals take the category of the language", () => {
  const russian = words("ru", { k: "{n, plural, one {# карта} few {# карты} many {# карт} other {# карты}}" });
  assert.deepEqual([1, 2, 5, 21].map((n) => russian.text("k", { n })), ["1 карта", "2 карты", "5 карт", "21 карта"]);
});

test("placeholders: lists, cards, words of the catalogue, braces in values", () => {
  const english = words("en", { a: "seats {seats}: {cards}", b: "{call} {n}", "call.envido": "ENVIDO", "report.none": "none", c: "{x}!" });
  assert.deepEqual(english.parts("a", { seats: [0, 2], cards: ["7H", "12o"] }), ["seats ", "0", ", ", "2", ": ", { card: "7H" }, " ", { card: "12o" }]);
  assert.equal(english.text("a", { seats: [], cards: ["7H"] }, (card) => `<${card}>`), "seats none: <7H>");
  assert.equal(english.text("b", { call: "envido", n: 2 }), "ENVIDO 2");
  assert.equal(english.text("c", { x: "{y} # {n, plural, other {#}}" }), "{y} # {n, plural, other {#}}!");
  assert.equal(english.text("no.such.key"), "no.such.key");
});

test("the short form is the beginning of what the QR code holds", () => {
  const digest = "00".repeat(10) + "ff".repeat(22);
  assert.equal(spoken(digest), "0000 0000 0000 0000");
  assert.equal(base32(Uint8Array.of(255, 255)), "ZZZG");
  assert.match(qrText(digest), /^FD1\/[0-9A-HJKMNP-TV-Z]{52}$/);
  const other = "b0f420cac9a7d8951dc00a47ac4a97de5a3fd94c7ebab194c1d6f80289c34a6c";
  assert.ok(qrText(other).startsWith(`FD1/${spoken(other).replaceAll(" ", "")}`));
});

test("files are told apart by what they hold", () => {
  const kind = (text: string): string => kindOf(new TextEncoder().encode(text));
  assert.equal(kindOf(seed("mus-played")), "hand");
  assert.equal(kind("c2sp.org/tlog-proof@v1\nindex 1\n"), "receipt");
  assert.equal(kind('{"cards":[],"format":"fairdeal-notes/1"}'), "notes");
  assert.equal(kind('{\n "format": "fairdeal-rotations/1",\n "rotations": []\n}'), "rotations");
  assert.equal(kind(`${key}\n`), "key");
  assert.equal(kind(`w.example+00000000+${Buffer.from([4, ...Array.from({ length: 32 }, () => 7)]).toString("base64")}`), "witness");
  assert.equal(kind("\xff{"), "hand");
});

test("a file says of which hand it is, as its events do", () => {
  for (const name of readdirSync(SEEDS).filter((one) => one.endsWith(".fair.json"))) {
    const bytes = seed(name.replace(".fair.json", ""));
    const opened = readFile(bytes)?.opened.body;
    if (opened) assert.deepEqual(whose(bytes), { table: opened.table, hand: opened.hand }, name);
  }
  assert.equal(whose(seed("azi-match_2")).hand, 2);
  assert.deepEqual(whose(new TextEncoder().encode("{}")), { table: "", hand: 0 });
});

test("a link gives a file, a key that is not trusted, and a language, and never more than 5 MiB", async () => {
  const h = (bytes: Uint8Array): string => deflateRawSync(bytes).toString("base64url");
  const linked = await readLink(`#h=${h(seed("mus-played"))}&key=${encodeURIComponent(key)}&lang=es&other=1`);
  assert.deepEqual(linked.brought[0]?.bytes, seed("mus-played"));
  assert.equal(linked.key, key);
  assert.equal(linked.language, "es");
  const two = await readLink(`#h=${h(seed("mus-played"))}&rotations=${h(new TextEncoder().encode("{}"))}`);
  assert.deepEqual(two.brought.map((one) => one.kind), ["hand", "rotations"]);
  const refused = (wanted: string) => (error: unknown): boolean => error instanceof Refused && error.key === wanted;
  await assert.rejects(readLink(`#h=${h(new Uint8Array(5 * 1024 * 1024 + 1))}`), refused("unreadable.size"));
  await assert.rejects(readLink("#h=%%%"), refused("page.error.link"));
  await assert.rejects(readLink(`#h=${h(seed("mus-played")).slice(0, 400)}`), refused("page.error.link"));
  assert.deepEqual(await readLink("#key=%E0%A4%A"), { brought: [], key: null, language: null });
});

test("every change to a copy is found, and the file itself stays good", () => {
  const expected: Record<string, string> = { card: "chain", card_chain: "shuffle", secret: "server.commitment", seed: "chain", drop: "chain", score: "play" };
  for (const name of ["kozel-played", "mus-played", "azi-played_four", "svoi-played"]) {
    const real = seed(name);
    const file = readFile(real);
    assert.ok(file);
    const changes = tamperings(file);
    assert.ok(changes.length >= 4, name);
    for (const change of changes) {
      const copy = tamperedCopy(real, change);
      assert.ok(copy, `${name} ${change}`);
      const report = verify(copy, { key });
      assert.equal(report.word, "FAILED", `${name} ${change}`);
      // Without a card shown in the play the chain may break elsewhere; Kozel has all of them.
      if (name === "kozel-played") assert.equal(report.failed, expected[change], change);
    }
    assert.equal(verify(real, { key }).word, "VERIFIED");
  }
  const bare = readFile(seed("kozel-aborted_seal"));
  assert.ok(bare);
  assert.deepEqual(tamperings(bare), ["secret", "drop"]);
  for (const change of ["card", "card_chain", "seed", "score"]) assert.equal(tamperedCopy(seed("kozel-aborted_seal"), change), null, change);
  assert.equal(tamperedCopy(new TextEncoder().encode("[1]"), "drop"), null);
});

test("the scenes agree with the referee's, event by event", () => {
  let compared = 0;
  const names = readdirSync(SEEDS).filter((name) => /-(played|match|bought).*\.fair\.json$/.test(name) && !/fail|lie/.test(name));
  for (const name of names) {
    const bytes = seed(name.replace(".fair.json", ""));
    const report = verify(bytes, { key }, { trace: true });
    const file = readFile(bytes);
    assert.ok(file);
    const cards = cardNames(file, report.traces);
    const stage = new Stage(file, report.hand?.cards ?? 0);
    // Forwards, and backwards as a reader also goes.
    for (const [step, wanted] of [...report.scenes, ...[...report.scenes].reverse()]) {
      if (file.steps[step]?.type === "hand.closed") continue;
      const holdings = stage.at(step).holdings.map((places) => [...places].map((place) => cards.get(place)).sort());
      assert.deepEqual(holdings, wanted.hands.map((hand) => [...hand].sort()), `${name}, step ${step}`);
      compared += 1;
    }
  }
  assert.ok(compared > 300, String(compared));
});

/** A hand's counting, and its numbers after a step by whose they are and their name. */
function counting(name: string): { last: number; after: (step: number) => Record<string, number>; of: Counting; steps: readonly string[] } {
  const bytes = seed(name);
  const report = verify(bytes, { key });
  const file = readFile(bytes);
  assert.ok(file);
  const of = new Counting(file, report);
  const named = (one: Count): [string, number] => [`${one.owner} ${one.name}`, one.n];
  return { last: file.steps.length - 1, after: (step) => Object.fromEntries(of.after(step).counts.map(named)), of, steps: file.steps.map(({ type }) => type) };
}

/** `n` at each of some seats or teams; those that are not said are 0. */
const list = (counts: Record<string, number>, owner: string, name: string, length: number): number[] =>
  Array.from({ length }, (_, at) => counts[`${owner} ${at} ${name}`] ?? 0);

test("what is counted at the end is what the hand was closed with", () => {
  let compared = 0;
  for (const name of readdirSync(SEEDS).filter((one) => /-(played|match|bought|three).*\.fair\.json$/.test(one) && !/fail|lie|undisclosed/.test(one))) {
    const short = name.replace(".fair.json", "");
    const file = readFile(seed(short));
    if (file?.last.type !== "hand.closed" || !file.last.body.result) continue;
    const { match, score } = file.last.body.result as unknown as { match: Record<string, number[]>; score: Record<string, number[]> };
    const { seats, game } = file.table.body;
    const { after, last } = counting(short);
    const end = after(last);
    compared += 1;
    if (game === "azi") {
      assert.deepEqual([list(end, "seat", "chips", seats), end["table bank"]], [match["stacks"], match["bank"]], name);
    } else if (game === "kozel") {
      assert.deepEqual([list(end, "team", "points", 2), list(end, "team", "tricks", 2), list(end, "team", "defeat", 2)], [score["points"], score["tricks"], match["defeat"]], name);
    } else if (game === "mus") {
      const before = (file.opened.body.match as unknown as { score: number[] }).score;
      assert.deepEqual(list(end, "team", "score", 2), before.map((n, team) => n + (score["points"]?.[team] ?? 0)), name);
    } else {
      assert.deepEqual([list(end, "seat", "cards", 2), list(end, "seat", "wins", 2)], [score["left"], match["wins"]], name);
    }
  }
  assert.ok(compared > 25, String(compared));
});

test("no chip is lost on the way, and what has changed is said", () => {
  for (const name of ["azi-played", "azi-played_four", "azi-played_short", "azi-match_2", "azi-bought_2"]) {
    const { after, last, of } = counting(name);
    const whole = (step: number): number => Object.entries(after(step)).filter(([one]) => /chips$|bank$/.test(one)).reduce((all, [, n]) => all + n, 0);
    const before = after(0);
    assert.ok(before["table bank"] !== undefined && before["seat 0 chips"] !== undefined, name);
    for (let step = 0; step <= last; step++) {
      assert.equal(whole(step), whole(0), `${name}, step ${step}`);
      const { counts } = of.after(step);
      const other = counts.filter((one) => step > 0 && after(step - 1)[`${one.owner} ${one.name}`] !== one.n);
      assert.deepEqual(of.changed(step, counts), other, `${name}, step ${step}`);
    }
  }
});

test("where the play could not be followed nothing is counted, and so it says", () => {
  const { after, of, steps, last } = counting("azi-bet_size_fail");
  const lost = steps.findIndex((_, step) => !of.after(step).counted);
  assert.equal(steps[lost], "play.called");
  assert.ok(Object.keys(after(lost - 1)).length > 0);
  for (const step of [lost, last]) assert.deepEqual(after(step), {});
  const closed = counting("mus-played_undisclosed");
  assert.deepEqual([closed.of.after(0).counted, closed.of.after(closed.last).counted], [true, false]);
  const plain = counting("mus-reshuffled"); // without a referee there is nothing to count
  assert.deepEqual([plain.after(plain.last), plain.of.after(plain.last).counted], [{}, true]);
});

test("a match that there cannot be is not shown, and nothing is thrown", () => {
  const bytes = seed("azi-played");
  const report = verify(bytes, { key });
  const file = readFile(bytes);
  assert.ok(file);
  for (const match of [null, { stacks: "1", bank: {} }, { stacks: [null, 1.5], bank: -1e300 }, { stacks: Array(999).fill(1) }, { stacks: { 0: 1 } }]) {
    const opened = { ...file.opened, body: { ...file.opened.body, match } } as unknown as typeof file.opened;
    assert.deepEqual(new Counting({ ...file, opened }, report).after(1).counts, []);
  }
  assert.ok(new Counting(file, report).after(1).counts.length > 0);
});
