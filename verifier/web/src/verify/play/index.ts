/** The games whose play can be followed, by name. */

import { azi } from "./azi.ts";
import type { PlayRules } from "./base.ts";
import { kozel } from "./kozel.ts";
import { mus } from "./mus.ts";
import { svoi } from "./svoi.ts";

export const PLAY: ReadonlyMap<string, PlayRules> = new Map(Object.entries({ azi, kozel, mus, svoi }));
