/** What `npm pack` makes can be used: it verifies a hand in plain Node, and its types are there. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const SEEDS = fileURLToPath(new URL("../../../seeds", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fairdeal-verifier-"));
after(() => rmSync(folder, { recursive: true }));

const run = (command: string, args: string[], cwd: string): string => execFileSync(command, args, { cwd, encoding: "utf8" });

test("the package verifies a hand", () => {
  run("npm", ["pack", "--silent", "--pack-destination", folder], WEB);
  const [tarball = ""] = readdirSync(folder);
  run("tar", ["xzf", tarball], folder);
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(join(folder, "package"), join(modules, "fairdeal-verifier"));
  symlinkSync(join(WEB, "node_modules/@noble"), join(modules, "@noble"));
  const files = readdirSync(join(folder, "package"), { recursive: true, encoding: "utf8" });
  assert.ok(files.includes("dist/index.d.ts") && files.includes("README.md") && files.includes("LICENSE"));
  assert.ok(!files.some((name) => /(^|\/)(page|tests|words)\//.test(name)), "the library, and nothing of the page");
  assert.deepEqual(files.filter((name) => /\.ts$/.test(name) && !/\.d\.ts$/.test(name)), []);

  const script = `
    import { readFileSync } from "node:fs";
    import { readFile, verify } from "fairdeal-verifier";
    const data = new Uint8Array(readFileSync(process.argv[2]));
    const { verdict, failed, checks } = verify(data, { key: readFileSync(process.argv[3], "utf8").trim() });
    console.log(JSON.stringify({ verdict, failed, checks: checks.length, events: readFile(data).steps.length }));
  `;
  writeFileSync(join(folder, "use.mjs"), script);
  const use = (name: string): unknown => JSON.parse(run(process.execPath, ["--preserve-symlinks", "use.mjs", join(SEEDS, name), join(SEEDS, "log.vkey")], folder));
  const file = JSON.parse(readFileSync(join(SEEDS, "mus-reshuffled.fair.json"), "utf8")) as { events: string[] };
  const good = use("mus-reshuffled.fair.json") as { verdict: string; failed: null; checks: number; events: number };
  assert.deepEqual([good.verdict, good.failed, good.events], ["VERIFIED", null, file.events.length]);
  assert.ok(good.checks > 30);
  // The control: the same package sees what is wrong.
  assert.equal((use("mus-root_fail.fair.json") as { failed: string }).failed, "deck.root");

  writeFileSync(join(folder, "use.ts"), 'import { verify, type Report } from "fairdeal-verifier";\nexport const report: Report = verify(new Uint8Array());\n');
  const typescript = join(WEB, "node_modules/typescript/bin/tsc");
  const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom", "--preserveSymlinks", "use.ts"];
  assert.equal(run(process.execPath, [typescript, ...strict], folder), "");
});
