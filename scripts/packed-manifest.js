// @ts-check
// The manifest of the packed package: `npm pack` and `npm publish` call this before and after. Users get no script, so that no
// package manager asks about one, and no name of a package of the build.
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = join(root, "package.json");
/** The manifest of the project, while the other one has its name. */
const whole = join(root, "package.json.whole");

// Also what an interrupted command has left.
if (existsSync(whole)) renameSync(whole, manifest);
if (!process.argv.includes("--restore")) {
  // npm does not call it, as the packed manifest has no `prepare`.
  const built = spawnSync(process.execPath, [join(root, "scripts/prepare.js"), "--required"], {
    stdio: ["ignore", 2, 2],
  });
  if (built.status !== 0) process.exit(1);
  const {
    scripts: _,
    devDependencies: __,
    overrides: ___,
    allowScripts: ____,
    ...packed
  } = JSON.parse(readFileSync(manifest, "utf8"));
  // The same file, with its time: by that a build knows whether it is up to date.
  linkSync(manifest, whole);
  // Those of the project are for the build: what users import has none.
  packed.sideEffects = false;
  writeFileSync(`${manifest}.packed`, `${JSON.stringify(packed, null, 2)}\n`);
  renameSync(`${manifest}.packed`, manifest);
}
