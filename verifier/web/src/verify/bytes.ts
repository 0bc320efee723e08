/** Bytes and their writings. Spec: ENC-5, LOG-4. */

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of UTF-8, or null. A byte order mark is a character like any other. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => (byte + 256).toString(16).slice(1));

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** `text` is lower-case hex: the caller has matched it (ENC-5). */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

export function u32be(n: number): Uint8Array {
  return Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n);
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Standard base64, padded. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    text += BASE64.charAt(a >> 2) + BASE64.charAt(((a & 3) << 4) | (b >> 4));
    text += left > 1 ? BASE64.charAt(((b & 15) << 2) | (c >> 6)) : "=";
    text += left > 2 ? BASE64.charAt(c & 63) : "=";
  }
  return text;
}

/** The bytes of canonical base64, or null: what is written otherwise is refused (LOG-4). */
export function fromBase64(text: string): Uint8Array | null {
  const digits = text.replace(/={1,2}$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const digit of digits) {
    bits = ((bits << 6) | BASE64.indexOf(digit)) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = bits >> held;
    }
  }
  return base64(bytes) === text ? bytes : null;
}
