import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, withPeak } from "./pairs.js";
import { settingsFor, withServer } from "./saving.js";
import { createProducts, startMockServer, startPagesServer } from "./servers.js";
import { withUnchangedMirror } from "./sync-unchanged.js";

/** Another version of this program can be measured: BENCH_CAT is its bin/cat.js. */
const cat = process.env.BENCH_CAT ?? join(root, "bin/cat.js");

/**
 * The user time of one more row or page: the least of several runs of a large catalogue less that of a small one, so that neither
 * the start nor other programs count.
 */
export const measure = async ({ runs = 7 } = {}) => [
  await row("sync of images without changes, user time for each, in µs", runs, {
    sizes: [10_000, 100_000],
    unit: 1_000,
    run: (images) => (work) =>
      withUnchangedMirror(images, ({ args, env }) => work(() => withPeak(args, { env })), cat),
  }),
  await row("cat products list --all --json, user time for each page of 100, in ms", runs, {
    sizes: [100, 1_000],
    unit: 1,
    run: (pages) => (work) =>
      withServer(
        () => startPagesServer(pages * 100, 2),
        (folder, server) =>
          work(() =>
            withPeak([cat, "products", "list", "--all", "--json"], {
              ...{ env: settingsFor(server, folder), into: join(folder, "products.ndjson") },
            }),
          ),
      ),
  }),
  await row("queue of cat tryon --no-wait, user time for each request of 16 images, in ms", runs, {
    sizes: [2, 62],
    unit: 1,
    run: (requests) => (work) =>
      withServer(
        () => startMockServer("--demo", "0"),
        async (folder, server) => {
          await createProducts(server, 2 * requests);
          const file = join(folder, "looks.csv");
          const looks = Array.from(
            { length: 2 * requests },
            (_, at) => `SKU-${at},Amara,white|studio,full-front|full-back|full-side|close-up`,
          );
          writeFileSync(file, ["product_reference,model_id,background,angle_shot", ...looks, ""].join("\n"));
          const args = [cat, "tryon", file, "--matrix", "--yes", "--quiet", "--no-wait"];
          return work(() => {
            // A run that has ended is not run again on its machine.
            const home = mkdtempSync(join(tmpdir(), "catalogue-bench-home-"));
            const env = { ...settingsFor(server, folder), CAT_HOME: home };
            return withPeak(args, { env, cwd: folder }).finally(() => rmSync(home, { recursive: true }));
          });
        },
      ),
  }),
];

/** The row of a command: `run` gives, for a size, what prepares it and lets it be run several times. */
async function row(what, runs, { sizes, unit, run }) {
  const least = [];
  for (const size of sizes)
    least.push(
      await run(size)(async (once) => {
        const times = [];
        for (let at = 0; at < runs; at++) times.push((await once()).userMs);
        return Math.min(...times);
      }),
    );
  const [small, large] = sizes;
  const note = `${least[0]} ms for ${small.toLocaleString("en")}, ${least[1]} ms for ${large.toLocaleString("en")}`;
  return { what, ratio: ((least[1] - least[0]) / (large - small)) * unit, note };
}
