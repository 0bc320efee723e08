/** The keys that one log has had, one after the other. Spec: LOG-26, LOG-27, LOG-32, VER-8. */

import { fromHex, hex, utf8 } from "./bytes.ts";
import { verifySignature } from "./ed25519.ts";
import { LONGEST, bytes, instant, record } from "./events.ts";
import { LARGEST } from "./file.ts";
import { message } from "./hashing.ts";
import { encode, isList, isObject, tryRead } from "./json.ts";
import { leafHash } from "./merkle.ts";
import { includes, readKey, readReceipt, signedBy } from "./note.ts";
import type { Key } from "./note.ts";
import type { Json } from "./outcome.ts";

/** More than any log has; a document with more is unreadable (VER-8). */
const MOST = 1000;

/** A change of a log's key. */
export interface Rotation {
  readonly before: Key;
  readonly after: Key;
  /** The largest checkpoint that `before` may sign. */
  readonly size: bigint;
  /** The size of the checkpoint that shows the change: signed by `after`. */
  readonly shownAt: bigint;
}

const isVkey = (value: Json): boolean => typeof value === "string" && readKey(value) !== null;
/** Spec: EVT-4. */
const ROTATED = record({
  v: (value) => value === "fairdeal/1",
  type: (value) => value === "log.rotated",
  at: instant,
  origin: (value) => typeof value === "string",
  old_key: isVkey,
  new_key: isVkey,
  size: (value) => typeof value === "number" && value >= 0,
  root: bytes(32),
  sigs: record({ new: bytes(64), old: bytes(64) }),
});
type Rotated = {
  readonly origin: string; readonly old_key: string; readonly new_key: string; readonly size: number;
  readonly sigs: { readonly new: string; readonly old: string };
};

/** A change that is good by itself and by its receipt, or null. */
function readRotation(entry: string, proof: string): Rotation | null {
  const raw = utf8(entry);
  const found = raw.length <= LONGEST ? tryRead(raw) : "json";
  const receipt = readReceipt(proof);
  if (typeof found === "string" || !found.canonical || !found.ascii || !ROTATED(found.value, 0) || !receipt) return null;
  const { sigs, ...signed } = found.value as unknown as Rotated;
  const before = readKey(signed.old_key) as Key; // ROTATED has seen to both
  const after = readKey(signed.new_key) as Key;
  const size = BigInt(signed.size);
  const shownAt = receipt.checkpoint.size;
  if (signed.origin !== before.name || signed.origin !== after.name || receipt.index !== size || shownAt <= size) return null;
  const text = message("rotate", utf8(encode(signed)));
  const good =
    includes(receipt, leafHash(raw)) &&
    verifySignature(before.key, text, fromHex(sigs.old)) &&
    verifySignature(after.key, text, fromHex(sigs.new)) &&
    signedBy(after, receipt.checkpoint);
  return good ? { before, after, size, shownAt } : null;
}

/** What `/log/rotations` serves, if it leads from each key to the next; else null. Yields between its entries. */
export function* rotationSteps(given: Uint8Array | string): Generator<void, Rotation[] | null> {
  const data = typeof given === "string" ? utf8(given) : given;
  const document = data.length <= LARGEST ? tryRead(data) : "json";
  const value = typeof document === "string" ? null : document.value;
  const members = isObject(value ?? undefined) ? (value as { readonly [member: string]: Json }) : {};
  const list = members["rotations"];
  if (members["format"] !== "fairdeal-rotations/1" || !isList(list) || list.length > MOST) return null;
  const rotations: Rotation[] = [];
  const had = new Set<string>();
  for (const one of list) {
    const { entry, receipt } = isObject(one) ? one : {};
    const rotation = typeof entry === "string" && typeof receipt === "string" ? readRotation(entry, receipt) : null;
    const last = rotations.at(-1);
    if (!rotation || (last && (rotation.before.text !== last.after.text || rotation.size < last.shownAt))) return null;
    had.add(hex(rotation.before.key));
    if (had.has(hex(rotation.after.key))) return null;
    rotations.push(rotation);
    yield;
  }
  return rotations;
}

/** The same at once. */
export function readRotations(given: Uint8Array | string): Rotation[] | null {
  const steps = rotationSteps(given);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The keys that a trusted one stands for. */
export class LogKeys {
  readonly #keys: readonly Key[];
  readonly #rotations: readonly Rotation[];

  /** Rotations that do not have both the trusted key and the file's change nothing. Spec: VER-8. */
  constructor(trusted: Key, own: Key, rotations: readonly Rotation[]) {
    const keys = [...rotations.slice(0, 1).map((one) => one.before), ...rotations.map((one) => one.after)];
    const leads = [trusted, own].every((key) => keys.some((one) => one.text === key.text));
    this.#keys = leads ? keys : [trusted];
    this.#rotations = leads ? rotations : [];
  }

  /** The key in force for checkpoints of a size. Spec: LOG-27. */
  at(size: bigint): Key {
    return this.#keys[this.#rotations.filter((one) => one.size < size).length] as Key; // one more key than rotations
  }

  has(key: Key): boolean {
    return this.#keys.some((one) => one.text === key.text);
  }
}
