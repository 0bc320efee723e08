/** VER-5: no bytes make the verifier throw, hang, or take them for a hand. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { utf8 } from "../src/verify/bytes.ts";
import { LARGEST, readFile, readNotes, readReceipt, verify } from "../src/verify/index.ts";
import { encode, tryRead } from "../src/verify/json.ts";

const GOOD = new Uint8Array(readFileSync(new URL("../../../seeds/kozel-short.fair.json", import.meta.url)));
const KEY = readFileSync(new URL("../../../seeds/log.vkey", import.meta.url), "utf8").trim();
const TEXT = new TextDecoder().decode(GOOD);

function verdict(data: string | Uint8Array): string {
  const report = verify(typeof data === "string" ? utf8(data) : data, { key: KEY });
  return report.reason?.key ?? `${report.word} ${report.failed ?? ""}`;
}

/** With a member put into `openings`, which is an empty list. */
function holding(text: string): string {
  return TEXT.replace('"openings":[]', `"openings":[${text}]`);
}

test("the control: the file that is changed below is verified", () => {
  assert.equal(verdict(GOOD), "VERIFIED ");
  assert.notEqual(holding("1"), TEXT);
});

test("what is no JSON is unreadable", () => {
  for (const text of ["", " ", "{", "nul", "NaN", '{"a":1,}', "[1 2]", '"\u0001"', '"\\x"', '"\\u12"', "01", "+1", ".5", "1.", "'a'", TEXT + "x", "\ufeff" + TEXT]) {
    assert.equal(verdict(text), "unreadable.json", JSON.stringify(text).slice(0, 40));
  }
  assert.equal(verdict(holding("NaN")), "unreadable.json");
  assert.equal(verdict(Uint8Array.of(0x22, 0xff, 0x22)), "unreadable.utf8");
  assert.equal(verdict(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)), "unreadable.utf8", "a surrogate in UTF-8");
});

test("what is no hand's file is unreadable", () => {
  for (const text of ["[]", "null", "1", '"a"', "{}", '{"format":1}', '{"format":"fairdeal-hand/2"}', '{"__proto__":{"format":"fairdeal-hand/1"}}']) {
    assert.equal(verdict(text), "unreadable.format", text);
  }
});

test("numbers that the profile does not have", () => {
  for (const text of ["1.5", "1e2", "1E400", "-0", "9007199254740992", "9".repeat(100_000)]) assert.equal(verdict(holding(text)), "FAILED format", text.slice(0, 30));
});

test("keys that mean something to JavaScript are keys", () => {
  for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty", "length"]) {
    assert.equal(verdict(TEXT.replace('{"disclosed"', `{"${key}":{},"disclosed"`)), "FAILED format", key);
    assert.equal(verdict(TEXT.replace('{\\"at\\"', `{\\"${key}\\":{},\\"at\\"`)), "FAILED format", key);
    assert.equal(verdict(TEXT.replace('\\"type\\":\\"hand.dealt\\"', `\\"type\\":\\"${key}\\"`)), "FAILED format", key);
    assert.equal(verdict(TEXT.replace('\\"game\\":\\"kozel\\"', `\\"game\\":\\"${key}\\"`)), "unreadable.game", key);
  }
  const read = tryRead(utf8('{"__proto__":{"x":1}}'));
  assert.ok(typeof read !== "string" && encode(read.value) === '{"__proto__":{"x":1}}');
});

test("the same value written otherwise", () => {
  for (const text of [TEXT + "\n", TEXT.replace(":", ": "), TEXT.replace("kozel", "\\u006bozel"), TEXT.replace('"openings":[],', '"openings":[],"openings":[],')]) {
    assert.notEqual(text, TEXT);
    assert.equal(verdict(text), "FAILED format");
  }
  assert.equal(verdict(holding('"\\ud800"')), "FAILED format", "half a character");
});

test("depth", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  assert.equal(verdict(holding(nested(14))), "FAILED format");
  assert.equal(verdict(holding(nested(15))), "unreadable.deep");
  assert.equal(verdict("[".repeat(1_000_000)), "unreadable.deep");
  assert.equal(verdict('{"a":'.repeat(500_000)), "unreadable.deep");
  const event = (depth: number): string => TEXT.replace('{\\"at\\"', `{\\"a\\":${nested(depth)},\\"at\\"`);
  assert.equal(verdict(event(15)), "FAILED format");
  assert.equal(verdict(event(5_000)), "FAILED format");
});

test("size", () => {
  const padded = (length: number): Uint8Array => {
    const data = new Uint8Array(length).fill(0x20);
    data.set(GOOD);
    return data;
  };
  assert.equal(verdict(padded(LARGEST)), "FAILED format");
  assert.equal(verdict(padded(LARGEST + 1)), "unreadable.size");
  assert.equal(readNotes(padded(LARGEST + 1)), null);
  assert.equal(verdict(holding(new Array(200_001).fill("0").join(","))), "unreadable.parts");
  assert.equal(verdict(`"${"a".repeat(LARGEST - 2)}"`), "unreadable.format");
  assert.equal(verdict(`"${"\\n".repeat(LARGEST / 2 - 1)}"`), "unreadable.format");
  const long = TEXT.replace('\\"at\\"', `\\"a\\":\\"${"x".repeat(66_000)}\\",\\"at\\"`);
  assert.equal(verdict(long), "FAILED format");
  assert.equal(readReceipt("A\n".repeat(1_000_000)), null);
  assert.equal(readReceipt(`c2sp.org/tlog-proof@v1\nindex 0\n\n${"a".repeat(LARGEST)}\n1\n`), null);
});

test("a file that is cut anywhere is no hand's", () => {
  for (let length = 0; length < GOOD.length; length += 7) {
    const found = verdict(GOOD.subarray(0, length));
    assert.ok(found.startsWith("unreadable."), `${length}: ${found}`);
  }
});

test("a bit that flips anywhere never gives a pass", () => {
  for (let at = 0; at < GOOD.length; at += 13) {
    const data = GOOD.slice();
    data[at] = (data[at] ?? 0) ^ (1 << (at % 7));
    const report = verify(data, { key: KEY });
    assert.ok(report.exit === 1 || report.exit === 4, `${at}: ${report.verdict}`);
  }
});

test("what is given beside the file may be anything", () => {
  const strange = ["", "\0", "x".repeat(100_000), KEY + " ", "é", "{}", "[]", '{"format":"fairdeal-notes/1"}'];
  for (const text of strange) {
    assert.equal(verify(GOOD, { key: text }).failed, "log.signature");
    assert.equal(verify(GOOD, { key: KEY, receipts: [text] }).failed, "receipt");
    assert.equal(verify(GOOD, { key: KEY, receipts: [utf8(text)] }).failed, "receipt");
    assert.equal(verify(GOOD, { key: KEY, notes: text }).failed, "mine");
    assert.equal(verify(GOOD, { key: KEY, witnesses: [text] }).word, "INCOMPLETE");
    assert.equal(verify(GOOD, { key: KEY, mine: new Map([[0, [text]]]) }).failed, "mine");
  }
  assert.equal(verify(GOOD, { key: KEY, mine: new Map([[77, ["00".repeat(32)]]]) }).failed, "mine");
  assert.equal(verify(GOOD, { key: KEY, receipts: new Array<string>(300).fill("") }).failed, "receipt");
});

test("readFile gives what can be verified, and nothing else", () => {
  assert.equal(readFile(GOOD)?.opened.body.hand, 1);
  assert.equal(readFile(utf8("{}")), null);
  assert.equal(readFile(utf8(TEXT + "\n")), null);
});
