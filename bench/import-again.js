import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countingProxy } from "./counting-proxy.js";
import { importFile } from "./import-runs.js";
import { writeProducts } from "./product-files.js";
import { startMockServer } from "./servers.js";

/** The second import of an unchanged file: its writes and its time. */
export async function measure({ rows = 100_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000");
  const proxy = await countingProxy(mock.base_url);
  try {
    const file = join(folder, "products.csv");
    await writeProducts(file, { rows, format: "csv" });
    const settings = { baseUrl: proxy.base_url, home: join(folder, "home") };
    const first = await importFile(file, settings);
    // Otherwise nothing would be measured.
    if (proxy.counts.writes < rows / 2_000) throw new Error(`only ${proxy.counts.writes} writes were sent`);
    proxy.reset();
    const again = await importFile(file, settings);
    const { reads, writes } = proxy.counts;
    const count = rows.toLocaleString("en");
    return [
      {
        what: `writes sent by a second import of ${count} unchanged rows`,
        ratio: writes,
        goal: 0,
        atMost: true,
        note: `${reads} reads, ${(again.ms / 1_000).toFixed(1)} s for the ${(first.ms / 1_000).toFixed(1)} s of the first`,
      },
    ];
  } finally {
    proxy.stop();
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}
