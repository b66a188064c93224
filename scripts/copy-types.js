// @ts-check
// Copies the declarations of the package's exports to dist/cjs/types: a CommonJS project needs declarations of CommonJS files.
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const dist = join(root, "dist");
const types = join(dist, "types");
const copies = join(dist, "cjs", "types");

/** The declarations of the exports, and all that they import. */
const files = new Set([join(types, "index.d.ts"), join(types, "mock", "index.d.ts")]);
for (const file of files) {
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g)) {
    if (name.startsWith(".")) files.add(resolve(dirname(file), name.replace(/\.ts$/, ".d.ts")));
    // It would be missing where the package is installed.
    else if (!name.startsWith("node:") && !Object.hasOwn(dependencies, name))
      throw new Error(`${relative(dist, file)} imports types of ${name}, which is not a dependency`);
  }
}
rmSync(copies, { recursive: true, force: true });
for (const file of files) {
  const copy = join(copies, relative(types, file));
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(file, copy);
}
