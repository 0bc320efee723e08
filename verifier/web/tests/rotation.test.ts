/** A log's keys: what is published of them, and which is in force when. Spec: LOG-26, LOG-27, LOG-32. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readKey, readReceipt, signedBy } from "../src/verify/note.ts";
import type { Key } from "../src/verify/note.ts";
import { LogKeys, readRotations } from "../src/verify/rotation.ts";

type Member = { readonly entry: string; readonly receipt: string };
type Vectors = {
  readonly document: { readonly rotations: readonly Member[] };
  readonly documents: readonly { readonly case: string; readonly document: string; readonly keys: readonly string[] | null }[];
  readonly heads: readonly { readonly checkpoint: string; readonly good: boolean; readonly key: number; readonly size: number }[];
  readonly keys: readonly string[];
};
const vectors = JSON.parse(readFileSync(new URL("../../../seeds/rotation.json", import.meta.url), "utf8")) as Vectors;
const served = (rotations: readonly unknown[]): string => JSON.stringify({ format: "fairdeal-rotations/1", rotations });
const key = (at: number): Key => readKey(vectors.keys[at] ?? "") as Key;
const [first, second] = vectors.document.rotations as [Member, Member];

test("documents lead from key to key, or nowhere", () => {
  for (const { case: name, document, keys } of vectors.documents) {
    const found = readRotations(document);
    const led = found && [...found.slice(0, 1).map((one) => one.before.text), ...found.map((one) => one.after.text)];
    assert.deepEqual(led, keys, name);
  }
  assert.ok(vectors.documents.some((one) => one.keys === null) && vectors.documents.some((one) => one.keys?.length === 3));
});

test("a head is good only under the key in force at its size", () => {
  const rotations = readRotations(served([first, second])) ?? [];
  const keys = new LogKeys(key(0), key(2), rotations);
  for (const { checkpoint, good, size } of vectors.heads) {
    const receipt = readReceipt(`c2sp.org/tlog-proof@v1\nindex 0\n\n${checkpoint}`);
    assert.equal(receipt !== null && signedBy(keys.at(BigInt(size)), receipt.checkpoint), good, checkpoint);
  }
  assert.ok(new Set(vectors.heads.map((one) => one.good)).size === 2);
});

test("without the trusted key, or the file's, rotations change nothing", () => {
  const rotations = readRotations(served([first])) ?? []; // from key 0 to key 1
  assert.ok(new LogKeys(key(0), key(1), rotations).has(key(1)));
  for (const [trusted, own] of [[0, 2], [2, 0]] as const) {
    const keys = new LogKeys(key(trusted), key(own), rotations);
    assert.ok(keys.has(key(trusted)) && !keys.has(key(own)) && !keys.has(key(1)));
    for (const size of [0n, 1000n]) assert.equal(keys.at(size).text, key(trusted).text);
  }
});

test("too many, and whatever else, are refused before a signature is checked", () => {
  assert.equal(readRotations(served(Array.from({ length: 1001 }, () => ({ entry: "", receipt: "" })))), null);
  for (const one of ["", "{}", "[]", "null", served([null]), served([{}]), served([{ ...first, entry: 1 }]), "[".repeat(100_000)]) assert.equal(readRotations(one), null);
  assert.deepEqual(readRotations(served([])), []);
});
