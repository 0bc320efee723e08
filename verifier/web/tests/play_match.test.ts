/** Hands that follow each other, and hands changed so that they do not. Spec: PLAY-2, PLAY-9, VER-7. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hex } from "../src/verify/bytes.ts";
import type { HandFile } from "../src/verify/file.ts";
import { readFile } from "../src/verify/file.ts";
import { checkFollowing } from "../src/verify/match.ts";
import type { Json } from "../src/verify/outcome.ts";

function vector(name: string): HandFile {
  const file = readFile(readFileSync(new URL(`../../../seeds/${name}.fair.json`, import.meta.url)));
  assert.ok(file);
  return file;
}

/** The same file with members of an event changed, its form kept. */
function changed(file: HandFile, event: "table" | "opened" | "last", members: { [name: string]: Json }): HandFile {
  const was = file[event];
  const one = { ...was, body: { ...was.body, ...members } };
  return { ...file, [event]: one, steps: file.steps.map((step) => (step === was ? one : step)) } as unknown as HandFile;
}

const [one, two, three] = [vector("mus-match_1"), vector("mus-match_2"), vector("mus-match_3")]; // the second was aborted
const judged = (...files: (HandFile | null)[]): string => {
  const { status, note, fault } = checkFollowing(files);
  return `${status} ${note?.key ?? ""}${fault ?? ""}`;
};
const FRESH = { games: [0, 0], score: [0, 0] };
const result = (members: { [name: string]: Json }): { [name: string]: Json } => {
  assert.ok(one.last.type === "hand.closed");
  return { result: { ...one.last.body.result, ...members } };
};

test("they follow each other", () => {
  assert.equal(judged(one, two, three), "PASS note.match");
  assert.equal(judged(one), "PASS note.match");
  assert.equal(judged(two, three), "PASS note.match_later");
  assert.deepEqual(checkFollowing([two, three]).note?.values, { first: 2, last: 3 });
});

test("they do not", () => {
  assert.match(judged(one, three), /^FAIL hand 3 stands after hand 1/);
  assert.match(judged(one, one), /^FAIL hand 1 stands after hand 1/);
  assert.match(judged(two, one), /^FAIL hand 1 stands after hand 2/);
  assert.match(judged(vector("kozel-match_1"), two), /^FAIL hand 2 is of another table/);
  assert.match(judged(one, { ...two, table: { ...two.table, digest: one.opened.digest } }), /other terms/);
  assert.match(judged(one, changed(two, "opened", { commitment: "00".repeat(32) })), /^FAIL .*commitment/);
  const { first } = two.opened.body;
  assert.ok(first !== null);
  for (const other of [(first + 1) % 4, null]) {
    assert.match(judged(one, changed(two, "opened", { first: other })), /^FAIL the first seat .*PLAY-2/);
    assert.match(judged(two, changed(three, "opened", { first: other })), /^FAIL the first seat .*PLAY-2/);
  }
  for (const match of [FRESH, null]) {
    assert.match(judged(one, changed(two, "opened", { match })), /^FAIL the match .*PLAY-2/);
    assert.match(judged(two, changed(three, "opened", { match })), /^FAIL the match .*PLAY-2/);
  }
});

test("nothing is used again, and no hand begins before the other has ended", () => {
  const next = { next_commitment: one.opened.body.commitment };
  assert.match(judged(one, changed(two, "opened", next)), /^FAIL .*SEAL-2/);
  const seals = one.steps.filter(({ type }) => type === "seeds.sealed" || type === "seeds.opened");
  for (const step of seals) assert.match(judged(one, { ...two, steps: [...two.steps, step] }), /^FAIL .*SEAL-2/);
  const { last } = one;
  assert.equal(judged(one, changed(two, "opened", { at: last.body.at })), "PASS note.match");
  assert.match(judged(one, changed(two, "opened", { at: one.opened.body.at })), /^FAIL hand 2 begins before/);
  assert.match(judged(one, { ...two, opened: { ...two.opened, seq: last.seq } }), /^FAIL hand 2 begins before/);
  // An event between them, the disclosure for one, is in neither file; without one they are a chain.
  const after = changed({ ...two, opened: { ...two.opened, seq: last.seq + 1 } }, "opened", { prev: hex(last.digest) });
  assert.equal(judged(one, after), "PASS note.match");
  assert.match(judged(one, changed(after, "opened", { prev: "00".repeat(32) })), /^FAIL hand 2 follows another event/);
  assert.equal(judged(one, changed(two, "opened", { prev: "00".repeat(32) })), "PASS note.match");
});

test("after a match was won the next is a fresh one", () => {
  const won = changed(one, "last", result({ winner: 1 }));
  assert.match(judged(won, two), /^FAIL the match .*PLAY-2/);
  assert.equal(judged(won, changed(two, "opened", { match: FRESH })), "PASS note.match");
});

test("a hand that was not dealt leaves the first seat that it began with", () => {
  const early = { ...two, steps: two.steps.filter((step) => step.type !== "hand.dealt") };
  assert.equal(judged(early, three), "PASS note.match_later");
  assert.match(judged(early, changed(three, "opened", { first: null })), /^FAIL the first seat/);
});

test("without a referee nobody says who is first after a closed hand", () => {
  const bare = (file: HandFile): HandFile =>
    changed(changed(file, "table", { referee: false, ruleset: { first_mano: "random", min_discard: 1, mus_corrido: false, reshuffle: "all", service: "block" } }), "opened", { match: null });
  const other = changed(bare(two), "opened", { first: 3 });
  assert.equal(judged(bare(one), bare(two)), "PASS note.match");
  assert.equal(judged(bare(one), other), "PASS note.match");
  assert.match(judged(bare(one), changed(other, "opened", { first: null })), /^FAIL the first seat .*HAND-2/);
  assert.match(judged(other, changed(bare(three), "opened", { match: FRESH })), /^FAIL the match/);
});

test("what cannot be told", () => {
  assert.equal(judged(), "SKIP note.match_unreadable");
  assert.equal(judged(one, null, three), "SKIP note.match_unreadable");
  assert.equal(judged({ ...one, final: false }, two), "SKIP note.match_not_ended");
  assert.equal(judged(one, { ...two, final: false }), "PASS note.match");
  assert.match(judged({ ...one, final: false }, three), /^FAIL hand 3/);
  assert.match(judged({ ...one, final: false }, two, one), /^FAIL hand 1/, "what one file leaves open hides no fault between others");
  assert.match(judged(null, two, one), /^FAIL hand 1/);
  assert.equal(judged(changed(one, "table", { ruleset: {} }), two), "SKIP note.match_no_game");
});
