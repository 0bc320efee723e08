/**
 * What this verifier says of many files, for comparison with another one.
 *
 *     node tests/verdicts.ts --key LOG.VKEY HAND.fair.json ..     files by name
 *     node tests/verdicts.ts --key LOG.VKEY < STREAM              of each file its length (four bytes, big endian) and its bytes
 *     node tests/verdicts.ts --requests < LINES                   of each file a line of JSON: {"file": base64, "key", "notes", "receipts", "witnesses", "mine"}
 *
 * Writes a line of JSON for each: verdict, exit, failed, checks, notes (of each check), play.
 */

import { readFileSync, writeSync } from "node:fs";
import { verify } from "../src/verify/index.ts";
import type { Given } from "../src/verify/index.ts";

interface Request {
  readonly file: string;
  readonly key?: string;
  readonly notes?: string;
  readonly receipts?: readonly string[];
  readonly witnesses?: readonly string[];
  readonly rotations?: string;
  readonly mine?: Readonly<Record<string, readonly string[]>>;
}

function write(data: Uint8Array, given: Given): void {
  const report = verify(data, given);
  const { verdict, exit, failed, checks, story } = report;
  const line = { verdict, exit, failed, checks: checks.map(({ id, status }) => [id, status]), notes: checks.map(({ note }) => note ?? null), play: story };
  let left = Buffer.from(JSON.stringify(line) + "\n");
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error; // a pipe that is full
    }
  }
}

const named = process.argv.slice(2);
const requests = named[0] === "--requests";
let key: string | undefined;
if (named[0] === "--key") {
  key = readFileSync(named[1] ?? "", "utf8").trim();
  named.splice(0, 2);
}
if (requests) {
  for (const line of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
    const { file, mine, ...given } = JSON.parse(line) as Request;
    const seeds = mine && new Map(Object.entries(mine).map(([seat, list]) => [Number(seat), list]));
    write(Buffer.from(file, "base64"), { ...given, mine: seeds });
  }
} else if (named.length > 0) {
  for (const name of named) write(readFileSync(name), { key });
} else {
  const stream = readFileSync(0);
  for (let at = 0; at < stream.length; ) {
    const end = at + 4 + stream.readUInt32BE(at);
    write(stream.subarray(at + 4, end), { key });
    at = end;
  }
}
