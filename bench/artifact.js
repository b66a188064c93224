import { execFileSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { downloadLoop, median, pairedRatio, root, timed, withPeak } from "./pairs.js";
import { startArtifactServer } from "./servers.js";

const memoryGoal = 200;
const entryBytes = 10_000_000;

/** The download of a large ZIP, checked and on the disk before it has its name, against curl and against a bare loop. */
export async function measure({ megabytes = 500, runs = 5 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const zip = join(folder, "served.zip");
  await writeZip(zip, Math.round((megabytes * 1_000_000) / entryBytes));
  const server = await startArtifactServer(zip);
  try {
    const env = {
      ...process.env,
      CAT_HOME: join(folder, "home"),
      CAT_BASE_URL: server.base_url,
      CAT_API_KEY: "ak_mock",
    };
    let number = 0;
    const peaks = [];
    const into = async (save) => {
      const target = join(folder, `got-${number++}`);
      mkdirSync(target);
      const ms = await save(target);
      const sizes = readdirSync(target).map((name) => statSync(join(target, name)).size);
      if (sizes.join() !== String(server.bytes)) throw new Error(`${sizes} bytes, not ${server.bytes}`);
      rmSync(target, { recursive: true });
      // What one of them leaves to write would slow the other down.
      execFileSync("sync");
      return ms;
    };
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
    const found = [
      { what: `${what} curl`, ratio: await pairedRatio(runs, cat, curl), goal: 1.9, atMost: true },
      {
        what: `${what} a bare undici loop`,
        ratio: await pairedRatio(runs, cat, loop),
        goal: 1.2,
        atMost: true,
      },
    ];
    const peak = Math.round(median(peaks));
    const note = `peak memory ${peak < memoryGoal ? "under" : "NOT under"} ${memoryGoal} MB (${peak} MB)`;
    return found.map((row) => ({ ...row, note }));
  } finally {
    server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** A ZIP of stored files with random bytes, as of images. */
async function writeZip(path, entries) {
  const zip = new ZipFile();
  for (let entry = 0; entry < entries; entry++)
    zip.addBuffer(randomFillSync(Buffer.alloc(entryBytes)), `image-${entry}.jpg`, { compress: false });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
