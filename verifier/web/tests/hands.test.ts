/** Every published hand and match gives what seeds/index.json and seeds/matches.json say. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { verify, verifyMatch, verifySteps } from "../src/verify/index.ts";
import type { Report } from "../src/verify/index.ts";

const SEEDS = new URL("../../../seeds/", import.meta.url);
const KEY = text("log.vkey").trim();

function text(name: string): string {
  return readFileSync(new URL(name, SEEDS), "utf8");
}

function bytes(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(name, SEEDS)));
}

type Hands = Record<string, { verdict: string; exit: number; failed: string | null; checks?: Record<string, string>; notes?: string; receipts?: string[]; witnesses?: string[] }>;
const HANDS = JSON.parse(text("index.json")) as Hands;

for (const [name, expected] of Object.entries(HANDS)) {
  test(name, () => {
    const given = { key: KEY, receipts: (expected.receipts ?? []).map(bytes), witnesses: expected.witnesses ?? [], notes: expected.notes === undefined ? undefined : bytes(expected.notes) };
    const report = verify(bytes(name), given, { trace: true });
    const faults = report.checks.filter((check) => check.status === "FAIL");
    assert.deepEqual([report.exit, report.failed], [expected.exit, expected.failed], JSON.stringify(faults));
    assert.ok(report.verdict.startsWith(expected.verdict), report.verdict);
    for (const [id, status] of Object.entries(expected.checks ?? {})) assert.equal(report.checks.find((check) => check.id === id)?.status, status, id);
    assert.equal(report.failed, faults[0]?.id ?? null);
    for (const check of report.checks) {
      assert.equal(check.fault !== undefined, check.status === "FAIL" && !check.note, check.id);
      if (check.status === "SKIP" || check.status === "N/A") assert.ok(check.note, `${check.id} does not say why`);
    }
    assert.equal(new Set(report.checks.map((check) => check.id)).size, report.checks.length, "each check once");
  });
}

test("no hand's file is left out", () => {
  const files = readdirSync(SEEDS).filter((name) => name.endsWith(".fair.json"));
  assert.deepEqual(files.sort(), Object.keys(HANDS).sort());
});

test("without the log's key a good hand is consistent, with another one it fails", () => {
  const file = bytes("mus-reshuffled.fair.json");
  assert.deepEqual(summary(verify(file)), ["CONSISTENT", 3, null]);
  const other = (JSON.parse(text("witness.json")) as { log_key: string }).log_key.replace("vectors", "vektors");
  assert.deepEqual(summary(verify(file, { key: other })), ["FAILED", 1, "log.signature"]);
});

function summary({ word, exit, failed }: Report): [string, number, string | null] {
  return [word, exit, failed];
}

test("in slices the report is the same, and progress goes up to no more than 1", () => {
  for (const name of ["mus-reshuffled.fair.json", "svoi-keyed.fair.json", "kozel-played.fair.json"]) {
    const steps = verifySteps(bytes(name), { key: KEY }, { trace: true });
    let last = 0;
    let slices = 0;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        assert.deepEqual(step.value, verify(bytes(name), { key: KEY }, { trace: true }));
        break;
      }
      assert.ok(step.value >= last && step.value <= 1, `${last} -> ${step.value}`);
      last = step.value;
      slices += 1;
    }
    assert.ok(slices >= 5, name);
  }
});

const MATCHES = JSON.parse(text("matches.json")) as Record<string, { exit: number; failed: string | null; files: string[] }>;
for (const [name, { exit, failed, files }] of Object.entries(MATCHES)) {
  test(`match ${name}`, () => {
    const report = verifyMatch(files.map(bytes), KEY);
    assert.deepEqual([report.exit, report.failed], [exit, failed], report.check.fault ?? "");
    assert.equal(report.reports.length, files.length);
  });
}
