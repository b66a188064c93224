// Adds runs to the metrics file of the first argument without end, and prints "+" and a line end after each.
import { addToMetricsFile } from "../../../src/cli/after-run/metrics-file.ts";
import { MovableClock } from "../../../src/clock.ts";

const [path] = process.argv.slice(2) as [string];
const clock = new MovableClock();
for (;;) {
  await addToMetricsFile(clock, path, {
    ...{ command: "import", profile: "default", outcome: "success", exit: 0, startedAt: 0, endedAt: 1_000 },
    ...{ summaries: [{ run_id: `run_${crypto.randomUUID()}` }], requests: new Map([["200", 1]]) },
  });
  process.stdout.write("+\n");
}
