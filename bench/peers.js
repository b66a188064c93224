import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./pairs.js";

/** The folder of peers and load generators: ignored by git, because they are not dependencies of the project. */
const folder = join(root, "bench/.peers");

/** Loads `name@version`, and downloads it first if it is missing. */
export async function peer(spec) {
  const name = fetched(spec);
  return import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href);
}

/** The path of a file of `name@version`, e.g. of its program. */
export const peerFile = (spec, file) => join(folder, "node_modules", fetched(spec), file);

function fetched(spec) {
  const name = spec.slice(0, spec.lastIndexOf("@"));
  if (existsSync(join(folder, "node_modules", name))) return name;
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "package.json"))) {
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  }
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", spec], {
    cwd: folder,
    stdio: "inherit",
  });
  return name;
}
