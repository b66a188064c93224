// @ts-check
// The folder of an archive: two launchers, what users read, and in lib/ what they need not look at.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { billOfArchive } from "./bill-of-archive.js";
import { removeSymbols } from "./remove-symbols.js";
import { filesIn, sumsOf } from "./write-archive.js";

const scripts = dirname(fileURLToPath(import.meta.url));

/**
 * @param {string} folder
 * @param {import("./platforms.js").Platform} platform
 * @param {{ program: string, node: string, license: string, packages: string }} from folders: the unpacked package, a
 *   package with Node and one with its license, and the installed packages
 */
export async function fillFolder(folder, platform, { program, node, license, packages }) {
  const lib = join(folder, "lib");
  const read = ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs", "fixtures"];
  for (const name of read) cpSync(join(program, name), join(folder, name), { recursive: true });
  cpSync(join(program, "man"), join(folder, "man/man1"), { recursive: true });
  for (const name of ["package.json", "bin", "dist/program"])
    cpSync(join(program, name), join(lib, name), { recursive: true });
  cpSync(packages, join(lib, "node_modules"), { recursive: true });
  cpSync(join(node, platform.binary), join(lib, basename(platform.binary)));
  if (platform.os === "linux") removeSymbols(join(lib, "node"));
  writeLaunchers(folder, platform.os === "win32");

  const licenses = join(folder, "licenses");
  mkdirSync(licenses);
  cpSync(join(license, "LICENSE"), join(licenses, "node.txt"));
  cpSync(join(program, "dist/licenses.txt"), join(licenses, "bundled-packages.txt"));
  const installed = packagesIn(packages);
  for (const { path, name } of installed) copyLicense(path, join(licenses, `${name.replace("/", "-")}.txt`));
  const bill = readFileSync(join(program, "dist/sbom.cdx.json"), "utf8");
  const names = new Set(installed.map(({ name, version }) => `${name}@${version}`));
  writeFileSync(join(folder, "sbom.cdx.json"), billOfArchive(bill, names, platform.node.replace(/^.*@/, "")));
  writeFileSync(join(folder, "SHA256SUMS"), await sumsOf(folder, filesIn(folder)));
}

/** @param {string} folder @param {boolean} isWindows */
function writeLaunchers(folder, isWindows) {
  const text = readFileSync(join(scripts, isWindows ? "launcher.cmd" : "launcher.sh"), "utf8");
  for (const name of ["catalogue", "cat"]) {
    const path = join(folder, isWindows ? `${name}.cmd` : name);
    const own = text.replaceAll("PROGRAM", name);
    // cmd finds no label in a file with the line ends of Unix.
    writeFileSync(path, isWindows ? own.replaceAll("\n", "\r\n") : own);
    chmodSync(path, 0o755);
  }
}

/**
 * The packages in a folder `node_modules`, and those inside them.
 * @param {string} folder
 * @returns {{ path: string, name: string, version: string, license: string }[]}
 */
function packagesIn(folder) {
  return filesIn(folder)
    .filter((path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    .map((path) => ({
      path: join(folder, dirname(path)),
      ...JSON.parse(readFileSync(join(folder, path), "utf8")),
    }));
}

/** @param {string} from a package @param {string} to */
function copyLicense(from, to) {
  const names = readdirSync(from)
    .filter((name) => /^(?:licen[cs]e|copyright)/i.test(name))
    .sort();
  const { name, version, license } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  // The package with libvips lists the licenses of its libraries in its README.
  const texts = names.length > 0 || !existsSync(join(from, "README.md")) ? names : ["README.md"];
  const parts = texts.map((one) => readFileSync(join(from, one), "utf8").trim());
  writeFileSync(to, `${[`${name} ${version} (${license})`, ...parts].join("\n\n")}\n`);
}
