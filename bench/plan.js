import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countingProxy } from "./counting-proxy.js";
import { importFile } from "./import-runs.js";
import { writeProducts } from "./product-files.js";
import { startMockServer } from "./servers.js";

/** The plan of a file of which a tenth of the names changed, against as many products. */
export async function measure({ rows = 100_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000");
  const proxy = await countingProxy(mock.base_url);
  try {
    const file = join(folder, "products.csv");
    await writeProducts(file, { rows, format: "csv" });
    const settings = { baseUrl: proxy.base_url, home: join(folder, "home") };
    await importFile(file, settings);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/,Linen dress number (\d*)7,/g, ",Dress $17,"));
    const measured = [];
    for (const [what, home] of [
      ["with its ledger", settings.home],
      ["without a ledger", join(folder, "other")],
    ]) {
      proxy.reset();
      const flags = ["--plan", join(folder, "plan.ndjson")];
      const { peak, ms } = await importFile(file, { ...settings, home, flags });
      const { reads, writes } = proxy.counts;
      if (writes > 0) throw new Error(`a plan sent ${writes} writes`);
      const counts = JSON.parse(
        readFileSync(join(folder, "plan.ndjson"), "utf8").trimEnd().split("\n").at(-1),
      );
      // Otherwise another plan would be measured.
      if (counts.change !== rows / 10) throw new Error(`${counts.change} rows change`);
      measured.push({
        what: `plan of ${rows.toLocaleString("en")} rows ${what}, memory / 250 MB`,
        ratio: peak / 250,
        goal: 1,
        atMost: true,
        note: `${peak} MB, ${reads} reads, ${(ms / 1_000).toFixed(1)} s`,
      });
    }
    return measured;
  } finally {
    proxy.stop();
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}
