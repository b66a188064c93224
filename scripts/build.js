// @ts-check
// Builds dist/: what the two bins load, and the package's two exports. `npm run build` adds the declarations with tsc.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const dist = join(root, "dist");

/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  outdir: "dist",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  // The version is the manifest's, without reading a file at every start.
  define: { __VERSION__: JSON.stringify(manifest.version) },
  // Large or native, and never needed to answer a command that stays on this machine.
  external: ["fastify", "@fastify/busboy", "sharp", "image-size", "undici", "conf"],
};

const builds = await Promise.all([
  // One file, so that a call that is handed over loads nothing else.
  build({ ...common, entryPoints: { "hand-over": "src/cli/hand-over.ts" }, minify: true }),
  build({
    ...common,
    entryPoints: { main: "src/cli/entry.ts", index: "src/index.ts", mock: "src/mock/index.ts" },
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    // Packages written for require() ask for Node's modules that way.
    banner: { js: requireBanner() },
  }),
]);

// Parts carry their content in their name: those of earlier builds would stay for ever.
const made = new Set(builds.flatMap((one) => Object.keys(one.metafile?.outputs ?? {})));
for (const part of await readdir(join(dist, "parts")).catch(() => [])) {
  if (!made.has(`dist/parts/${part}`)) await rm(join(dist, "parts", part));
}

// The bins import built files: their types are the sources' own.
await writeFile(join(dist, "hand-over.d.ts"), 'export * from "./types/cli/hand-over.js";\n');
await writeFile(join(dist, "main.d.ts"), 'export * from "./types/cli/entry.js";\n');

function requireBanner() {
  return 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
}
