// @ts-check
// Runs many command lines of the built program in one process, each with the modules of a fresh start. Reads
// `{ dist, log, lines }` as JSON from stdin, and writes what each line loads to the file `log` (record-loads.js).
import { readFileSync } from "node:fs";
import { register } from "node:module";

const { dist, log, lines } = JSON.parse(readFileSync(0, "utf8"));
register("./record-loads.js", import.meta.url, { data: { dist, log } });

const { nodeContext } = await import(`${dist}main.js`);
const context = nodeContext("cat");
const silent = { isTTY: false, columns: 80, raw: process.stderr, write: () => {} };
const exits = [];
for (const [run, argv] of lines.entries()) {
  const { main } = await import(`${dist}main.js?run=${run}`);
  exits.push(
    await main(argv, Object.create(context, { stdout: { value: silent }, stderr: { value: silent } })),
  );
}
process.stdout.write(JSON.stringify(exits));
// Pools of unfinished imports may stay open.
process.exit();
