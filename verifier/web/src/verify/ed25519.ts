/** Ed25519 by one rule, since libraries disagree on the edges. Spec: SIG-1. */

import { edwards } from "@noble/curves/abstract/edwards.js";
import type { EdwardsPoint } from "@noble/curves/abstract/edwards.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concat, equal, hex } from "./bytes.ts";

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The square root of u / v by RFC 8032, 5.1.3: noble's own way divides first, which takes twice as long. */
function uvRatio(u: bigint, v: bigint): { isValid: boolean; value: bigint } {
  const { Fp } = Point;
  const v3 = Fp.mul(Fp.sqr(v), v);
  const x = Fp.mul(Fp.mul(u, v3), Fp.pow(Fp.mul(u, Fp.mul(Fp.sqr(v3), v)), (P - 5n) / 8n));
  for (const value of [x, Fp.mul(x, Fp.pow(2n, (P - 1n) / 4n))]) {
    if (Fp.eql(Fp.mul(v, Fp.sqr(value)), u)) return { isValid: true, value };
  }
  return { isValid: false, value: 0n };
}

const Point = edwards(
  {
    p: P,
    n: L,
    h: 8n,
    a: P - 1n,
    d: 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n,
    Gx: 0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51an,
    Gy: 0x6666666666666666666666666666666666666666666666666666666666666658n,
  },
  { uvRatio },
);

/** Little endian. */
function integer(bytes: Uint8Array): bigint {
  return BigInt("0x" + hex(bytes.slice().reverse()));
}

/** 0, P, .. 15 P. */
function multiples(point: EdwardsPoint): EdwardsPoint[] {
  const table = [Point.ZERO];
  for (let last = point; table.length < 16; last = last.add(point)) table.push(last);
  return table;
}

let base: EdwardsPoint[] | undefined;

/** [s]B + [k]A, four bits of both at a time; s and k are below 2^253. */
function sum(s: bigint, k: bigint, a: EdwardsPoint): EdwardsPoint {
  base ??= multiples(Point.BASE);
  const table = multiples(a);
  let found = Point.ZERO;
  for (let bit = 252n; bit >= 0n; bit -= 4n) {
    if (bit < 252n) found = found.double().double().double().double();
    for (const point of [base[Number((s >> bit) & 15n)], table[Number((k >> bit) & 15n)]]) {
      if (point && point !== Point.ZERO) found = found.add(point);
    }
  }
  return found;
}

/** y of the points whose order divides 8; those of order 8 have two, p apart. */
const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const SMALL_ORDER: ReadonlySet<bigint> = new Set([0n, 1n, P - 1n, ORDER_8, P - ORDER_8]);

/** Whether terms may give a seat these 32 bytes as its key; one off the curve has no signature anyway. Spec: TBL-1, SIG-1. */
export function canBeKey(key: Uint8Array): boolean {
  const y = integer(key) & (2n ** 255n - 1n);
  return y < P && !SMALL_ORDER.has(y);
}

export function verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (key.length !== 32 || signature.length !== 64) return false;
  const r = signature.subarray(0, 32);
  const s = integer(signature.subarray(32));
  if (s >= L) return false;
  let a: EdwardsPoint;
  try {
    a = Point.fromBytes(key); // RFC 8032: y < p, and no sign for x = 0
  } catch {
    return false;
  }
  if (a.isSmallOrder()) return false;
  const k = integer(sha512(concat([r, key, message]))) % L;
  const found = sum(s, k, a.negate());
  // R's bytes are those of this point: so they are canonical, and R itself need not be decoded.
  return !found.isSmallOrder() && equal(found.toBytes(), r);
}
