/** What of the page needs no browser; tests/page of the repository opens it in one. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { base32, qrText, spoken } from "../src/page/code.ts";
import { kindOf, readLink, Refused } from "../src/page/intake.ts";
import { cardNames, scenes } from "../src/page/scene.ts";
import { tamperedCopies } from "../src/page/tamper.ts";
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
  assert.equal(kind(`${key}\n`), "key");
  assert.equal(kind(`w.example+00000000+${Buffer.from([4, ...Array.from({ length: 32 }, () => 7)]).toString("base64")}`), "witness");
  assert.equal(kind("\xff{"), "hand");
});

test("a link gives a file, a key that is not trusted, and a language, and never more than 5 MiB", async () => {
  const h = (bytes: Uint8Array): string => deflateRawSync(bytes).toString("base64url");
  const linked = await readLink(`#h=${h(seed("mus-played"))}&key=${encodeURIComponent(key)}&lang=es&other=1`);
  assert.deepEqual(linked.brought[0]?.bytes, seed("mus-played"));
  assert.equal(linked.key, key);
  assert.equal(linked.language, "es");
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
    const copies = tamperedCopies(real);
    assert.ok(copies.size >= 4, name);
    for (const [change, copy] of copies) {
      const report = verify(copy, { key });
      assert.equal(report.word, "FAILED", `${name} ${change}`);
      // Without a card shown in the play the chain may break elsewhere; Kozel has all of them.
      if (name === "kozel-played") assert.equal(report.failed, expected[change], change);
    }
    assert.equal(verify(real, { key }).word, "VERIFIED");
  }
  assert.equal(tamperedCopies(new TextEncoder().encode("[1]")).size, 0);
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
    const shown = scenes(file, report.hand?.cards ?? 0);
    assert.equal(shown.length, file.steps.length);
    for (const [step, wanted] of report.scenes) {
      if (file.steps[step]?.type === "hand.closed") continue;
      const holdings = shown[step]?.holdings.map((places) => places.map((place) => cards.get(place)).sort());
      assert.deepEqual(holdings, wanted.hands.map((hand) => [...hand].sort()), `${name}, step ${step}`);
      compared += 1;
    }
  }
  assert.ok(compared > 300, String(compared));
});
