import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { durableLoop, median, root, timed } from "./pairs.js";
import { curlParallel, intoNewFolders, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/**
 * Saving the images of tasks, each on the disk before it has its name, against curl and a bare loop on the same URLs, in rounds of one
 * run each. curl keeps no promise, so the goal adds the loop's share to its time: what the loop with the promises of a mirror
 * (durable-loop.js: digests, syncs, a table) takes more than the same loop without them.
 */
export const measure = ({ count = 2_000, bytes = 100_000, runs = 5 } = {}) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const into = intoNewFolders(folder, (images) => {
        // The results of the run, which are as large as an image, are there too; curl and the loops have other names.
        const names = readdirSync(images).filter((name) => !/\.(csv|ndjson|json)$|^index\.db/.test(name));
        const saved = names.filter((name) => statSync(join(images, name)).size >= bytes);
        if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      });
      const save = [join(root, "bin/cat.js"), "tasks", "save", ...server.ids, "--quiet", "--json", "--save"];
      const programs = {
        cat: async (images) => (await timed(process.execPath, [...save, images], { env })).ms,
        curl: (images) => curlParallel(server.urls, images),
        durable: async (images) => (await durableLoop(images, server.urls)).ms,
        bare: async (images) => (await durableLoop(images, server.urls, "--bare")).ms,
      };
      const rounds = [];
      // The first round warms the disk and is not counted.
      for (let run = 0; run <= runs; run++) {
        const round = {};
        for (const [name, program] of Object.entries(programs)) round[name] = await into(program);
        if (run > 0) rounds.push(round);
      }
      const ratioTo = (ofRound) => median(rounds.map((round) => round.cat / ofRound(round)));
      const share = ({ durable, bare }) => Math.max(0, durable - bare);
      const what = `${count.toLocaleString("en")} images of ${bytes / 1_000} KB, time to save against`;
      const shareMs = Math.round(median(rounds.map(share)));
      return [
        {
          what: `${what} curl --parallel and the loop's share`,
          ratio: ratioTo((round) => round.curl + share(round)),
          goal: 1.5,
          atMost: true,
          note: `curl ${Math.round(median(rounds.map(({ curl }) => curl)))} ms, the share ${shareMs} ms`,
        },
        { what: `${what} curl --parallel`, ratio: ratioTo(({ curl }) => curl) },
        {
          what: `${what} a bare loop with the promises of a mirror`,
          ratio: ratioTo(({ durable }) => durable),
        },
      ];
    },
  );
