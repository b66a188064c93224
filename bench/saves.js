import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pairedRatio, root, timed } from "./pairs.js";
import { startOutputsServer } from "./servers.js";

/** Saving the images of tasks, each on the disk before it has its name, against curl on the same URLs. */
export async function measure({ count = 2_000, bytes = 100_000, runs = 5 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const server = await startOutputsServer(count, bytes);
  try {
    const env = {
      ...process.env,
      CAT_HOME: join(folder, "home"),
      CAT_BASE_URL: server.base_url,
      CAT_API_KEY: "ak_mock",
    };
    let number = 0;
    const into = async (save) => {
      const images = join(folder, `images-${number++}`);
      mkdirSync(images);
      const ms = await save(images);
      const saved = readdirSync(images).filter((name) => statSync(join(images, name)).size === bytes);
      if (saved.length !== count) throw new Error(`${saved.length} images were saved, not ${count}`);
      rmSync(images, { recursive: true });
      // What one of them leaves to write would slow the other down.
      execFileSync("sync");
      return ms;
    };
    const cat = () =>
      into(async (images) => {
        const args = [
          join(root, "bin/cat.js"),
          "tasks",
          "save",
          ...server.ids,
          "--save",
          images,
          "--quiet",
          "--json",
        ];
        return (await timed(process.execPath, args, { env })).ms;
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
    const ratio = await pairedRatio(runs, cat, curl);
    const what = `${count.toLocaleString("en")} images of ${bytes / 1_000} KB, time to save against curl --parallel`;
    return [{ what, ratio, goal: 1.5, atMost: true }];
  } finally {
    server.stop();
    rmSync(folder, { recursive: true });
  }
}
