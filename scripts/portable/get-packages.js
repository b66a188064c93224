// @ts-check
// What an archive is made of, from the registry by npm: Node, and the packages for a system in the versions of the lockfile.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run, runNpm } from "./run.js";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Unpacks the package with Node into `folder`.
 * @param {import("./platforms.js").Platform} platform
 * @param {string} folder
 */
export function getNode({ node, integrity }, folder) {
  mkdirSync(folder, { recursive: true });
  runNpm(["pack", "--prefer-offline", "--pack-destination", folder, node], folder);
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (found !== integrity)
    throw new Error(`${node} is not the package of scripts/portable/platforms.js: its integrity is ${found}`);
  unpack(tarball, folder);
  rmSync(tarball);
}

/**
 * Installs what users of a system get with the package, and nothing that it does not load.
 * @param {import("./platforms.js").Platform} platform
 * @param {string} folder
 * @returns the folder `node_modules`
 */
export function getPackages({ os, cpu }, folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(root, name), join(folder, name));
  const omitted = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  runNpm(["ci", "--prefer-offline", ...omitted, `--os=${os}`, `--cpu=${cpu}`, "--libc=glibc"], folder);
  const packages = join(folder, "node_modules");
  // libsql does not say which libc its packages are for; Node's own programs are for glibc.
  const others = readdirSync(join(packages, "@libsql")).filter((name) => name.endsWith("-musl"));
  const unused = [".bin", ".package-lock.json", "sharp/src", ...others.map((name) => `@libsql/${name}`)];
  for (const path of unused) rmSync(join(packages, path), { recursive: true, force: true });
  return packages;
}

/**
 * Unpacks a package into `folder`, without the folder `package` that has all of its files.
 * @param {string} tarball
 * @param {string} folder
 */
export function unpack(tarball, folder) {
  mkdirSync(folder, { recursive: true });
  run("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"], folder);
}
