// @ts-check
// Packs the package from a copy of what packing reads: it replaces the manifest for a moment, which others may be reading.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = promisify(execFile);

/** What packing reads, besides the files of the package. */
const alsoRead = ["package.json", "package-lock.json", "README.md", "LICENSE", "scripts"];

/**
 * Builds the program if it is not built, and packs it into a folder, offline.
 * @param {string} folder
 * @returns {Promise<{ tarball: string, files: string[] }>} the packed file, and the paths in it
 */
export async function packCopy(folder) {
  await run(process.execPath, ["scripts/prepare.js"], { cwd: root, maxBuffer: 2 ** 26 });
  const copy = mkdtempSync(join(tmpdir(), "catalogue-pack-"));
  const { files: packed } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const tops = packed.filter((/** @type {string} */ path) => !path.startsWith("!"));
  const read = new Set([...alsoRead, ...tops.map((/** @type {string} */ path) => path.split("/")[0])]);
  const pack = ["pack", "--offline", "--json", "--pack-destination", resolve(folder)];
  const env = { ...process.env, npm_config_loglevel: "error" };
  try {
    for (const name of read)
      cpSync(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
    const { stdout } = await run("npm", pack, { cwd: copy, env, maxBuffer: 2 ** 26 });
    const [{ filename, files }] = JSON.parse(stdout);
    return {
      tarball: join(folder, filename),
      files: files.map((/** @type {{ path: string }} */ { path }) => path),
    };
  } finally {
    rmSync(copy, { recursive: true });
  }
}
