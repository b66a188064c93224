// @ts-check
// Completes the declarations of the package's exports: with those of zod, which the mock's options and state are made of, so
// that no project must install it; and with copies in dist/cjs/types, because a CommonJS project needs CommonJS files.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { dependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const dist = join(root, "dist");
const types = join(dist, "types");
const copies = join(dist, "cjs", "types");
const zod = join(root, "node_modules", "zod");
const ownZod = join(types, "zod");

rmSync(ownZod, { recursive: true, force: true });
for (const file of declarationsFrom([join(zod, "index.d.ts")])) put(file, join(ownZod, relative(zod, file)));

const exported = [join(types, "index.d.ts"), join(types, "mock", "index.d.ts"), join(types, "webhooks.d.ts")];
for (const file of declarationsFrom(exported)) {
  const path = relative(dirname(file), join(ownZod, "index.js")).split(sep).join("/");
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace(/((?:from|import\() ?)"zod"/g, `$1"${path.startsWith(".") ? path : `./${path}`}"`),
  );
}
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
      else if (name !== "zod" && !name.startsWith("node:") && !Object.hasOwn(dependencies, name))
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
