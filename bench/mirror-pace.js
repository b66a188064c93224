import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { median, pairedRatio, root, withPeak } from "./pairs.js";
import { intoNewFolders, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/** A new mirror against a bare loop that keeps the same promises about the disk, each in its own process. */
export const measure = ({ count = 1_000, bytes = 100_000, runs = 5 } = {}) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const into = intoNewFolders(folder, (images) => {
        const saved = readdirSync(images, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && entry.name.endsWith(".png"))
          .filter((entry) => statSync(join(entry.parentPath, entry.name)).size >= bytes);
        if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      });
      const processor = { ours: [], loop: [] };
      const measured = async (whose, args, options) => {
        const { ms, cpuMs } = await withPeak(args, options);
        processor[whose].push(cpuMs / count);
        return ms;
      };
      const cat = () =>
        into((images) => {
          const args = [join(root, "bin/cat.js"), "export", "sync", images, "--quiet"];
          return measured("ours", args, { env: { ...env, CAT_HOME: `${images}.home` } });
        });
      const loop = () =>
        into((images) =>
          measured("loop", [join(root, "bench/durable-loop.js"), images], { input: server.urls.join("\n") }),
        );
      const ratio = await pairedRatio(runs, cat, loop);
      const [ours, bare] = [median(processor.ours), median(processor.loop)];
      const what = `mirror of ${count.toLocaleString("en")} images of ${bytes / 1_000} KB`;
      return [
        { what: `${what}, time against a bare loop with the same promises`, ratio, goal: 1.3, atMost: true },
        {
          what: `${what}, processor time for each / 0.9 ms`,
          ratio: ours / 0.9,
          goal: 1,
          atMost: true,
          note: `${ours.toFixed(2)} ms, the loop ${bare.toFixed(2)} ms`,
        },
      ];
    },
  );
