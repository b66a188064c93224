import { randomFillSync } from "node:crypto";
import { createWriteStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { downloadLoop, pairedRatio, root, timed, withPeak } from "./pairs.js";
import { intoNewFolders, memoryNote, settingsFor, withServer } from "./saving.js";
import { startArtifactServer } from "./servers.js";

const entryBytes = 10_000_000;

/** The download of a large ZIP, checked and on the disk before it has its name, against curl and against a bare loop. */
export const measure = ({ megabytes = 500, runs = 5 } = {}) =>
  withServer(
    async (folder) => {
      const zip = join(folder, "served.zip");
      await writeZip(zip, Math.round((megabytes * 1_000_000) / entryBytes));
      return startArtifactServer(zip);
    },
    async (folder, server) => {
      const env = settingsFor(server, folder);
      const peaks = [];
      const into = intoNewFolders(folder, (target) => {
        const sizes = readdirSync(target).map((name) => statSync(join(target, name)).size);
        if (sizes.join() !== String(server.bytes)) throw new Error(`${sizes} bytes, not ${server.bytes}`);
      });
      const cat = () =>
        into(async (target) => {
          const args = ["exports", "download", server.id, "--out", join(target, "a.zip"), "--quiet"];
          const { ms, peak } = await withPeak([join(root, "bin/cat.js"), ...args], { env });
          peaks.push(peak);
          return ms;
        });
      const curl = () =>
        into(async (target) => (await timed("curl", ["-s", "-o", join(target, "a.zip"), server.url])).ms);
      const loop = () => into(async (target) => (await downloadLoop(target, [server.url])).ms);
      const what = `download of a ZIP of ${megabytes} MB, time against`;
      const againstCurl = await pairedRatio(runs, cat, curl);
      const againstLoop = await pairedRatio(runs, cat, loop);
      const note = memoryNote(peaks);
      return [
        { what: `${what} curl`, ratio: againstCurl, goal: 1.9, atMost: true, note },
        { what: `${what} a bare undici loop`, ratio: againstLoop, goal: 1.2, atMost: true, note },
      ];
    },
  );

/** A ZIP of stored files with random bytes, as of images. */
async function writeZip(path, entries) {
  const zip = new ZipFile();
  for (let entry = 0; entry < entries; entry++)
    zip.addBuffer(randomFillSync(Buffer.alloc(entryBytes)), `image-${entry}.jpg`, { compress: false });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
