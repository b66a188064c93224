import { execFileSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { build } from "esbuild";
import { ZipFile } from "yazl";
import { median, root, timed, withPeak } from "./pairs.js";

const runs = 5;
const memoryGoal = 200;

/** Files of an archive; `text` shrinks to about half, as SVG does, and photos do not. */
const archives = [
  { what: "2,000 photos of 100 KB", files: 2_000, bytes: 100_000, compress: false, text: false },
  { what: "40 photos of 10 MB", files: 40, bytes: 10_000_000, compress: false, text: false },
  { what: "2,000 compressed files of 100 KB", files: 2_000, bytes: 100_000, compress: true, text: true },
];

/**
 * Extracting an archive, with every file synced to disk, against `unzip`, which does not sync. Both as programs of their own,
 * with the time they take to start.
 */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const program = join(root, "node_modules/.cache/bench-extract.mjs");
  try {
    execFileSync("unzip", ["-v"], { stdio: "ignore" });
    await buildProgram(program);
    const found = [];
    for (const archive of archives) {
      const zip = join(folder, "a.zip");
      await writeZip(zip, archive);
      const ratios = [];
      const peaks = [];
      for (let run = 0; run <= runs; run++) {
        const ours = await withPeak([program, zip, join(folder, "ours")]);
        rmSync(join(folder, "ours"), { recursive: true });
        mkdirSync(join(folder, "theirs"));
        const theirs = await timed("unzip", ["-q", zip, "-d", join(folder, "theirs")]);
        rmSync(join(folder, "theirs"), { recursive: true });
        // The first one warms the page cache.
        if (run === 0) continue;
        ratios.push(ours.ms / theirs.ms);
        peaks.push(ours.peak);
      }
      const peak = median(peaks);
      found.push({
        what: `extract: ${archive.what}, time against unzip`,
        ratio: median(ratios),
        goal: 1.5,
        atMost: true,
        note: `peak memory ${peak < memoryGoal ? "under" : "NOT under"} ${memoryGoal} MB`,
      });
      rmSync(zip);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(program, { force: true });
  }
}

/** The extraction as a program: `node PROGRAM ZIP DIR`. */
async function buildProgram(outfile) {
  const source = `
    import { extractZips } from "./src/flows/export/archive/extract-zips.ts";
    const [path, dir] = process.argv.slice(2);
    await extractZips({ archives: [{ path }], dir, signal: new AbortController().signal });
  `;
  await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["libsql"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    outfile,
    logLevel: "warning",
  });
}

async function writeZip(path, { files, bytes, compress, text }) {
  const zip = new ZipFile();
  for (let at = 0; at < files; at++) {
    const photo = randomFillSync(Buffer.alloc(text ? bytes / 2 : bytes));
    const content = text ? Buffer.from(photo.toString("hex")) : photo;
    zip.addBuffer(content, `REF-${at}_front.jpg`, { compress });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
