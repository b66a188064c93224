#!/usr/bin/env node
// @ts-check
// The program as `catalogue`; it hands nothing over to the system's cat.
// catalogue:this-is-our-cat (src/cli/context/system-cats.ts searches for these words)
const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

if (!existsSync(`${__dirname}/../dist/program/hand-over.js`)) {
  process.stderr.write("error: this clone is not built\nRun: npm ci --include=dev\n");
  process.exit(2);
}
const { answeredVersion, runProgram } = require("../dist/program/hand-over.js");

if (process.argv[2] === "__complete") {
  // The scripts of `completion` run this at each Tab (src/cli/completion/complete.ts).
  const { complete } = require("../dist/program/complete.js");
  /** @type {import("../src/cli/completion/command-list.ts").CommandList} */
  const list = JSON.parse(readFileSync(join(__dirname, "../dist/program/commands.json"), "utf8"));
  complete(process, process.argv.slice(3), list);
} else if (!answeredVersion(process, "catalogue")) {
  runProgram(process, "catalogue");
}
