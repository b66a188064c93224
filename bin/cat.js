#!/usr/bin/env node
// @ts-check
// The program as `cat`. A command line for the system's cat is handed over before the rest of the program loads.
// catalogue:this-is-our-cat (src/cli/context/system-cats.ts searches for these words)
const { existsSync } = require("node:fs");

if (!existsSync(`${__dirname}/../dist/program/hand-over.js`)) {
  process.stderr.write("error: this clone is not built\nRun: npm ci --include=dev\n");
  process.exit(2);
}
const { answeredVersion, handOver, isOurs, runProgram } = require("../dist/program/hand-over.js");

const argv = process.argv.slice(2);
isOurs(argv).then(async (ours) => {
  if (!ours) await handOver(process, __filename);
  else if (!answeredVersion(process, "cat")) await runProgram(process, "cat");
});
