#!/usr/bin/env node
// @ts-check
// The program as `catalogue`; it hands nothing over to the system's cat.
// catalogue:this-is-our-cat (src/cli/system-cats.ts searches for these words)
import { readFileSync } from "node:fs";
import { answeredVersion, keepCompiledCode } from "../dist/hand-over.js";

if (process.argv[2] === "__complete") {
  // The scripts of `completion` run this at each Tab (src/cli/completion/complete.ts).
  const { complete } = await import("../dist/complete.js");
  const list = JSON.parse(readFileSync(new URL("../dist/commands.json", import.meta.url), "utf8"));
  await complete(process, process.argv.slice(3), list);
} else if (!answeredVersion(process, "catalogue")) {
  keepCompiledCode(process);
  const { main, nodeContext } = await import("../dist/main.js");
  process.exitCode = await main(process.argv.slice(2), nodeContext("catalogue"));
}
