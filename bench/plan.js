import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterImport, importFile } from "./import-runs.js";
import { root, timed } from "./pairs.js";

/** The plans of a file and of an exported sheet, of which a tenth of the names changed, against as many products. */
export const measure = ({ rows = 100_000 } = {}) =>
  afterImport(rows, async ({ folder, file, settings, proxy }) => {
    const sheet = join(folder, "sheet.csv");
    const { home, baseUrl } = settings;
    const env = { ...process.env, CAT_HOME: home, CAT_BASE_URL: baseUrl, CAT_API_KEY: "ak_mock" };
    await timed(process.execPath, [join(root, "bin/cat.js"), "products", "export", sheet], { env });
    for (const one of [file, sheet])
      writeFileSync(one, readFileSync(one, "utf8").replaceAll(/,Linen dress number (\d*)7,/g, ",Dress $17,"));
    const measured = [];
    for (const [what, planned, home] of [
      ["rows with its ledger", file, settings.home],
      ["rows without a ledger", file, join(folder, "other")],
      ["exported rows without a ledger", sheet, join(folder, "another")],
    ]) {
      proxy.reset();
      const flags = ["--plan", join(folder, "plan.ndjson")];
      const { peak, ms } = await importFile(planned, { ...settings, home, flags });
      const { reads, writes } = proxy.counts;
      if (writes > 0) throw new Error(`a plan sent ${writes} writes`);
      const counts = JSON.parse(
        readFileSync(join(folder, "plan.ndjson"), "utf8").trimEnd().split("\n").at(-1),
      );
      // Otherwise another plan would be measured.
      if (counts.change !== rows / 10) throw new Error(`${counts.change} rows change`);
      measured.push({
        what: `plan of ${rows.toLocaleString("en")} ${what}, memory / 250 MB`,
        ratio: peak / 250,
        goal: 1,
        atMost: true,
        note: `${peak} MB, ${reads} reads, ${(ms / 1_000).toFixed(1)} s`,
      });
    }
    return measured;
  });
