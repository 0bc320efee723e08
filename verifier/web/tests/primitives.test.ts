/** The published vectors of all that is smaller than a hand. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { base64, fromBase64, fromHex, hex, u32be, utf8 } from "../src/verify/bytes.ts";
import { Deck, opens } from "../src/verify/decks.ts";
import type { Opening } from "../src/verify/decks.ts";
import { verifySignature } from "../src/verify/ed25519.ts";
import { readEvent } from "../src/verify/events.ts";
import { Stream, extract, hash, message, pick, shuffle, uniform } from "../src/verify/hashing.ts";
import type { Tag } from "../src/verify/hashing.ts";
import { leafHash, path, root, rootOf } from "../src/verify/merkle.ts";
import { WITNESS_KEY, cosigned, includes, readKey, readReceipt, signedBy } from "../src/verify/note.ts";

function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../seeds/${name}.json`, import.meta.url), "utf8")) as T;
}

test("framed hashes and messages", () => {
  const { framed, streams } = vectors<{ framed: { tag: Tag; fields: string[]; hash: string; message: string }[]; streams: { key: string; name: string; bytes: string }[] }>("hashing");
  assert.equal(new Set(framed.map((one) => one.tag)).size, framed.length);
  for (const one of framed) {
    const fields = one.fields.map(fromHex);
    assert.equal(hex(message(one.tag, ...fields)), one.message);
    assert.equal(hex(hash(one.tag, ...fields)), one.hash);
  }
  for (const one of streams) {
    assert.equal(hex(new Stream(fromHex(one.key), one.name).take(one.bytes.length / 2)), one.bytes);
  }
});

test("a stream ends after 8160 bytes", () => {
  const stream = new Stream(new Uint8Array(32), "shuffle");
  stream.take(8160);
  assert.throws(() => stream.byte(), RangeError);
});

test("seeds", () => {
  type Seeds = {
    chain: Record<string, string>; commitment: string; server_seed: string; terms: string; seat_seeds: string[];
    deal_keys: { epoch: number; hand: number; key: string; seats: number }[];
    links: { earlier: string; later: string }[]; seals: { hand: number; seal: string; seat: number }[];
  };
  const all = vectors<Seeds>("seeds");
  const terms = fromHex(all.terms);
  const commitment = fromHex(all.commitment);
  const server = fromHex(all.server_seed);
  assert.equal(hex(hash("server seed", server)), all.commitment);
  for (const { earlier, later } of all.links) assert.equal(hex(hash("link", fromHex(later))), earlier);
  let seed = fromHex(all.chain["x_32"] ?? "");
  for (let epoch = 31; epoch >= 0; epoch--) {
    seed = hash("link", seed);
    const known = all.chain[`x_${epoch}`];
    if (known !== undefined) assert.equal(hex(seed), known);
  }
  for (const { hand, seal, seat } of all.seals) {
    const found = hash("seat seed", terms, u32be(hand), Uint8Array.of(seat), commitment, fromHex(all.seat_seeds[seat] ?? ""));
    assert.equal(hex(found), seal);
  }
  for (const { epoch, hand, key, seats } of all.deal_keys) {
    const salt = hash("deal", terms, u32be(hand), u32be(epoch), ...all.seat_seeds.slice(0, seats).map(fromHex), new Uint8Array(0));
    assert.equal(hex(extract(salt, server)), key);
  }
});

test("uniform numbers, shuffles, picks", () => {
  type Shuffles = {
    orders: { deck: string[]; key: string; order: string[] }[];
    picks: { key: string; name: string; m: number; number: number }[];
    uniform: { bytes: string; m: number; number: number }[];
  };
  const all = vectors<Shuffles>("shuffle");
  for (const { deck, key, order } of all.orders) assert.deepEqual(shuffle(fromHex(key), deck).order, order);
  for (const { key, name, m, number } of all.picks) assert.equal(pick(fromHex(key), name, m), number);
  for (const { bytes, m, number } of all.uniform) {
    const left = [...fromHex(bytes)];
    const found = uniform({ byte: () => left.shift() ?? assert.fail("too many bytes taken") }, m);
    assert.deepEqual([found.number, found.taken, left], [number, [...fromHex(bytes)], []]);
  }
});

test("decks and openings", () => {
  type Decks = { decks: { deck: string[]; epoch: number; key: string; leaves: string[]; root: string; openings: Opening[] }[] };
  for (const { deck, epoch, key, leaves, root: sealed, openings } of vectors<Decks>("deck").decks) {
    const made = new Deck(fromHex(key), epoch, deck);
    assert.deepEqual(made.order.map((card, at) => `${epoch} ${at} ${card} ${made.salts[at]}`), leaves);
    assert.equal(made.root, sealed);
    for (const opening of openings) {
      assert.ok(opens(opening, sealed, deck.length));
      assert.deepEqual(path(made.leaves(), opening.position).map(hex), opening.path);
      // The control: each part of an opening counts, and the size comes from the rules.
      assert.ok(!opens({ ...opening, card: deck.find((card) => card !== opening.card) ?? "" }, sealed, deck.length));
      assert.ok(!opens({ ...opening, position: (opening.position + 1) % deck.length }, sealed, deck.length));
      assert.ok(!opens({ ...opening, path: opening.path.slice(1) }, sealed, deck.length));
      assert.ok(!opens({ ...opening, path: [...opening.path, sealed] }, sealed, deck.length));
      assert.ok(!opens(opening, sealed, 2 * deck.length));
    }
  }
});

test("trees of every size: each leaf's path leads to the root, and to no other size's", () => {
  for (let size = 1; size <= 40; size++) {
    const leaves = Array.from({ length: size }, (_, n) => leafHash(u32be(n)));
    for (let index = 0; index < size; index++) {
      const found = path(leaves, index);
      assert.equal(hex(rootOf(leaves[index] as Uint8Array, index, size, found) ?? new Uint8Array()), hex(root(leaves)));
      assert.equal(rootOf(leaves[index] as Uint8Array, size, size, found), null);
      assert.equal(rootOf(leaves[index] as Uint8Array, index, size, [...found, root(leaves)]), null);
    }
  }
});

test("signatures", () => {
  const { cases } = vectors<{ cases: { case: string; key: string; message: string; signature: string; valid: boolean }[] }>("ed25519");
  assert.ok(cases.some((one) => one.valid) && cases.some((one) => !one.valid));
  for (const one of cases) {
    assert.equal(verifySignature(fromHex(one.key), fromHex(one.message), fromHex(one.signature)), one.valid, one.case);
  }
});

test("signatures of another length", () => {
  const { cases } = vectors<{ cases: { key: string; message: string; signature: string }[] }>("ed25519");
  const { key = "", message: text = "", signature = "" } = cases[0] ?? {};
  assert.ok(!verifySignature(fromHex(key).subarray(1), fromHex(text), fromHex(signature)));
  assert.ok(!verifySignature(fromHex(key), fromHex(text), fromHex(signature + "00")));
});

test("events", () => {
  const { valid, invalid } = vectors<{ valid: string[]; invalid: { case: string; event: string }[] }>("encoding");
  assert.ok(valid.length > 0);
  for (const text of valid) {
    const event = readEvent(utf8(text), 10);
    // Events of the log are in no hand's file, so this verifier knows none (EVT-4).
    if (text.includes('"type":"log.')) continue;
    assert.notEqual(typeof event, "string", `${text}: ${String(event)}`);
  }
  for (const one of invalid) assert.equal(typeof readEvent(utf8(one.event), 10), "string", one.case);
});

test("the log's receipts", () => {
  type Log = { vkey: string; entries: string[]; roots: string[]; receipts: { index: number; size: number; receipt: string }[] };
  const log = vectors<Log>("log");
  const key = readKey(log.vkey) ?? assert.fail("no key");
  const leaves = log.entries.map((entry) => leafHash(utf8(entry)));
  log.roots.forEach((known, size) => assert.equal(hex(root(leaves.slice(0, size))), known));
  for (const { index, size, receipt: text } of log.receipts) {
    const receipt = readReceipt(text) ?? assert.fail("no receipt");
    assert.deepEqual([receipt.index, receipt.checkpoint.size], [BigInt(index), BigInt(size)]);
    assert.ok(signedBy(key, receipt.checkpoint));
    assert.ok(includes(receipt, leaves[index] as Uint8Array));
    assert.ok(!includes(receipt, leafHash(utf8("another entry"))));
  }
});

test("receipts that are none", () => {
  const { receipts, malformed } = vectors<{ receipts: { receipt: string }[]; malformed: { case: string; receipt: string }[] }>("log");
  for (const one of malformed) assert.equal(readReceipt(one.receipt), null, one.case);
  const good = receipts.at(-1)?.receipt ?? "";
  assert.ok(readReceipt(good));
  const [, , hash64 = ""] = good.split("\n");
  const bad = {
    "a trailing newline": good + "\n",
    "no newline at the end": good.slice(0, -1),
    "a leading zero": good.replace("index ", "index 0"),
    "a number no log reaches": good.replace("index ", "index 999999999999999999999"),
    "an extra line": good.replace("index", "extra AAAA\nindex"),
    "another header": good.replace("@v1", "@v2"),
    "base64 that is not canonical": good.replace(hash64, hash64.replace(/.=$/, "B=")),
    "a hash of 31 bytes": good.replace(hash64, base64(new Uint8Array(31))),
    "no signature": good.split("\n").slice(0, -2).join("\n") + "\n",
    "a signature line with a plus in its name": good.replace("— vectors", "— vec+tors"),
    "a path longer than any tree is high": good.replace(hash64, Array.from({ length: 65 }, () => hash64).join("\n")),
    "carriage returns": good.replaceAll("\n", "\r\n"),
  };
  for (const [label, text] of Object.entries(bad)) assert.equal(readReceipt(text), null, label);
});

test("keys", () => {
  const { vkey } = vectors<{ vkey: string }>("log");
  const [name, id, key] = vkey.split("+").length === 3 ? vkey.split("+") : [];
  assert.ok(readKey(vkey));
  for (const text of ["", `${name}+00000000+${key}`, `${name}x+${id}+${key}`, `+${id}+${key}`, vkey + "\n", vkey.toUpperCase()]) {
    assert.equal(readKey(text), null, text);
  }
  assert.equal(readKey(vkey, WITNESS_KEY), null);
});

test("cosignatures", () => {
  type Witness = { witness_key: string; cosignatures: { checkpoint: string; line: string; time: number | string }[] };
  const raw = readFileSync(new URL("../../../seeds/witness.json", import.meta.url), "utf8");
  // The largest time is more than a number holds exactly.
  const all = JSON.parse(raw.replace(/"time": (\d+)/g, '"time": "$1"')) as Witness;
  const witness = readKey(all.witness_key, WITNESS_KEY) ?? assert.fail("no key");
  const receipt = (checkpoint: string): string => `c2sp.org/tlog-proof@v1\nindex 0\n\n${checkpoint}`;
  for (const { checkpoint, line, time } of all.cosignatures) {
    const plain = readReceipt(receipt(checkpoint))?.checkpoint ?? assert.fail("no checkpoint");
    assert.equal(cosigned(witness, plain), null);
    const both = readReceipt(receipt(checkpoint + line))?.checkpoint ?? assert.fail("no checkpoint");
    assert.equal(cosigned(witness, both), BigInt(time));
    const [, , data = ""] = line.trimEnd().split(" ");
    const bytes = fromBase64(data) ?? assert.fail("no base64");
    for (const at of [11, 12, 75]) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      const bad = `— ${witness.name} ${base64(changed)}\n`;
      const read = readReceipt(receipt(checkpoint + line + bad))?.checkpoint ?? assert.fail("no checkpoint");
      assert.equal(cosigned(witness, read), "bad", "a bad line makes it bad, beside a good one too");
    }
  }
});

test("base64", () => {
  for (let length = 0; length < 40; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 73 + length) & 255);
    assert.equal(base64(bytes), Buffer.from(bytes).toString("base64"));
    assert.deepEqual(fromBase64(base64(bytes)), bytes);
  }
  for (const text of ["A", "AA", "AAA", "AB==", "AAB=", "AA=A", "A===", "AA\n=", "A-A=", "A_AA", " AAAA", "AAAA=", "AAAA===="]) assert.equal(fromBase64(text), null, text);
});
