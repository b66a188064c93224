// A year of nights against one service: `npm run soak:year`.
import { parseArgs } from "node:util";
import { olderCommit, programOf, todaysProgram } from "./programs.ts";
import { playYear } from "./year.ts";

// The SDK reads it once, from the environment of this process.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
const { values: flags } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    nights: { type: "string", default: "365" },
    products: { type: "string", default: "30" },
    older: { type: "string", default: olderCommit },
  },
});
const older = flags.older === "none" ? null : await programOf(flags.older);
const program = await todaysProgram([]);
try {
  const year = await playYear({
    seed: flags.seed,
    nights: Number(flags.nights),
    products: Number(flags.products),
    older,
    program,
    onNight: (line) => console.error(line),
  });
  console.log(JSON.stringify(year));
  process.exitCode = year.faults.length === 0 ? 0 : 1;
} finally {
  program.remove();
}
