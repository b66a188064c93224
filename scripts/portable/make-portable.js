// @ts-check
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillFolder } from "./fill-folder.js";
import { getNode, getPackages, unpack } from "./get-packages.js";
import { platforms } from "./platforms.js";
import { writeArchive } from "./write-archive.js";

/** What a download may have. */
const largest = 60_000_000;

/**
 * Writes the archives of the platforms, and returns their names.
 * @param {string} tarball the packed package
 * @param {string} out
 * @param {readonly import("./platforms.js").Platform[]} chosen
 */
export async function makePortable(tarball, out, chosen) {
  const work = mkdtempSync(join(tmpdir(), "catalogue-portable-"));
  try {
    const program = join(work, "program");
    unpack(tarball, program);
    const { version } = JSON.parse(readFileSync(join(program, "package.json"), "utf8"));
    const names = [];
    for (const platform of chosen) {
      const node = join(work, platform.name, "node");
      getNode(platform, node);
      const packages = getPackages(platform, join(work, platform.name, "packages"));
      const name = `catalogue-${version}-${platform.name}`;
      const license = platform.os === "win32" ? join(work, "linux") : node;
      // The package for Windows has none.
      if (license !== node) getNode(platforms[0], license);
      await fillFolder(join(work, name), platform, { program, node, license, packages });
      const path = join(out, `${name}${platform.archive}`);
      await writeArchive(work, name, path);
      const { size } = statSync(path);
      const megabytes = (size / 1e6).toFixed(1);
      if (size > largest) throw new Error(`${path} has ${megabytes} MB, over 60`);
      console.log(`${path}  ${megabytes} MB`);
      names.push(`${name}${platform.archive}`);
      for (const one of [name, platform.name]) rmSync(join(work, one), { recursive: true });
    }
    return names;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
