import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, root, withPeak } from "./pairs.js";
import { writeProducts } from "./product-files.js";

const rows = 1_000_000;
const runs = 3;
const memoryGoal = 200;

/** The check of a file with a million rows, against the bare parser on the same file. */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  try {
    const found = [];
    for (const format of ["csv", "ndjson"]) {
      const file = join(folder, `million.${format}`);
      await writeProducts(file, { rows, format });
      const ratios = [];
      const peaks = [];
      for (let run = 0; run < runs; run++) {
        const check = await withPeak([join(root, "bin/cat.js"), "import", "--dry-run", "--quiet", file]);
        const alone = await withPeak([join(root, "bench/parse-alone.js"), format, file]);
        ratios.push(alone.ms / check.ms);
        peaks.push(check.peak);
      }
      const parser = format === "csv" ? "csv-parse" : "split2 and JSON.parse";
      const peak = median(peaks);
      found.push({
        what: `check of 1,000,000 rows of ${format.toUpperCase()}, speed against ${parser} alone`,
        ratio: median(ratios),
        goal: 0.4,
        note: `peak memory ${peak < memoryGoal ? "under" : "NOT under"} ${memoryGoal} MB`,
      });
      rmSync(file);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
