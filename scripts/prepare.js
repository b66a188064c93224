// @ts-check
// Runs after `npm ci`, before packing, and on the first `npx cat` in a clone. Builds dist/ unless it is newer
// than all of its sources, so that the first command is quick.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = [
  "src",
  "scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];
/** The last file that a build writes. */
const result = join(root, "dist", "types", "index.d.ts");

if (newest(result) > Math.max(...sources.map((source) => newest(join(root, source))))) process.exit(0);

try {
  createRequire(import.meta.url).resolve("esbuild");
} catch {
  // As with `npm ci --omit=dev`, which must not fail because of the packages it omits; a package without a program must.
  const why = process.env.NODE_ENV === "production" ? ", because NODE_ENV is production" : "";
  console.error(`dist/ is not built: the tools for it are not installed${why}\nRun: npm ci --include=dev`);
  process.exit(process.argv.includes("--required") && newest(result) === 0 ? 1 : 0);
}
const built = spawnSync("npm run build", { cwd: root, stdio: "inherit", shell: true });
process.exitCode = built.status ?? 1;
// The compiler writes declarations in spite of errors: a failed build must not count as complete.
if (process.exitCode !== 0) rmSync(result, { force: true });

/**
 * The time of the last change of a file, or of anything in a folder, in milliseconds; 0 if missing.
 * @param {string} path
 * @returns {number}
 */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
