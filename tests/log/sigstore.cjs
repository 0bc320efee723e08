// Asks @sigstore/verify, the part of npm and of sigstore-js that reads transparency logs, about
// one checkpoint and some inclusion proofs. The two modules are internal to it: pinned by the lock.
"use strict";
const { createPublicKey } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const modules = process.argv[2];
const { verifyCheckpoint } = require(join(modules, "@sigstore/verify/dist/tlog/checkpoint.js"));
const { verifyMerkleInclusion } = require(join(modules, "@sigstore/verify/dist/tlog/merkle.js"));
const { VerificationError } = require(join(modules, "@sigstore/verify/dist/error.js"));

const question = JSON.parse(readFileSync(0, "utf-8"));
const log = {
  logID: Buffer.from(question.id, "hex"),
  baseURL: question.name,
  publicKey: createPublicKey({ key: Buffer.from(question.key, "hex"), format: "der", type: "spki" }),
};
try {
  for (const { index, entry, hashes } of question.proofs) {
    const logEntry = {
      canonicalizedBody: Buffer.from(entry, "hex"),
      inclusionProof: {
        logIndex: String(index),
        hashes: hashes.map((hash) => Buffer.from(hash, "hex")),
        checkpoint: { envelope: question.note },
      },
    };
    verifyMerkleInclusion(logEntry, verifyCheckpoint(logEntry, [log]));
  }
  console.log(`accepted: ${question.proofs.length}`);
} catch (error) {
  if (!(error instanceof VerificationError)) throw error;
  console.log(`refused: ${error.message}`);
  process.exitCode = 1;
}
