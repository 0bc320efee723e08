/** Makes copies of a hand's file with one thing changed, to show that it is found. */

import { fromUtf8, hex, utf8 } from "../verify/bytes.ts";
import type { HandFile as Read } from "../verify/file.ts";
import { sha256 } from "../verify/hashing.ts";

type Event = { [member: string]: unknown; type: string; prev: string };
type HandFile = { events: string[]; disclosed?: { server_seed: string } };
type Shown = { card: string };

/** Texts are `page.tamper.<name>`. Each changes what it is given, or says that there is nothing to change. */
const CHANGES: Readonly<Record<string, (file: HandFile, events: Event[]) => boolean>> = {
  card: (_file, events) => swapCard(events),
  /** As a cheat would do it: the hashes fit again, the seeds and the log do not. */
  card_chain: (_file, events) => {
    if (!swapCard(events)) return false;
    for (let at = 2; at < events.length; at++) {
      const event = events[at];
      const before = events[at - 1];
      if (event && before) event.prev = hex(sha256(utf8(JSON.stringify(before))));
    }
    return true;
  },
  secret: (file) => {
    if (!file.disclosed) return false;
    file.disclosed.server_seed = otherDigit(file.disclosed.server_seed);
    return true;
  },
  seed: (_file, events) => {
    const seeds = events.find((event) => event.type === "seeds.opened")?.["seeds"] as Record<string, string> | undefined;
    const [seat, seed] = Object.entries(seeds ?? {})[0] ?? [];
    if (!seeds || seat === undefined || seed === undefined) return false;
    seeds[seat] = otherDigit(seed);
    return true;
  },
  drop: (file, events) => {
    const at = Math.floor(events.length / 2);
    if (at < 2) return false;
    events.splice(at, 1);
    file.events.splice(at, 1);
    return true;
  },
  score: (_file, events) => {
    const score = (events.at(-1)?.["result"] as { score?: unknown } | undefined)?.score;
    return addOne(score);
  },
};

/** The first number found in `value` grows by one. */
function addOne(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const object = value as Record<string, unknown>;
  return Object.keys(object).some((name) => {
    const inside = object[name];
    if (typeof inside !== "number") return addOne(inside);
    object[name] = inside + 1;
    return true;
  });
}

function swapCard(events: readonly Event[]): boolean {
  const shown = events.flatMap((event) => [event["shown"], event["given"]].flatMap((list) => (Array.isArray(list) ? (list as Shown[]) : [])));
  const first = shown[0];
  const last = shown.findLast((one) => one.card !== first?.card);
  if (!first || !last) return false;
  first.card = last.card;
  return true;
}

function otherDigit(text: string): string {
  return text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");
}

/** What of a file can be changed, by name. */
export function tamperings(file: Read): string[] {
  const { steps, last, disclosed } = file;
  const shown = steps.flatMap(({ type, body }): readonly Shown[] => (type === "hand.dealt" || type === "cards.shown" ? body.shown : type === "cards.given" ? body.given : []));
  const card = shown.some((one) => one.card !== shown[0]?.card);
  const can: Readonly<Record<string, boolean>> = {
    card,
    card_chain: card,
    secret: disclosed !== null,
    seed: steps.some(({ type }) => type === "seeds.opened"),
    drop: steps.length >= 4,
    score: last.type === "hand.closed" && /\d/.test(JSON.stringify(last.body.result?.["score"] ?? "")),
  };
  return Object.keys(CHANGES).filter((name) => can[name]);
}

/** A copy with one thing changed; null if the file has nothing of the kind. Made when it is asked for: a file may be long. */
export function tamperedCopy(bytes: Uint8Array, name: string): Uint8Array | null {
  try {
    const file = JSON.parse(fromUtf8(bytes) ?? "") as HandFile;
    const events = file.events.map((event) => JSON.parse(event) as Event);
    if (!CHANGES[name]?.(file, events)) return null;
    file.events = events.map((event) => JSON.stringify(event));
    // Members keep their order, and JSON.stringify escapes as FILE-1 does: nothing but the change is changed.
    return utf8(JSON.stringify(file));
  } catch {
    return null;
  }
}
