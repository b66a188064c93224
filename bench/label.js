import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pairedRatio, root, timed } from "./pairs.js";
import { intoNewFolders, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/** How long the label of an image takes, in microseconds: its place, its bytes and the digest of the image as sent. */
async function labelMicros(count, bytes) {
  const script = join(root, "bench/label-bytes.ts");
  const args = ["--import", "tsx", script, String(count), String(bytes)];
  return Number((await timed(process.execPath, args)).output);
}

/** A new mirror of many generated images that get their label, against one with --no-label. */
export const measure = ({ count = 2_000, bytes = 100_000, runs = 5 } = {}) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      let added = 0;
      const into = intoNewFolders(folder, (images) => {
        const index = readFileSync(join(images, "catalogue.ndjson"), "utf8").trim().split("\n");
        const saved = index.map((line) => JSON.parse(line));
        const isLabeled = saved[0].sent_sha256 !== undefined;
        const isSame = saved.every((one) => (one.sent_sha256 !== undefined) === isLabeled);
        if (!isSame || saved.length !== count || readdirSync(images).length < count)
          throw new Error(`${saved.length} images were saved, or only some of them with a label`);
        if (isLabeled) added = saved[0].bytes - bytes;
      });
      const cat = (...flags) =>
        into(async (images) => {
          const args = [join(root, "bin/cat.js"), "export", "sync", images, "--quiet", ...flags];
          const home = { ...env, CAT_HOME: `${images}.home` };
          return (await timed(process.execPath, args, { env: home })).ms;
        });
      const ratio = await pairedRatio(
        runs,
        () => cat(),
        () => cat("--no-label"),
      );
      const micros = await labelMicros(count, bytes);
      const what = `mirror of ${count.toLocaleString("en")} labeled images of ${bytes / 1_000} KB, time against --no-label`;
      return [
        { what, ratio, goal: 1.05, atMost: true, note: `${added} bytes and ${micros} µs more per image` },
      ];
    },
  );
