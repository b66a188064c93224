#!/usr/bin/env node
// @ts-check
// The program as `catalogue`; it hands nothing over to the system's cat.
// catalogue:this-is-our-cat (src/cli/hand-over/leads-to-us.ts searches for these words)
import { answeredVersion, keepCompiledCode } from "../dist/hand-over.js";

if (!answeredVersion(process)) {
  keepCompiledCode(process);
  const { main, nodeContext } = await import("../dist/main.js");
  process.exitCode = await main(process.argv.slice(2), nodeContext());
}
