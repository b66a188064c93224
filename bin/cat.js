#!/usr/bin/env node
// @ts-check
// `cat`, as merchandisers type it. A call that is not ours goes to the system's cat before anything of ours is loaded.
// catalogue:this-is-our-cat (src/cli/hand-over/leads-to-us.ts looks for these words)
import { answeredVersion, handOver, isOurs, keepCompiledCode } from "../dist/hand-over.js";

const argv = process.argv.slice(2);
if (!(await isOurs(argv))) {
  await handOver(process, import.meta.url);
} else if (!answeredVersion(process)) {
  keepCompiledCode(process);
  const { main, nodeContext } = await import("../dist/main.js");
  process.exitCode = await main(argv, nodeContext());
}
