import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pairedRatio, root, timed } from "./pairs.js";
import { curlParallel, intoNewFolders, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/** Saving the images of tasks, each on the disk before it has its name, against curl on the same URLs. */
export const measure = ({ count = 2_000, bytes = 100_000, runs = 5 } = {}) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const into = intoNewFolders(folder, (images) => {
        // The results of the run, which are as large as an image, are there too; curl gives its files no extension.
        const names = readdirSync(images).filter((name) => !/\.(csv|ndjson|json)$/.test(name));
        const saved = names.filter((name) => statSync(join(images, name)).size >= bytes);
        if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      });
      const save = [join(root, "bin/cat.js"), "tasks", "save", ...server.ids, "--quiet", "--json", "--save"];
      const cat = () =>
        into(async (images) => (await timed(process.execPath, [...save, images], { env })).ms);
      const curl = () => into((images) => curlParallel(server.urls, images));
      const ratio = await pairedRatio(runs, cat, curl);
      const what = `${count.toLocaleString("en")} images of ${bytes / 1_000} KB, time to save against curl --parallel`;
      return [{ what, ratio, goal: 1.5, atMost: true }];
    },
  );
