/** Forms of a digest for people: a short code to read aloud, and a QR code to photograph. */

import { encode } from "uqr";
import { fromHex } from "../verify/bytes.ts";
import { s } from "./dom.ts";

/** Crockford's base 32: no I, L, O, U. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Base 32, five bits a letter, the last ones filled up with zeros. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    for (held += 8; held >= 5; held -= 5) text += ALPHABET.charAt((bits >> (held - 5)) & 31);
  }
  return held > 0 ? text + ALPHABET.charAt((bits << (5 - held)) & 31) : text;
}

/**
 * The short form of a digest (hex): its first 80 bits in four groups of four. It is for comparing by voice what both
 * have already: to find another value with the same 80 bits takes about 2^80 tries.
 */
export function spoken(digest: string): string {
  return base32(fromHex(digest.slice(0, 20))).replace(/(.{4})(?=.)/g, "$1 ");
}

/** What the QR code of a digest holds: `FD1/` and all of it in the same base 32, 56 signs in all. */
export function qrText(digest: string): string {
  return `FD1/${base32(fromHex(digest))}`;
}

/** The QR code as an image with a name. */
export function qrCode(digest: string, name: string): Element {
  const { data, size } = encode(qrText(digest), { ecc: "M", border: 4 });
  let path = "";
  data.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (dark) path += `M${x} ${y}h1v1h-1z`;
    });
  });
  return s(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": name, "shape-rendering": "crispEdges" },
    s("path", { d: path }),
  );
}
