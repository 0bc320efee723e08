/** Unpacks what is packed: the languages of the build, and bytes in a link. */

import type { Language } from "./words.ts";

/** The keys once, and the messages of each language in their order. */
export type Packed = { readonly keys: readonly string[]; readonly languages: readonly [tag: string, name: string, unreviewed: boolean, messages: readonly string[]][] };

/** Inflates raw deflate, and gives up as soon as there are more than `most` bytes. */
export async function inflate(packed: Uint8Array, most: number): Promise<Uint8Array> {
  const stream = new Blob([packed as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

/** Base64, also in its form for addresses; throws on anything else. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

export function loadLanguages({ keys, languages }: Packed): Language[] {
  return languages.map(([tag, name, unreviewed, messages]) => ({
    tag,
    name,
    unreviewed,
    messages: new Map(keys.map((key, at) => [key, messages[at] ?? key])),
  }));
}
