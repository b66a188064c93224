// @ts-check
// Archives whose bytes depend on their content alone: sorted names, one date, no owner.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, readdirSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** The date of all files, that of files in packages of npm. */
const date = "1985-10-26T08:15:00Z";

/**
 * Writes the files of `folder` below its last name.
 * @param {string} parent
 * @param {string} folder its name in `parent`
 * @param {string} path of the archive, with its ending
 */
export async function writeArchive(parent, folder, path) {
  await (path.endsWith(".zip") ? writeZip : writeTar)(parent, folder, path);
}

/** @param {string} parent @param {string} folder @param {string} path */
async function writeTar(parent, folder, path) {
  const same = ["--sort=name", `--mtime=${date}`, "--owner=0", "--group=0", "--numeric-owner"];
  const args = ["--format=ustar", ...same, "--mode=u+rwX,go+rX,go-w", "-C", parent, "-cf", "-", folder];
  const tar = spawn("tar", args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => tar.on("error", resolve).on("close", resolve));
  await pipeline(tar.stdout, createGzip({ level: 9 }), createWriteStream(path));
  const end = await ended;
  if (end !== 0)
    throw new Error(`cannot write ${path}: ${end instanceof Error ? end.message : "GNU tar is needed"}`);
}

/** @param {string} parent @param {string} folder @param {string} path */
async function writeZip(parent, folder, path) {
  // Loaded here, so that the scripts can say what is missing in a clone without its packages.
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  for (const name of filesIn(join(parent, folder)))
    zip.addFile(join(parent, folder, name), `${folder}/${name}`, {
      ...{ mtime: new Date(date), forceDosTimestamp: true, mode: 0o100_644, compressionLevel: 9 },
    });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}

/**
 * The files in a folder and those below it, sorted, with slashes.
 * @param {string} folder
 */
export const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.replaceAll(sep, "/"))
    .sort();

/**
 * The lines of a file SHA256SUMS about these files.
 * @param {string} folder
 * @param {readonly string[]} names
 */
export async function sumsOf(folder, names) {
  const lines = names.map(async (name) => {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(folder, name)), hash);
    return `${hash.digest("hex")}  ${name}\n`;
  });
  return (await Promise.all(lines)).join("");
}
