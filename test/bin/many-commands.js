// @ts-check
// Runs many command lines of the built program in one process, each with the modules of a fresh start. Reads
// `{ program, log, cwd, lines }` as JSON from stdin, and writes what each line loads to the file `log`.
import { appendFileSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { programLoader } from "../../src/cli/program-loader.ts";

const { program, log, cwd, lines } = JSON.parse(readFileSync(0, "utf8"));
// Commands write files there.
process.chdir(cwd);

/** @typedef {typeof import("../../src/cli/main.ts")} Program */
const { nodeContext } = /** @type {Program} */ (programLoader(process, program)("main.js"));
const context = nodeContext("cat");
const silent = { isTTY: false, columns: 80, raw: process.stderr, write: () => {} };
const exits = [];
for (const [run, argv] of lines.entries()) {
  /** @param {string} path */
  const onLoad = (path) => {
    const kind = path.endsWith(".js") ? "file" : "package";
    if (!isBuiltin(path)) appendFileSync(log, `${run} ${kind} ${path}\n`);
  };
  const { main } = /** @type {Program} */ (programLoader(process, program, onLoad)("main.js"));
  exits.push(
    await main(argv, Object.create(context, { stdout: { value: silent }, stderr: { value: silent } })),
  );
}
process.stdout.write(JSON.stringify(exits));
// Pools of unfinished imports may stay open.
process.exit();
