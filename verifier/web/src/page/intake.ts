/** What comes into the page: files, pasted text, and the link. Everything is read as bytes, and none of it is trusted. */

import { fromUtf8 } from "../verify/bytes.ts";
import { fromBase64, inflate } from "../words/load.ts";

/** The longest file of a hand; notes and receipts are held to it as well. Spec: VER-1. */
export const MOST = 5 * 1024 * 1024;
/** More files than a match has hands and a player has receipts. */
const MOST_FILES = 256;

export type Kind = "hand" | "notes" | "receipt" | "key" | "witness" | "rotations";
export interface Brought {
  readonly name: string;
  readonly kind: Kind;
  readonly bytes: Uint8Array;
}

/** A sentence of the catalogue that says what is wrong with what was brought. */
export class Refused extends Error {
  readonly key: string;

  constructor(key: string) {
    super(key);
    this.key = key;
  }
}

const VKEY = /^[^\s+]+\+[0-9a-f]{8}\+([A-Za-z0-9+/]+=*)\s*$/;

/** Tells by the beginning of its text what a file is. What is nothing else is a hand's file, good or bad. */
export function kindOf(bytes: Uint8Array): Kind {
  const text = fromUtf8(bytes) ?? "";
  if (text.startsWith("c2sp.org/tlog-proof@")) return "receipt";
  const vkey = text.length < 1024 ? VKEY.exec(text)?.[1] : undefined;
  if (vkey !== undefined) return isWitness(vkey) ? "witness" : "key";
  const format = /^\s*\{/.test(text) ? /"format"\s*:\s*"fairdeal-(notes|rotations)\//.exec(text)?.[1] : undefined;
  return (format as "notes" | "rotations" | undefined) ?? "hand";
}

/**
 * Of which hand a file says that it is, by its `hand.opened`: for sorting and choosing only, since nothing is checked
 * yet. A file that says nothing is of hand 0 of no table.
 */
export function whose(bytes: Uint8Array): { readonly table: string; readonly hand: number } {
  const text = fromUtf8(bytes) ?? "";
  return { table: /\\"table\\":\\"([^"\\]*)/.exec(text)?.[1] ?? "", hand: Number(/\\"first\\":(?:null|\d),\\"hand\\":(\d+),\\"match\\":/.exec(text)?.[1] ?? 0) };
}

/** The first byte of a key says what it signs: 1 a log's checkpoints, 4 cosignatures. */
function isWitness(key: string): boolean {
  try {
    return fromBase64(key)[0] === 4;
  } catch {
    return false;
  }
}

/** Reads files, none of them further than it may be long. */
export async function readFiles(files: Iterable<File>): Promise<Brought[]> {
  const list = [...files];
  if (list.length === 0) throw new Refused("page.error.nothing");
  if (list.length > MOST_FILES) throw new Refused("page.error.many");
  const brought: Brought[] = [];
  for (const file of list) {
    if (file.size > MOST) throw new Refused("unreadable.size");
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch {
      // A folder, or a file that was taken away.
      throw new Refused("page.error.nothing");
    }
    brought.push({ name: file.name, kind: kindOf(bytes), bytes });
  }
  return brought;
}

/** What the part of the link behind `#` holds; nothing else of the link is looked at. */
export interface Linked {
  readonly brought: readonly Brought[];
  /** Named by whoever made the link: not trusted. */
  readonly key: string | null;
  readonly language: string | null;
}

export async function readLink(fragment: string): Promise<Linked> {
  const brought: Brought[] = [];
  let key: string | null = null;
  let language: string | null = null;
  for (const pair of fragment.replace(/^#/, "").split("&")) {
    const [name, value = ""] = pair.split(/=(.*)/s);
    if (name === "key") key = decoded(value);
    else if (name === "lang") language = decoded(value);
    else if ((name === "h" || name === "rotations") && brought.length < MOST_FILES) {
      let bytes: Uint8Array;
      try {
        bytes = await inflate(fromBase64(value), MOST);
      } catch (error) {
        throw new Refused(error instanceof RangeError ? "unreadable.size" : "page.error.link");
      }
      brought.push({ name: "", kind: name === "h" ? "hand" : "rotations", bytes });
    }
  }
  return { brought, key, language };
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
