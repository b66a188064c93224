// @ts-check
// Makes the archives that need no Node: `npm run portable`, or for some platforms `npm run portable -- linux-x64 windows-x64`.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packCopy } from "./pack-copy.js";
import { makePortable } from "./portable/make-portable.js";
import { platforms, platformsNamed } from "./portable/platforms.js";
import { needPackages } from "./portable/run.js";
import { sumsOf } from "./portable/write-archive.js";

const usage = `usage: npm run portable -- [--out FOLDER] [--package FILE] [PLATFORM ...]

  --out FOLDER    where the archives and SHA256SUMS are written (default: release)
  --package FILE  the packed package (default: pack this one)
  PLATFORM        ${platforms.map(({ name }) => name).join(", ")} (default: all)`;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: "string", default: "release" },
      package: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) console.log(usage);
  else {
    const chosen = platformsNamed(positionals);
    needPackages();
    const out = resolve(values.out);
    mkdirSync(out, { recursive: true });
    const tarball = values.package ?? (await packCopy(out)).tarball;
    const names = await makePortable(resolve(tarball), out, chosen);
    writeFileSync(join(out, "SHA256SUMS"), await sumsOf(out, names));
  }
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
