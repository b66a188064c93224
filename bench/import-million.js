import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importFile } from "./import-runs.js";
import { writeProducts } from "./product-files.js";
import { startMockServer } from "./servers.js";

const goals = { megabytes: 250, ratio: 1.15 };

/** A million rows into the mock: the memory of the process, and whether the time grows at most linearly. */
export async function measure({ many = 1_000_000, few = 250_000 } = {}) {
  const large = await imported(many);
  const small = await imported(few);
  return [
    {
      what: `import of ${many.toLocaleString("en")} rows, peak memory as a share of ${goals.megabytes} MB`,
      ratio: large.peak / goals.megabytes,
      goal: 1,
      atMost: true,
      note: `${large.peak} MB, ${(large.ms / 1_000).toFixed(0)} s`,
    },
    {
      what: `time per row, ${many.toLocaleString("en")} rows / ${few.toLocaleString("en")} rows`,
      ratio: large.ms / many / (small.ms / few),
      goal: goals.ratio,
      atMost: true,
      note: `${Math.round((many / large.ms) * 1_000).toLocaleString("en")} rows per second`,
    },
  ];
}

/** Imports that many rows into a new mock, with a new state. */
async function imported(rows) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000");
  try {
    const file = join(folder, "products.csv");
    await writeProducts(file, { rows, format: "csv" });
    return await importFile(file, { baseUrl: mock.base_url, home: join(folder, "home") });
  } finally {
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}
