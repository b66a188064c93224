import { spawnSync } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { durableLoop, median, pairedRatio, root, timed, withPeak } from "./pairs.js";
import { curlParallel, intoNewFolders, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/**
 * A new mirror against a bare loop that keeps the same promises about the disk, and against `rclone copy` of the same files,
 * which checks their sizes; each in its own process.
 */
export const measure = ({ count = 1_000, bytes = 100_000, runs = 5 } = {}) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const into = intoNewFolders(folder, (images) => {
        const saved = readdirSync(images, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && /^(?:\d+|.*\.png)$/.test(entry.name))
          .filter((entry) => statSync(join(entry.parentPath, entry.name)).size >= bytes);
        if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      });
      const processor = { ours: [], loop: [] };
      const measured = async (whose, run) => {
        const { ms, cpuMs } = await run;
        processor[whose].push(cpuMs / count);
        return ms;
      };
      const cat = () =>
        into((images) => {
          const args = [join(root, "bin/cat.js"), "export", "sync", images, "--quiet"];
          return measured("ours", withPeak(args, { env: { ...env, CAT_HOME: `${images}.home` } }));
        });
      const loop = () => into((images) => measured("loop", durableLoop(images, server.urls)));
      const ratio = await pairedRatio(runs, cat, loop);
      const [ours, bare] = [median(processor.ours), median(processor.loop)];
      const noSync = () => into(async (images) => (await durableLoop(images, server.urls, "--no-sync")).ms);
      const curl = () => into((images) => curlParallel(server.urls, images));
      const others = [await pairedRatio(runs, cat, noSync), await pairedRatio(runs, cat, curl)];
      const what = `mirror of ${count.toLocaleString("en")} images of ${bytes / 1_000} KB`;
      return [
        {
          what: `${what}, time against a bare loop with the same promises`,
          ratio,
          goal: 1.3,
          atMost: true,
          note: `against the loop without syncs ${others[0].toFixed(2)} x, against curl --parallel ${others[1].toFixed(2)} x`,
        },
        {
          what: `${what}, processor time for each / 0.9 ms`,
          ratio: ours / 0.9,
          goal: 1,
          atMost: true,
          note: `${ours.toFixed(2)} ms, the loop ${bare.toFixed(2)} ms`,
        },
        {
          ...{ what: `${what}, time against rclone copy`, goal: 2, atMost: true },
          ...(await againstRclone(runs, { cat, into, folder, server, count })),
        },
      ];
    },
  );

/** The ratio to `rclone copy` with as many transfers as ours; a reason to skip it where it is missing. */
async function againstRclone(runs, { cat, into, folder, server, count }) {
  if (spawnSync("rclone", ["version"]).status !== 0) return { skipped: "rclone is not installed" };
  const list = join(folder, "rclone.txt");
  writeFileSync(list, Array.from({ length: count }, (_, at) => `${at}\n`).join(""));
  // The names are given: to read a listing, rclone would ask for each file as well. A HEAD for each gives it the sizes to check.
  const source = ["--http-url", `${server.base_url}/images/`, ":http:"];
  const how = ["--files-from", list, "--no-traverse", "--transfers", "8", "--checkers", "8"];
  const env = { ...process.env, RCLONE_CONFIG: join(folder, "rclone.conf") };
  const rclone = () =>
    into(async (images) => (await timed("rclone", ["copy", "-q", ...source, images, ...how], { env })).ms);
  return { ratio: await pairedRatio(runs, cat, rclone) };
}
