import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, root, timed } from "./pairs.js";

const rows = 1_000_000;
const runs = 3;
const memoryGoal = 200;

/** The whole-file check of a million rows, against the bare parser on the same file. */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  try {
    const found = [];
    for (const format of ["csv", "ndjson"]) {
      const file = join(folder, `million.${format}`);
      await write(file, format);
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

/** Runs a script and reads its peak memory, in MB, from the line it leaves on stdout at its end. */
async function withPeak([script, ...args]) {
  const { ms, output } = await timed(process.execPath, [
    "--import",
    join(root, "bench/print-peak.js"),
    script,
    ...args,
  ]);
  return { ms, peak: Number(/peak (\d+)/.exec(output)?.[1]) };
}

async function write(file, format) {
  const out = createWriteStream(file);
  if (format === "csv") out.write("reference,name,description,sex,image_front,image_back\n");
  let text = "";
  for (let index = 0; index < rows; index++) {
    const [front, back] = ["front", "back"].map(
      (side) => `https://cdn.example.com/photos/2026/${index}-${side}.jpg`,
    );
    text +=
      format === "csv"
        ? `SKU-${index},Linen dress number ${index},"A light dress, for summer days",female,${front},${back}\n`
        : `{"reference":"SKU-${index}","name":"Linen dress number ${index}","description":"A light dress, for summer days","sex":"female","images":[{"url":"${front}","orientation":"front"},{"url":"${back}","orientation":"back"}]}\n`;
    if (text.length > 1 << 20) {
      if (!out.write(text)) await once(out, "drain");
      text = "";
    }
  }
  out.end(text);
  await once(out, "finish");
}
