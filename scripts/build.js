// @ts-check
// Builds dist/: the files that the two bins load, and the package's two exports. `npm run build` adds the
// declarations with tsc.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { billOfMaterials, bundledPackages, licensesOf } from "./bundled-packages.js";
import { bundlePage } from "./mock-page.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const dist = join(root, "dist");
/** The program that the bins run. */
const program = join(dist, "program");

/**
 * commander loads node:child_process for subcommands in separate programs, which are not used here. Loading it would
 * take 2 ms of every start.
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

/**
 * Code of undici that is not used here: HTTP/2 and bodies of fetch. HTTP/2 would load node:http2, which takes 10 ms of the
 * first request.
 * @type {import("esbuild").Plugin}
 */
const withoutUnused = {
  name: "packages-without-unused-code",
  setup(builder) {
    const unused = ["undici/lib/dispatcher/client-h2", "undici/lib/web/fetch/body"];
    const paths = unused.map((path) => path.replaceAll("/", "[\\\\/]")).join("|");
    builder.onLoad({ filter: new RegExp(`[\\\\/]node_modules[\\\\/](${paths})\\.js$`) }, () => ({
      contents: 'module.exports = () => { throw new Error("not part of this program"); };',
      loader: "js",
    }));
  },
};

/**
 * undici loads node:http for the limit of a head, which Node sets to 16 KB unless told otherwise, and for bodies that are
 * responses of that module. It takes 4 ms of the first request.
 * @type {import("esbuild").Plugin}
 */
const withoutHttp = {
  name: "undici-without-http",
  setup(builder) {
    builder.onResolve({ filter: /^node:http$/ }, ({ importer }) =>
      /[\\/]node_modules[\\/]undici[\\/]/.test(importer) ? { path: "limits", namespace: "http" } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: "http" }, () => ({
      contents: `const options = [...process.execArgv, process.env.NODE_OPTIONS].join();
        module.exports = options.includes("max-http-header-size")
          ? require("node:http")
          : { maxHeaderSize: 16 * 1024, IncomingMessage: class {} };`,
      loader: "js",
    }));
  },
};

/**
 * A file of sixel assigns to a variable that it does not declare, which ES modules and other strict code may not.
 * @type {import("esbuild").Plugin}
 */
const withDeclaredVariable = {
  name: "sixel-with-declared-variable",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]node_modules[\\/]sixel[\\/]upng\.js$/ }, async ({ path }) => ({
      contents: `var UPNG;${await readFile(path, "utf8")}`,
      loader: "js",
    }));
  },
};

/**
 * The files of undici's classes. Its index loads all of undici, three times as much as the program uses.
 * @type {Record<string, string>}
 */
const undiciFiles = {
  Agent: "lib/dispatcher/agent.js",
  Pool: "lib/dispatcher/pool.js",
  ProxyAgent: "lib/dispatcher/proxy-agent.js",
};

/**
 * Gives each module that imports `undici` only the classes that it names. The index also adds `connect` to all
 * dispatchers, which proxies need.
 * @type {import("esbuild").Plugin}
 */
const undiciByName = {
  name: "undici-by-name",
  setup(builder) {
    builder.onResolve({ filter: /^undici$/ }, ({ importer }) => ({
      // esbuild writes it to the built files, which must not depend on the folder of the project.
      path: relative(root, importer),
      namespace: "undici",
    }));
    builder.onLoad({ filter: /.*/, namespace: "undici" }, async ({ path }) => {
      const imports =
        /import \{([^}]*)\} from "undici"/.exec(await readFile(join(root, path), "utf8"))?.[1] ?? "";
      const names = imports.split(",").filter((name) => !/^\s*(type |$)/.test(name));
      const lines = names.map((name) => {
        const file = undiciFiles[name.trim()];
        if (file === undefined) throw new Error(`add ${name} of undici to scripts/build.js`);
        return `export { default as ${name} } from "./${file}";`;
      });
      if (imports.includes("ProxyAgent")) {
        lines.push('import Dispatcher from "./lib/dispatcher/dispatcher.js";');
        lines.push(
          'import connect from "./lib/api/api-connect.js";',
          "Dispatcher.prototype.connect = connect;",
        );
      }
      return { contents: lines.join("\n"), resolveDir: join(root, "node_modules", "undici") };
    });
  },
};

/**
 * The gallery's page is files of its own in the sources, so that editors and checks know them; the program carries their texts.
 * @type {import("esbuild").Plugin}
 */
const withPageTexts = {
  name: "texts-of-the-gallery-page",
  setup(builder) {
    builder.onLoad({ filter: /gallery[\\/]page-files\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const folder = join(dirname(path), "page");
      // The order of the source: each script comes after those that it imports.
      const names = [...source.matchAll(/^ {2}"([\w.-]+)",$/gm)].map((match) => match[1] ?? "");
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
      const files = Object.fromEntries(names.map((name, at) => [name, texts[at]]));
      return { contents: `export const pageFiles = ${JSON.stringify(files)};`, loader: "js" };
    });
  },
};

/**
 * What clients know of the operations is computed from the schemas of the contract, which take 10 ms of every start: built
 * files carry the result as JSON.
 * @type {import("esbuild").Plugin}
 */
const withOperationsAsData = {
  name: "operations-as-data",
  setup(builder) {
    builder.onLoad({ filter: /contract[\\/]client-operations\.ts$/ }, async ({ path }) => {
      const made = await build({
        entryPoints: [path],
        bundle: true,
        platform: "node",
        format: "esm",
        write: false,
      });
      const text = Buffer.from(made.outputFiles[0]?.contents ?? []).toString("base64");
      const values = await import(`data:text/javascript;base64,${text}`);
      const lines = Object.entries(values).map(
        ([name, value]) =>
          `export const ${name} = /* @__PURE__ */ JSON.parse(${JSON.stringify(JSON.stringify(value))});`,
      );
      return { contents: lines.join("\n"), loader: "js" };
    });
  },
};

/**
 * The client for runtimes at the edge sends with the global fetch: it has no undici, which needs sockets and is most of a client.
 * @type {import("esbuild").Plugin}
 */
const withGlobalFetch = {
  name: "connections-of-fetch",
  setup(builder) {
    builder.onLoad({ filter: /http[\\/]connections\.ts$/ }, ({ path }) => ({
      contents: 'export { edgeConnections as openConnections } from "./edge-connections.ts";',
      loader: "ts",
      resolveDir: dirname(path),
    }));
  },
};

const mockPage = await bundlePage();

/**
 * The page of the mock is bundled for a browser; the mock carries its text.
 * @type {import("esbuild").Plugin}
 */
const withMockPage = {
  name: "text-of-the-mock-page",
  setup(builder) {
    builder.onLoad({ filter: /mock-page[\\/]page-text\.ts$/ }, () => ({
      contents: `export const pageText = async () => (${JSON.stringify(mockPage.page)});`,
      loader: "js",
    }));
  },
};

const entry = join(root, "src", "cli", "main.ts");
const importCommand = join(root, "src", "cli", "commands", "import", "import.ts");
const neededForLists = [
  join(root, "src", "client", "client.ts"),
  join(root, "src", "cli", "resources", "list-resource.ts"),
  join(root, "src", "cli", "resources", "forms.ts"),
  join(root, "src", "cli", "settings", "settings.ts"),
];

/** Small modules of which a part loads all or none: each group is one file, instead of one for each set of its users. */
const together = [
  [
    "client/base-url.ts",
    "cli/flags/print-flags.ts",
    "cli/resources/forms.ts",
    "cli/settings/profiles.ts",
    "cli/settings/settings.ts",
  ],
  [
    "cli/app/send-once.ts",
    "cli/commands/find-product.ts",
    "client/api-error.ts",
    "flows/service-errors.ts",
    "http/errors.ts",
    "http/exchange-log.ts",
    "http/network-failure.ts",
    "http/outside-exchange.ts",
    "http/response-stream.ts",
    "http/time-limits.ts",
  ],
].map((names) => names.map((name) => join("src", name)));

const plugins = [
  withoutChildProcess,
  withoutUnused,
  withDeclaredVariable,
  undiciByName,
  withPageTexts,
  withMockPage,
  withOperationsAsData,
];

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
  // The version is inlined from the manifest, to avoid reading a file at every start.
  define: {
    __VERSION__: JSON.stringify(manifest.version),
    // The SDK for buckets warns about the oldest Node that works.
    "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": '"true"',
  },
  plugins,
  // Native packages, which users install for their system.
  external: ["sharp", "libsql"],
};

/** @type {import("esbuild").BuildOptions} */
const inParts = {
  outdir: "dist/program",
  splitting: true,
  chunkNames: "parts/[name]-[hash]",
  minifySyntax: true,
  minifyWhitespace: true,
};

/** @type {import("esbuild").BuildOptions} */
const exported = {
  entryPoints: { index: "src/index.ts", mock: "src/mock/index.ts", webhooks: "src/webhooks.ts" },
  sourcemap: "linked",
};

/**
 * esbuild merges modules needed by the same parts of the program into one file, and every file costs 0.5 ms to load.
 * Each part is only ever loaded by the entry. Declaring that it needs the entry merges everything the entry loads into
 * one file instead of a dozen. The same applies to the parts that use the service: declaring that each needs what lists
 * need makes that one file. The other parts declare the import command, the most used one: a dry run loads six files
 * instead of nineteen.
 * @param {{ all: ReadonlyMap<string, readonly string[]>, using: ReadonlySet<string> }} parts `all`: with what each needs besides
 * @returns {import("esbuild").Plugin}
 */
const partsNeedTheEntry = ({ all, using }) => ({
  name: "parts-need-the-entry",
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = await readFile(path, "utf8");
      const shared = using.has(path) ? neededForLists : [importCommand];
      const own = all.get(path);
      const needed = own === undefined ? [] : [entry, ...shared, ...own].filter((one) => one !== path);
      const imports = needed.map((one) => `import ${JSON.stringify(one)};\n`).join("");
      return { contents: imports + contents, loader: "ts", resolveDir: dirname(path) };
    });
  },
});

/**
 * Modules of this program that are loaded on demand, and only on demand: one that the entry needs anyway would make the
 * entry load the import command. Those of `using` need the operations of the service.
 */
async function partsOfProgram() {
  const { metafile } = await build({ ...common, ...inParts, metafile: true, entryPoints: { main: entry } });
  const loads = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  /** @param {string} from */
  const loadedWith = (from) => {
    const found = new Set([from]);
    for (const path of found) {
      for (const one of metafile.inputs[path]?.imports ?? [])
        if (one.kind !== "dynamic-import" && !one.external) found.add(one.path);
    }
    return found;
  };
  const always = loadedWith(relative(root, entry));
  const parts = loads
    .filter(({ kind, external, path }) => kind === "dynamic-import" && !external && !always.has(path))
    .map(({ path }) => path);
  /** @param {string} path */
  const isOfService = (path) =>
    ["client-operations", "operations"].some((name) => loadedWith(path).has(`src/contract/${name}.ts`));
  const using = parts.filter(isOfService);
  /** @param {string} part */
  const groupsOf = (part) => {
    const loaded = loadedWith(part);
    return together.filter((group) => group.some((one) => loaded.has(one))).flat();
  };
  /** @param {string} path */
  const full = (path) => join(root, path);
  return {
    all: new Map(parts.map((part) => [full(part), groupsOf(part).map(full)])),
    using: new Set(using.map(full)),
  };
}

const builds = await Promise.all([
  // One file, so that handing over to the system's cat loads nothing else.
  build({
    ...common,
    outdir: "dist/program",
    entryPoints: { "hand-over": "src/cli/hand-over.ts" },
    minify: true,
  }),
  // Shell completion runs at each Tab, so it must not load the program.
  build({
    ...common,
    ...inParts,
    chunkNames: "parts/complete-[name]-[hash]",
    entryPoints: { complete: "src/cli/completion/complete.ts" },
  }),
  // The bins and the package's exports are built separately: together, each would be split into more files.
  build({
    ...common,
    ...inParts,
    plugins: [...plugins, withoutHttp, partsNeedTheEntry(await partsOfProgram())],
    entryPoints: { main: entry },
  }),
  // Readable, for debuggers and stack traces. CommonJS projects get files of their own: Jest cannot load ES modules.
  build({ ...common, ...exported, splitting: true, chunkNames: "lib/[name]-[hash]" }),
  build({
    ...common,
    ...exported,
    plugins: [...plugins, withGlobalFetch],
    entryPoints: { edge: "src/index.ts" },
  }),
  build({
    ...common,
    ...exported,
    format: "cjs",
    outdir: "dist/cjs",
    supported: { "dynamic-import": false },
  }),
]);

for (const { path, text } of builds.flatMap((one) => one.outputFiles ?? [])) {
  await mkdir(dirname(path), { recursive: true });
  if (path.startsWith(program)) await put(path, await toCommonJs(path, text));
  else if (path.endsWith(".map")) await put(path, withOwnSources(text));
  else await put(path, path.startsWith(join(dist, "cjs")) ? text : withRequire(text));
}

const { packages: locked } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
const bundled = await bundledPackages(root, [...builds, mockPage]);
await put(join(dist, "licenses.txt"), await licensesOf(root, bundled));
await put(join(dist, "sbom.cdx.json"), billOfMaterials(manifest, bundled, locked));

// Part names contain a hash of their content: files of earlier builds would accumulate.
const made = new Set(builds.flatMap((one) => Object.keys(one.metafile?.outputs ?? {})));
for (const folder of ["program/parts", "lib"]) {
  for (const part of await readdir(join(dist, folder)).catch(() => [])) {
    if (/\.js(\.map)?$/.test(part) && !made.has(`dist/${folder}/${part}`)) await rm(join(dist, folder, part));
  }
}

// As the names of the files say, the nearest package.json says what their modules are.
for (const folder of ["program", "cjs"])
  await put(join(dist, folder, "package.json"), '{ "type": "commonjs" }\n');

// The bins load built files, with the types of the sources.
await put(join(program, "hand-over.d.ts"), 'export * from "../types/cli/hand-over.js";\n');
await put(join(program, "complete.d.ts"), 'export * from "../types/cli/completion/complete.js";\n');

// Completion reads the commands from a file, and the top help is printed from one: loading the program takes longer.
const { main, nodeContext } = createRequire(import.meta.url)(join(program, "main.js"));
await put(join(program, "commands.json"), wordsOf(await printedBy("commands", "--json")));
await put(join(program, "help.txt"), await printedBy("--help"));

/**
 * The list of commands without what completion does not need: it is parsed at each Tab.
 * @param {string} list
 */
function wordsOf(list) {
  const unneeded = new Set(["about", "examples", "output", "errors"]);
  return `${JSON.stringify(JSON.parse(list, (key, value) => (unneeded.has(key) ? undefined : value)))}\n`;
}

/**
 * What a command of the built program prints without a terminal.
 * @param {...string} args
 */
async function printedBy(...args) {
  /** @type {string[]} */
  const printed = [];
  const stdout = {
    isTTY: false,
    columns: 80,
    raw: process.stdout,
    /** @param {string | Uint8Array} text */
    write: (text) => void printed.push(String(text)),
  };
  const context = Object.create(nodeContext("cat"), { stdout: { value: stdout }, env: { value: {} } });
  if ((await main(args, context)) !== 0) throw new Error(`cannot run cat ${args.join(" ")}`);
  return printed.join("");
}

/**
 * A source map without the texts of other packages, which are most of its size.
 * @param {string} map
 */
function withOwnSources(map) {
  const { sources, sourcesContent, ...others } = JSON.parse(map);
  /** @param {string | null} text @param {number} at */
  const own = (text, at) => (sources[at].includes("node_modules/") ? null : text);
  return JSON.stringify({ ...others, sources, sourcesContent: sourcesContent.map(own) });
}

/**
 * Completion is too short to gain from the loader.
 * @param {string} path
 */
function isLoadedByNode(path) {
  return /[\\/](?:hand-over|complete(?:-[\w-]+)?)\.js$/.test(path);
}

/**
 * The files, packages and modules of Node that a built file imports on demand.
 * @param {string} path
 */
function importedOnDemand(path) {
  const outputs = builds.flatMap((one) => one.metafile?.outputs[relative(root, path)] ?? []);
  const imports = outputs.flatMap((one) => one.imports.filter(({ kind }) => kind === "dynamic-import"));
  return new Set(imports.map((one) => one.path));
}

/**
 * A file of the program as CommonJS, for src/cli/program-loader.ts: its `__import` imports packages, of which some are ES modules;
 * all else loads without Node's loader of ES modules. esbuild splits no other format than ES modules.
 * @param {string} path
 * @param {string} code
 */
async function toCommonJs(path, code) {
  const { code: common } = await transform(code, {
    format: "cjs",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    define: { "import.meta.url": "__url" },
  });
  // Nothing else: texts also contain imports, such as the scripts of the gallery's page.
  const imported = importedOnDemand(path);
  const required = common.replace(/\bimport\("([^"]+)"\)/g, (text, name) => {
    if (!imported.has(name.startsWith(".") ? relative(root, join(dirname(path), name)) : name)) return text;
    if (/^(?:\.|node:)/.test(name)) return `Promise.resolve().then(()=>require(${JSON.stringify(name)}))`;
    return `${isLoadedByNode(path) ? "import" : "__import"}(${JSON.stringify(name)})`;
  });
  // A copy of the exports would be read through getters that share their code, which V8 cannot optimize.
  const exporting = /module\.exports=__toCommonJS\((\w+)\);/;
  const direct = required.replace(exporting, "module.exports=$1;");
  // ES modules are strict, and CommonJS is not.
  // Where it is needed: making it takes half a millisecond.
  const url = 'require("node:url").pathToFileURL(__filename).href';
  return `"use strict";${direct.replace(/\b__url\b/g, url)}`;
}

/**
 * Adds `require` to parts with CommonJS packages, which load Node's modules that way and no others. It needs no URL, which a
 * bundle of a user's in CommonJS does not have.
 * @param {string} code
 */
function withRequire(code) {
  if (!code.includes("typeof require")) return code;
  return `const require = process.getBuiltinModule;\n${code}`;
}

/**
 * Replaces a file atomically, and only if it changes, because a program may be starting meanwhile.
 * @param {string} path
 * @param {string} text
 */
async function put(path, text) {
  if ((await readFile(path, "utf8").catch(() => null)) === text) return;
  const whole = `${path}.${process.pid}`;
  await writeFile(whole, text);
  await rename(whole, path);
}
