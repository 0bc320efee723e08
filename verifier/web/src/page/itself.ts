/**
 * The SHA-256 of the page's own file.
 *
 * The policy allows no connection, so the page cannot read its file. But the file is built in exactly the form in
 * which a browser writes the document that it has read from it; so before anything is changed, that writing is the
 * file. A false page can of course show any number here: the page says so, and how to compute it without the page.
 */

import { hex, utf8 } from "../verify/bytes.ts";
import { sha256 } from "../verify/hashing.ts";

export function ownHash(): string {
  // The unpacked script is the one thing that the file does not hold as it runs.
  document.currentScript?.remove();
  return hex(sha256(utf8(`<!DOCTYPE html>${document.documentElement.outerHTML}`)));
}
