import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pairedRatio, root, withPeak } from "./pairs.js";
import { settingsFor } from "./saving.js";
import { startMockServer } from "./servers.js";

const cat = join(root, "bin/cat.js");
/** A version of this program without --notify can be measured: BENCH_BASE_CAT is its bin/cat.js. */
const base = process.env.BENCH_BASE_CAT;

/**
 * The user time of an import of ten rows that neither notifies nor counts, against itself with `--notify none`, which is off in
 * another way; with BENCH_BASE_CAT against that version. `on` shows what a metrics file costs.
 */
export async function measure({ runs = 21 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const server = await startMockServer("--no-rate-limit", "--speed", "1000");
  try {
    /** Imports ten rows again and again; each home has products of its own, as the photos of others are unknown to it. */
    const runOf = (program, ...flags) => {
      const name = program === cat ? "today" : "earlier";
      const file = join(folder, `${name}.csv`);
      const row = (at) => `${name}-${at},Dress,https://cdn.example.com/${at}.jpg\n`;
      writeFileSync(
        file,
        `reference,name,images\n${Array.from({ length: 10 }, (_, at) => row(at)).join("")}`,
      );
      const env = { ...settingsFor(server, folder), CAT_HOME: join(folder, name) };
      return async () => (await withPeak([program, "import", file, "--quiet", ...flags], { env })).userMs;
    };
    const off = runOf(cat);
    const others = [["--notify none", runOf(cat, "--notify", "none"), { goal: 1.05, atMost: true }]];
    if (base !== undefined && existsSync(base))
      others.push(["a version without --notify", runOf(base), { goal: 1.05, atMost: true }]);
    const metrics = runOf(cat, "--metrics", join(folder, "m.prom"));
    const measured = [];
    for (const [name, other, goal] of others)
      measured.push({
        what: `import of ten rows without --notify / ${name}, user time`,
        ratio: await pairedRatio(runs, off, other),
        ...goal,
      });
    measured.push({
      what: "import of ten rows with --metrics / without, user time",
      ratio: await pairedRatio(runs, metrics, off),
    });
    return measured;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
