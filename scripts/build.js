// @ts-check
// Builds dist/: what the two bins load, and the package's two exports. `npm run build` adds the declarations with tsc.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const dist = join(root, "dist");

/**
 * commander loads node:child_process for subcommands that are programs of their own, of which there are none here;
 * loading it takes two milliseconds of every start.
 * @type {import("esbuild").Plugin}
 */
const withoutChildProcess = {
  name: "commander-without-child-process",
  setup(builder) {
    builder.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes("node_modules/commander/") || importer.includes("node_modules\\commander\\")
        ? { path: "no-child-process", namespace: "nothing" }
        : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({
      contents: "module.exports = {};",
      loader: "js",
    }));
  },
};

const entry = join(root, "src", "cli", "entry.ts");
const importCommand = join(root, "src", "cli", "commands", "import.ts");

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
  write: false,
  // The version is the manifest's, without reading a file at every start.
  define: { __VERSION__: JSON.stringify(manifest.version) },
  plugins: [withoutChildProcess],
  // Large or native, and never needed to answer a command that stays on this machine.
  external: [
    "fastify",
    "@fastify/busboy",
    "sharp",
    "image-size",
    "undici",
    "conf",
    "@inquirer/prompts",
    "libsql",
  ],
};

/** @type {import("esbuild").BuildOptions} */
const inParts = {
  splitting: true,
  chunkNames: "parts/[name]-[hash]",
  minifySyntax: true,
  minifyWhitespace: true,
};

/**
 * esbuild puts a module into one file with those that the same parts of the program need, and every file costs half a
 * millisecond to load. Each part is only ever loaded by the entry, so saying that it needs the entry too brings all that
 * the entry loads into one file instead of a dozen. The same is said of the import command, the one that is used most: a
 * dry run loads six files instead of nineteen, and the other commands share the second one rather than many small ones.
 * @param {ReadonlySet<string>} parts
 * @returns {import("esbuild").Plugin}
 */
const partsNeedTheEntry = (parts) => ({
  name: "parts-need-the-entry",
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = await readFile(path, "utf8");
      const needed = parts.has(path) ? [entry, importCommand].filter((one) => one !== path) : [];
      const imports = needed.map((one) => `import ${JSON.stringify(one)};\n`).join("");
      return { contents: imports + contents, loader: "ts", resolveDir: dirname(path) };
    });
  },
});

/** The program's own modules that are loaded when they are needed. */
async function partsOfProgram() {
  const { metafile } = await build({ ...common, ...inParts, metafile: true, entryPoints: { main: entry } });
  const loads = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  return new Set(
    loads
      .filter(({ kind, external }) => kind === "dynamic-import" && !external)
      .map(({ path }) => join(root, path)),
  );
}

const builds = await Promise.all([
  // One file, so that a call that is handed over loads nothing else.
  build({ ...common, entryPoints: { "hand-over": "src/cli/hand-over.ts" }, minify: true }),
  // What the bins load, and what programs import: apart, so that neither is cut into more files for the other's sake.
  build({
    ...common,
    ...inParts,
    plugins: [withoutChildProcess, partsNeedTheEntry(await partsOfProgram())],
    entryPoints: { main: entry },
  }),
  build({ ...common, ...inParts, entryPoints: { index: "src/index.ts", mock: "src/mock/index.ts" } }),
]);

for (const { path, text } of builds.flatMap((one) => one.outputFiles ?? [])) {
  await mkdir(dirname(path), { recursive: true });
  await put(path, withRequire(text));
}

// Parts carry their content in their name: those of earlier builds would stay for ever.
const made = new Set(builds.flatMap((one) => Object.keys(one.metafile?.outputs ?? {})));
for (const part of await readdir(join(dist, "parts")).catch(() => [])) {
  if (part.endsWith(".js") && !made.has(`dist/parts/${part}`)) await rm(join(dist, "parts", part));
}

// Node looks for the nearest package.json of every module it loads; this one is near.
await put(join(dist, "parts", "package.json"), '{ "type": "module" }\n');

// The bins import built files: their types are the sources' own.
await put(join(dist, "hand-over.d.ts"), 'export * from "./types/cli/hand-over.js";\n');
await put(join(dist, "main.d.ts"), 'export * from "./types/cli/entry.js";\n');

/**
 * Packages written for require() ask for Node's modules that way. Only the parts that hold such code get one: making it
 * takes time in each.
 * @param {string} code
 */
function withRequire(code) {
  if (!code.includes("typeof require")) return code;
  return `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);\n${code}`;
}

/**
 * Writes a file, whole from one moment to the next and only when it changes: a program may be starting meanwhile.
 * @param {string} path
 * @param {string} text
 */
async function put(path, text) {
  if ((await readFile(path, "utf8").catch(() => null)) === text) return;
  const whole = `${path}.${process.pid}`;
  await writeFile(whole, text);
  await rename(whole, path);
}
