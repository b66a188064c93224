import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadLoop, median, pairedRatio, root, timed, withPeak } from "./pairs.js";
import { startOutputsServer } from "./servers.js";

const memoryGoal = 200;

/** A new mirror of many files, each on the disk before it has its name, against curl and a bare loop on the same URLs. */
export async function measure({ count = 2_000, bytes = 100_000, runs = 5 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const server = await startOutputsServer(count, bytes);
  try {
    const env = { ...process.env, CAT_BASE_URL: server.base_url, CAT_API_KEY: "ak_mock" };
    let number = 0;
    const peaks = [];
    const into = async (save) => {
      const images = join(folder, `images-${number++}`);
      mkdirSync(images);
      const ms = await save(images);
      const saved = filesIn(images).filter((path) => statSync(path).size === bytes);
      if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      rmSync(images, { recursive: true });
      // What one of them leaves to write would slow the other down.
      execFileSync("sync");
      return ms;
    };
    const cat = () =>
      into(async (images) => {
        const home = { ...env, CAT_HOME: join(folder, `home-${number}`) };
        const args = [join(root, "bin/cat.js"), "export", "sync", images, "--quiet"];
        const { ms, peak } = await withPeak(args, { env: home });
        peaks.push(peak);
        return ms;
      });
    const curl = () =>
      into(async (images) => {
        const config = join(folder, "curl.txt");
        const lines = server.urls.map(
          (url, at) => `url = "${url}"\noutput = "${join(images, `${at}.png`)}"\n`,
        );
        writeFileSync(config, lines.join(""));
        // Its progress goes to stderr whatever it is told.
        const stdio = ["ignore", "pipe", "ignore"];
        return (await timed("curl", ["--parallel", "--config", config], { stdio })).ms;
      });
    const loop = () => into(async (images) => (await downloadLoop(images, server.urls)).ms);
    const what = `mirror of ${count.toLocaleString("en")} images of ${bytes / 1_000} KB, time against`;
    const found = [
      { what: `${what} curl --parallel`, ratio: await pairedRatio(runs, cat, curl), goal: 1.5, atMost: true },
      {
        what: `${what} a bare undici loop`,
        ratio: await pairedRatio(runs, cat, loop),
        goal: 1.3,
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

/** The files of a folder and those below it. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
