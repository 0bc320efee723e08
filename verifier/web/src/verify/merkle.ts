/** The Merkle tree of RFC 6962 with SHA-256: for a deck, and for the log. Spec: DECK-2, DECK-3, LOG-1, LOG-5. */

import { concat } from "./bytes.ts";
import { sha256 } from "./hashing.ts";

export function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(concat([Uint8Array.of(0), entry]));
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat([Uint8Array.of(1), left, right]));
}

/** The root over leaf hashes. Level by level: an odd one goes up as it is, which gives the tree of RFC 6962. */
export function root(leaves: readonly Uint8Array[]): Uint8Array {
  let level = leaves;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at] as Uint8Array; // `at` is below the length
      const right = level[at + 1];
      above.push(right ? node(left, right) : left);
    }
    level = above;
  }
  return level[0] ?? sha256(new Uint8Array(0));
}

/** The path from a leaf to the root, leaf side first. */
export function path(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  let level = leaves;
  for (let at = index; level.length > 1; at >>= 1) {
    const beside = level[at ^ 1];
    if (beside) found.push(beside);
    const above: Uint8Array[] = [];
    for (let left = 0; left < level.length; left += 2) above.push(root(level.slice(left, left + 2)));
    level = above;
  }
  return found;
}

/**
 * The root that a path leads to (RFC 9162 2.1.3.2), or null if no tree of this size has such a
 * path. Numbers of the log can be larger than what a number holds exactly.
 */
export function rootOf(leaf: Uint8Array, index: number | bigint, size: number | bigint, path: readonly Uint8Array[]): Uint8Array | null {
  let at = BigInt(index);
  let last = BigInt(size) - 1n;
  let found = leaf;
  if (at > last) return null;
  for (const beside of path) {
    if (last === 0n) return null;
    if (at & 1n || at === last) {
      found = node(beside, found);
      for (; !(at & 1n) && at !== 0n; at >>= 1n) last >>= 1n;
    } else {
      found = node(found, beside);
    }
    at >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? found : null;
}
