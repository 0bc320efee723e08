/** Signed notes, checkpoints, receipts and keys of the log and of witnesses. Spec: LOG-2..5, WIT-1, WIT-2. */

import { concat, equal, fromBase64, fromUtf8, hex, utf8 } from "./bytes.ts";
import { verifySignature } from "./ed25519.ts";
import { sha256 } from "./hashing.ts";
import { rootOf } from "./merkle.ts";

const NAME = "[!-*,-~]+";
const BASE64 = "[A-Za-z0-9+/=]+";
const VKEY = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+(${BASE64})$`);
const LINE = new RegExp(`^— (${NAME}) (${BASE64})$`);
/** No log has more entries than these digits can count. */
const COUNT = "(0|[1-9][0-9]{0,15})";
const INDEX = new RegExp(`^index ${COUNT}$`);
const SIZE = new RegExp(`^${COUNT}$`);
const ORIGIN = new RegExp(`^${NAME}$`);
/** Above these a receipt is refused (VER-5): no log has a path that long, no hand that many witnesses. */
const MOST = 64;

/** A line of signature below a note. */
export interface Line {
  readonly name: string;
  readonly id: Uint8Array;
  /** What follows the key id: a signature, or a witness's time and signature. */
  readonly signature: Uint8Array;
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
  /** What is signed. */
  readonly text: string;
  readonly lines: readonly Line[];
}

export interface Receipt {
  readonly index: bigint;
  readonly path: readonly Uint8Array[];
  readonly checkpoint: Checkpoint;
}

/** A public key with its name. */
export interface Key {
  readonly name: string;
  readonly id: Uint8Array;
  readonly key: Uint8Array;
  readonly text: string;
}

export const LOG_KEY = 1;
export const WITNESS_KEY = 4;

/** A vkey of the kind asked for, or null. */
export function readKey(text: string, kind: number = LOG_KEY): Key | null {
  const [, name = "", id = "", encoded = ""] = VKEY.exec(text) ?? [];
  const typed = fromBase64(encoded);
  if (typed?.length !== 33 || typed[0] !== kind) return null;
  const digest = sha256(concat([utf8(name + "\n"), typed])).subarray(0, 4);
  return hex(digest) === id ? { name, id: digest, key: typed.subarray(1), text } : null;
}

function readHash(text: string): Uint8Array | null {
  const bytes = fromBase64(text);
  return bytes?.length === 32 ? bytes : null;
}

function all<T>(list: readonly (T | null)[]): T[] | null {
  const found = list.filter((one) => one !== null);
  return found.length === list.length ? found : null;
}

function readLine(text: string): Line | null {
  const [, name = "", encoded = ""] = LINE.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  return bytes && bytes.length > 4 ? { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) } : null;
}

/** A receipt, or null if it is none. Spec: LOG-2..5. */
export function readReceipt(given: Uint8Array | string): Receipt | null {
  const lines = (typeof given === "string" ? given : fromUtf8(given))?.split("\n") ?? [];
  const [head, count = ""] = lines;
  const gap = lines.indexOf("", 2);
  const [origin = "", size = "", root64 = "", empty, ...below] = lines.slice(gap + 1);
  const path = lines.slice(2, gap);
  const index = INDEX.exec(count)?.[1];
  if (head !== "c2sp.org/tlog-proof@v1" || index === undefined || gap < 0 || path.length > MOST) return null;
  if (!ORIGIN.test(origin) || !SIZE.test(size) || empty !== "" || below.pop() !== "" || below.length > MOST) return null;
  const hashes = all(path.map(readHash));
  const root = readHash(root64);
  const signed = all(below.map(readLine));
  if (!hashes || !root || !signed?.length) return null;
  const text = [origin, size, root64, ""].join("\n");
  return { index: BigInt(index), path: hashes, checkpoint: { origin, size: BigInt(size), root, text, lines: signed } };
}

/** Each line once: who gives a note can repeat one as often as there is room, and to check it takes a while. */
function once(lines: readonly Line[]): Line[] {
  return [...new Map(lines.map((line) => [`${line.name} ${hex(line.id)} ${hex(line.signature)}`, line])).values()];
}

/** The log's line on a checkpoint is there and right. Spec: LOG-3, SIG-1. */
export function signedBy(key: Key, checkpoint: Checkpoint): boolean {
  const own = once(checkpoint.lines).filter((line) => line.name === key.name && equal(line.id, key.id));
  return checkpoint.origin === key.name && own.length > 0 && own.every((line) => verifySignature(key.key, utf8(checkpoint.text), line.signature));
}

/** Whether a receipt is of this leaf. Spec: LOG-5. */
export function includes(receipt: Receipt, leaf: Uint8Array): boolean {
  const { index, path, checkpoint } = receipt;
  const root = rootOf(leaf, index, checkpoint.size, path);
  return root !== null && equal(root, checkpoint.root);
}

/** The time of a witness's cosignature; null without one, "bad" if a line of its does not fit. Spec: WIT-2. */
export function cosigned(witness: Key, checkpoint: Checkpoint): bigint | null | "bad" {
  let found: bigint | null = null;
  for (const line of once(checkpoint.lines)) {
    if (line.name !== witness.name || !equal(line.id, witness.id)) continue;
    if (line.signature.length !== 72) return "bad";
    const time = BigInt("0x" + hex(line.signature.subarray(0, 8)));
    const message = utf8(`cosignature/v1\ntime ${time}\n${checkpoint.text}`);
    if (time >= 2n ** 63n || !verifySignature(witness.key, message, line.signature.subarray(8))) return "bad";
    found ??= time;
  }
  return found;
}
