import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pairedRatio, root, withPeak } from "./pairs.js";
import { memoryNote, settingsFor, withServer } from "./saving.js";
import { startPagesServer } from "./servers.js";

/** Live rows against a bare undici loop that joins pages, each with its own process and file. */
export const measure = ({ products = 40_000, images = 4, runs = 5 } = {}) =>
  withServer(
    () => startPagesServer(products, images),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const [ours, theirs] = [join(folder, "ours.ndjson"), join(folder, "theirs.ndjson")];
      const found = [];
      for (const format of ["ndjson", "csv"]) {
        const peaks = [];
        const cat = async () => {
          const args = ["export", "--out", ours, "--format", format, "--yes", "--quiet"];
          const { ms, peak } = await withPeak([join(root, "bin/cat.js"), ...args], { env });
          peaks.push(peak);
          return ms;
        };
        const loop = async () =>
          (await withPeak([join(root, "bench/join-pages.js"), server.base_url, theirs])).ms;
        // The goal is a speed: the time of the loop over ours.
        const ratio = await pairedRatio(runs, loop, cat);
        check(ours, theirs, format);
        found.push({
          what: `live rows of ${products.toLocaleString("en")} products as ${format.toUpperCase()}, speed against a bare undici loop`,
          ratio,
          goal: 0.6,
          note: memoryNote(peaks),
        });
      }
      return found;
    },
  );

/** NDJSON must have the bytes of the loop; CSV at least all of its images. */
function check(ours, theirs, format) {
  if (statSync(ours).size < 1_000_000) throw new Error("the export is too small");
  if (format === "ndjson" && !readFileSync(ours).equals(readFileSync(theirs)))
    throw new Error("the two files differ");
}
