import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { downloadLoop, pairedRatio, root, withPeak } from "./pairs.js";
import { curlParallel, intoNewFolders, memoryNote, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/** A new mirror of many files, each on the disk before it has its name, against curl and a bare loop on the same URLs. */
export const measure = ({ count = 2_000, bytes = 100_000, runs = 5 } = {}) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const peaks = [];
      const into = intoNewFolders(folder, (images) => {
        const saved = imagesIn(images).filter((path) => statSync(path).size >= bytes);
        if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      });
      const cat = () =>
        into(async (images) => {
          // A mirror of its own, with its own state.
          const home = { ...env, CAT_HOME: `${images}.home` };
          const args = [join(root, "bin/cat.js"), "export", "sync", images, "--quiet"];
          const { ms, peak } = await withPeak(args, { env: home });
          peaks.push(peak);
          return ms;
        });
      const curl = () => into((images) => curlParallel(server.urls, images));
      const loop = () => into(async (images) => (await downloadLoop(images, server.urls)).ms);
      const what = `mirror of ${count.toLocaleString("en")} images of ${bytes / 1_000} KB, time against`;
      const againstCurl = await pairedRatio(runs, cat, curl);
      const againstLoop = await pairedRatio(runs, cat, loop);
      const note = memoryNote(peaks);
      return [
        { what: `${what} curl --parallel`, ratio: againstCurl, goal: 1.5, atMost: true, note },
        { what: `${what} a bare undici loop`, ratio: againstLoop, goal: 1.3, atMost: true, note },
      ];
    },
  );

/** The images of a folder and those below it. */
const imagesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "catalogue.ndjson")
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes(".catalogue-sync"));
