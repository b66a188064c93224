#!/usr/bin/env node
// @ts-check
// The program as `cat`. A command line for the system's cat is handed over before the rest of the program loads.
// catalogue:this-is-our-cat (src/cli/system-cats.ts searches for these words)
import { answeredVersion, handOver, isOurs, keepCompiledCode } from "../dist/hand-over.js";

const argv = process.argv.slice(2);
if (!(await isOurs(argv))) {
  await handOver(process, import.meta.url);
} else if (!answeredVersion(process, "cat")) {
  keepCompiledCode(process);
  const { main, nodeContext } = await import("../dist/main.js");
  process.exitCode = await main(argv, nodeContext("cat"));
}
