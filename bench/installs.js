// `npm run bench:installs`, or `npm run bench:installs -- npm`: installs the packed package with each package manager, one after
// the other, with empty caches. Prints a row of docs/performance.md for each. It needs the registry.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packCopy } from "../scripts/pack-copy.js";
import { fillProject, getTools, managers, nodeOf } from "../scripts/package-managers.js";

const version = "22";
const runs = 3;
const [chosen = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "catalogue-installs-"));
try {
  const { tarball } = await packCopy(folder);
  const tools = join(folder, "tools");
  await getTools(tools, [version]);
  for (const manager of managers.filter(({ name }) => name.startsWith(chosen))) {
    const found = [];
    for (let run = 0; run < runs; run++) found.push(await install(tools, manager, tarball));
    const ms = found.map((one) => one.ms).sort((a, b) => a - b)[Math.floor(runs / 2)];
    const [{ packages, bytes }] = found;
    const size = `${packages} packages, ${Math.round(bytes / 1e6)} MB`;
    console.log(`| ${manager.name}: ${size} | ${(ms / 1000).toFixed(1)} s | at most 60 s |`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Installs into a new project, with a new home. */
async function install(tools, manager, tarball) {
  const project = mkdtempSync(join(folder, "project-"));
  const home = mkdtempSync(join(folder, "home-"));
  fillProject(project, manager, tarball);
  const node = nodeOf(tools, version, project, home);
  const begun = performance.now();
  await node(join(tools, "node_modules", manager.program), ...manager.add);
  const ms = performance.now() - begun;
  return { ms, ...sizeOfPackages(project, home) };
}

/** The number of packages in a project, and their bytes; with Plug'n'Play, of the cache that they run from. */
function sizeOfPackages(project, home) {
  const isPnp = readdirSync(project).includes(".pnp.cjs");
  const folders = isPnp
    ? [join(project, ".yarn"), join(home, ".yarn/berry/cache")]
    : [join(project, "node_modules")];
  const files = folders.flatMap((one) =>
    readdirSync(one, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const isPackage = isPnp ? /\.zip$/ : /node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/;
  return {
    packages: files.filter((path) => isPackage.test(path)).length,
    bytes: files.reduce((sum, path) => sum + statSync(path).size, 0),
  };
}
