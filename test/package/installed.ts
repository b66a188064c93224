import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import manifest from "../../package.json" with { type: "json" };
import { packCopy } from "../../scripts/pack-copy.js";
import { needsBuild } from "../support/spawn-cat.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The package as users install it: packed, unpacked, with its own dependencies and no others. */
export interface Installed {
  /** A separate project, with the package in its `node_modules`. */
  readonly folder: string;
  /** The packed package. */
  readonly tarball: string;
  /** Every file of the package, relative to it. */
  readonly files: readonly string[];
}

/** Packs and installs the package into a temporary folder, offline. The caller removes the folder. */
export async function installPackage(): Promise<Installed> {
  needsBuild();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "catalogue-package-")));
  const { tarball, files } = await packCopy(folder);
  const home = join(folder, "node_modules", manifest.name);
  mkdirSync(home, { recursive: true });
  await execa("tar", ["-xzf", tarball, "-C", home, "--strip-components=1"]);
  // Node resolves the dependencies of a linked package from its real folder.
  for (const name of [...Object.keys(manifest.optionalDependencies), "@types/node"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(root, "node_modules", name)), link);
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return { folder, tarball, files };
}

/** The README's only code block that imports `what`, unchanged. */
export function readmeLines(what: string): string {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]!);
  const found = blocks.filter((block) => block.includes(`import { ${what} }`));
  if (found.length !== 1)
    throw new Error(`README.md imports ${what} in ${found.length} blocks instead of one`);
  return found[0]!;
}

/** Runs a module in the installed package's project. */
export const runModule = (folder: string, path: string, env: Record<string, string> = {}) =>
  execa(process.execPath, [path], { cwd: folder, env, reject: false });

/** Whether the package has this file. */
export const hasFile = (folder: string, path: string): boolean =>
  existsSync(join(folder, "node_modules", manifest.name, path));
