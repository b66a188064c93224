// A year of nights against one service: `npm run soak:year`.
import { parseArgs } from "node:util";
import { type Mistake, mistakes } from "./controls.ts";
import { olderCommit, programOf, todaysProgram } from "./programs.ts";
import { playYear, type Year } from "./year.ts";

// The SDK reads it once, from the environment of this process.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
const { values: flags } = parseArgs({
  options: {
    runs: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    nights: { type: "string" },
    products: { type: "string", default: "30" },
    older: { type: "string", default: olderCommit },
    control: { type: "string" },
  },
});
const { control } = flags;
if (control !== undefined && !(control in mistakes))
  throw new Error(`--control must be one of ${Object.keys(mistakes).join(", ")}`);
const mistake: Mistake | null = control === undefined ? null : mistakes[control as keyof typeof mistakes];
const nights = Number(flags.nights ?? (mistake === null ? 365 : 12));
const [runs, products] = [Number(flags.runs), Number(flags.products)];
// The mistakes of a month's end are in the first eight rows.
if (![nights, runs].every((count) => Number.isInteger(count) && count > 0) || !(products >= 10))
  throw new Error("--nights and --runs must be integers above 0, and --products at least 10");
const older = mistake !== null || flags.older === "none" ? null : await programOf(flags.older);
if (older === null && mistake === null && flags.older !== "none")
  throw new Error(`--older must be a commit of this repository, or none: ${flags.older}`);
const program = await todaysProgram(mistake?.patches ?? []);
const years: Year[] = [];
try {
  for (let at = 0; at < runs; at++) {
    const year = await playYear({
      seed: at === 0 ? flags.seed : `${flags.seed}.${at}`,
      ...{ nights, products },
      ...{ older, program, troubles: mistake?.troubles ?? [] },
      onNight: (line) => console.error(line),
    });
    years.push(year);
    console.log(JSON.stringify({ ...year, control: control ?? null }));
  }
} finally {
  program.remove();
}
// The nights of a control must show its mistake.
const isFound = ({ faults }: Year) => faults.some(({ what }) => mistake?.found.test(what));
const good = years.filter((year) => (mistake === null ? year.faults.length === 0 : isFound(year)));
console.error(
  `${good.length} of ${years.length} ${mistake === null ? "years without a difference" : "runs found it"}`,
);
process.exitCode = good.length === years.length ? 0 : 1;
