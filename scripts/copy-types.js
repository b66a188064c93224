// @ts-check
// Completes the declarations of the package's exports with copies in dist/cjs/types, because a CommonJS project needs CommonJS
// files.
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { dependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const dist = join(root, "dist");
const types = join(dist, "types");
const copies = join(dist, "cjs", "types");

// An earlier build may have made it.
rmSync(join(types, "zod"), { recursive: true, force: true });
const exported = [join(types, "index.d.ts"), join(types, "mock", "index.d.ts"), join(types, "webhooks.d.ts")];
rmSync(copies, { recursive: true, force: true });
for (const file of declarationsFrom(exported)) put(file, join(copies, relative(types, file)));

/**
 * Files of declarations, and all that they import.
 * @param {readonly string[]} first
 */
function declarationsFrom(first) {
  const files = new Set(first);
  for (const file of files) {
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g)) {
      if (name.startsWith(".")) files.add(resolve(dirname(file), name.replace(/\.[jt]s$/, ".d.ts")));
      // It would be missing where the package is installed.
      else if (!name.startsWith("node:") && !Object.hasOwn(dependencies, name))
        throw new Error(`${relative(dist, file)} imports types of ${name}, which is not a dependency`);
    }
  }
  return files;
}

/** @param {string} from @param {string} to */
function put(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}
