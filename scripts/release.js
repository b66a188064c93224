// @ts-check
// Makes all files of a release in one folder: `npm run release`. It publishes nothing; its last lines say how.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packCopy } from "./pack-copy.js";
import { makePortable } from "./portable/make-portable.js";
import { platforms } from "./portable/platforms.js";
import { needPackages, run } from "./portable/run.js";
import { sumsOf } from "./portable/write-archive.js";
import { firstSection, leftToDo } from "./release/left-to-do.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const usage = `usage: npm run release -- [--dry-run] [--out FOLDER] [--package FILE]

Makes the package, the portable archives, the bill of materials, the installers, the notes and SHA256SUMS.

  --dry-run       make them even if something is left to do before the release, and list it
  --out FOLDER    where they are written; it must be empty or missing (default: release)
  --package FILE  the packed package (default: pack this one)`;

try {
  const { values } = parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      out: { type: "string", default: "release" },
      package: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) console.log(usage);
  else await release({ dry: values["dry-run"], out: resolve(values.out), packed: values.package });
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

/** @param {{ dry: boolean, out: string, packed: string | undefined }} options */
async function release({ dry, out, packed }) {
  const left = leftToDo(root);
  if (left.length > 0 && !dry)
    throw new Error(
      `this version cannot be released yet\n${left.map((line) => `- ${line}\n`).join("")}To try it, add --dry-run.`,
    );
  needPackages();
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new Error(`${out} is not empty\nRemove it, or choose another folder with --out.`);
  const { version, lines } = firstSection(readFileSync(join(root, "CHANGELOG.md"), "utf8"));
  const name = `catalogue-imaging-catalogue-${version}.tgz`;
  if (packed !== undefined && (basename(packed) !== name || !existsSync(packed)))
    throw new Error(`${packed} is not the packed package of this version, ${name}\nMake it with: npm pack`);
  mkdirSync(out, { recursive: true });

  const tarball = packed === undefined ? (await packCopy(out)).tarball : join(out, basename(packed));
  if (packed !== undefined) cpSync(packed, tarball);
  const archives = await makePortable(tarball, out, platforms);
  const bill = `catalogue-${version}.sbom.cdx.json`;
  writeFileSync(join(out, bill), run("tar", ["-xzOf", tarball, "package/dist/sbom.cdx.json"], out));
  for (const name of ["install.sh", "install.ps1"]) cpSync(join(root, name), join(out, name));
  writeFileSync(join(out, "NOTES.md"), lines);
  const names = [basename(tarball), ...archives, bill, "install.sh", "install.ps1", "NOTES.md"];
  writeFileSync(join(out, "SHA256SUMS"), await sumsOf(out, names));

  const folder = relative(process.cwd(), out);
  const quoted = (/** @type {string} */ path) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`);
  if (left.length > 0)
    console.log(`Left to do before this release:\n${left.map((line) => `- ${line}`).join("\n")}`);
  console.log(`Made ${names.length + 1} files in ${folder}. To publish them:
  git tag -s v${version} -m v${version} && git push origin v${version}
On GitHub, .github/workflows/release.yml makes them again from that tag, and publishes them. Elsewhere:
  npm publish ${quoted(join(folder, basename(tarball)))}  # outside of a GitHub or GitLab job: --no-provenance
Then upload the files of ${folder} to the release v${version}, with the text of NOTES.md.`);
}
