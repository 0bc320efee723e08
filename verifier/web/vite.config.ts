/**
 * Builds the page: one HTML file with its script, its style and five languages in it, which loads nothing.
 *
 * The bytes depend on the sources alone. They are also such that a browser's serialisation of the parsed
 * document gives them back (see src/page/itself.ts), so the template below is kept in that form.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { deflateSync } from "fflate";
import { defineConfig, type Plugin } from "vite";

const LANGUAGES = ["en", "ru", "es", "zu", "ta"];
const CATALOGUE = new URL("../fairdeal_verifier/languages/", import.meta.url);
/** What only the service or the auditor says, or what stands in the file for whoever cannot unpack it. */
const NOT_SAID_HERE = /^(?:site|audit)\.|^page\.off$/;

function read(language: string): File {
  return JSON.parse(readFileSync(new URL(`${language}.json`, CATALOGUE), "utf8")) as File;
}

type File = { name: string; messages: Record<string, string>; unreviewed: string[] | "all" };

/** The languages as one module: the keys once, and the messages of each language in their order. */
function words(): Plugin {
  const name = "virtual:words";
  return {
    name: "words",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      const files = LANGUAGES.map((language): [string, File] => {
        this.addWatchFile(new URL(`${language}.json`, CATALOGUE).pathname);
        return [language, read(language)];
      });
      const english = files[0]?.[1];
      const keys = Object.keys(english?.messages ?? {}).filter((key) => !NOT_SAID_HERE.test(key));
      const languages = files.map(([language, file]) => [language, file.name, file.unreviewed.length > 0, keys.map((key) => file.messages[key] ?? english?.messages[key])]);
      return `export default ${JSON.stringify({ keys, languages })}`;
    },
  };
}

/**
 * The script is in the page as raw deflate in base64, a third of its length, and this unpacks it. The policy names the
 * hash of the unpacked script as well, so nothing but exactly that script can come out. It is packed by fflate: zlib's
 * bytes differ between processors.
 */
const UNPACK =
  '(async()=>{const e=document.createElement("script"),t=document.getElementById("packed").textContent,' +
  'b=Uint8Array.from(atob(t),c=>c.charCodeAt(0));e.textContent=await new Response(new Blob([b]).stream()' +
  '.pipeThrough(new DecompressionStream("deflate-raw"))).text();document.head.append(e)})()';

/**
 * Hides for a moment what says that scripts are off: where they run it is gone by then. The style of the page is packed
 * with the script, a third of its length as well.
 */
const OFF = "svg[hidden]{display:none}#off{max-width:40rem;padding:1rem;font-family:system-ui;animation:2s step-end off}@keyframes off{0%{visibility:hidden}}";

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Puts script and style into index.html, with a policy that allows these and nothing else. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") script += part.code.trim();
        else if (name.endsWith(".css")) style += String(part.source).trim();
        delete bundle[name];
      }
      script += `;{const e=document.createElement("style");e.textContent=${JSON.stringify(style)};document.head.append(e)}`;
      const off = LANGUAGES.map((language) => `<p lang="${language}">${read(language).messages["page.off"] ?? ""}</p>`).join("");
      const packed = Buffer.from(deflateSync(new TextEncoder().encode(script), { level: 9, mem: 12 })).toString("base64");
      const policy =
        `default-src 'none'; script-src ${hash(UNPACK)} ${hash(script)}; style-src ${hash(OFF)} ${hash(style)}; img-src data:; ` +
        "connect-src 'none'; base-uri 'none'; form-action 'none'";
      // Functions, since a replacement text gives `$&` a meaning.
      const source = readFileSync(new URL("index.html", import.meta.url), "utf8")
        .replace(/\s*<!--.*?-->/gs, "")
        .replace(/>\s+</g, "><")
        .trim()
        .replace(/<meta name="policy">/, () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace(/<link [^>]*>/, () => `<style>${OFF}</style>`)
        .replace(/<div id="off">/, () => `<div id="off">${off}`)
        .replace(/<script [^>]*><\/script>/, () => `<script type="text/plain" id="packed">${packed}</script><script>${UNPACK}</script>`);
      if (!source.startsWith("<!DOCTYPE html><html") || /\/>/.test(source)) {
        throw new Error("index.html is not in the form that a browser writes");
      }
      this.emitFile({ type: "asset", fileName: "verify.html", source });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [words(), oneFile()],
  build: {
    target: "es2022",
    outDir: "../fairdeal_verifier",
    emptyOutDir: false,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: { input: "src/page/main.ts", output: { format: "iife", codeSplitting: false } },
  },
});
