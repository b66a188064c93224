import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterImport, importFile } from "./import-runs.js";

/** The plan of a file of which a tenth of the names changed, against as many products. */
export const measure = ({ rows = 100_000 } = {}) =>
  afterImport(rows, async ({ folder, file, settings, proxy }) => {
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
  });
