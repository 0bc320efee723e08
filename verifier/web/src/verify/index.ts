/** Verifies hands dealt by fairdeal. Reads bytes, gives a report; no network, no clock, no chance. */

export { verify, verifySteps } from "./verify.ts";
export type { Given, Options } from "./verify.ts";
export { verifyMatch, verifyMatchSteps } from "./match.ts";
export type { MatchReport } from "./match.ts";
export { LARGEST, readFile } from "./file.ts";
export type { Disclosed, HandFile } from "./file.ts";
export { readNotes } from "./notes.ts";
export type { Noted, Notes } from "./notes.ts";
export { LOG_KEY, WITNESS_KEY, readKey, readReceipt } from "./note.ts";
export type { Checkpoint, Key, Line, Receipt } from "./note.ts";
export type { BySeat, EventOf, HandEvent, Members, Shown, Type } from "./events.ts";
export { readRotations } from "./rotation.ts";
export type { Rotation } from "./rotation.ts";
export type { Opening, Place } from "./decks.ts";
export type { Check, Draw, Hand, Json, Laid, Said, Scene, Status, Step, Told, Trace } from "./outcome.ts";
export type { Report, Word } from "./report.ts";
