import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";

export const projectRoot = fileURLToPath(new URL("..", import.meta.url));

/** A change to the program, such as a fault added on purpose: a replaced text of a module. */
export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A copy of the program in its own folder: others may build again while it runs. */
export interface ProgramCopy {
  /** The file that Node runs. */
  readonly program: string;
  readonly remove: () => void;
}

/** The folder of programs, below the packages that they load. */
export function parentFolder(): string {
  const parent = join(projectRoot, "node_modules", ".cache", "soak");
  mkdirSync(parent, { recursive: true });
  return parent;
}

/** Copies the built program, or builds it with changes. */
export async function copyProgram(patches: readonly Patch[]): Promise<ProgramCopy> {
  const folder = mkdtempSync(join(parentFolder(), "program-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const name of ["bin", "package.json"])
      cpSync(join(projectRoot, name), join(folder, name), { recursive: true });
    cpSync(join(projectRoot, "dist"), join(folder, "dist"), { recursive: true });
    if (patches.length > 0) await buildWith(patches, folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { program: join(folder, "bin", "cat.js"), remove };
}

/** Runs the program from one ES module: only the parts of a whole build are loaded as scripts. */
const patchedBin = `#!/usr/bin/env node
import("../dist/patched/main.mjs").then(async ({ main, nodeContext }) => {
  // As exitAsTold does: Node's own end would no longer handle the signals that still come.
  process.on("exit", () => process.exit());
  process.exitCode = await main(process.argv.slice(2), nodeContext("cat"));
});
`;

async function buildWith(patches: readonly Patch[], folder: string): Promise<void> {
  const outputFiles = await bundle(projectRoot, patches, {
    entryPoints: { main: join(projectRoot, "src", "cli", "main.ts") },
    outdir: join(folder, "dist", "patched"),
    outExtension: { ".js": ".mjs" },
  });
  mkdirSync(join(folder, "dist", "patched"));
  for (const { path, text } of outputFiles) writeFileSync(path, text);
  writeFileSync(join(folder, "bin", "cat.js"), patchedBin);
}

/** Bundles modules below a folder of sources, with changes, as ES modules that load their packages. */
export async function bundle(root: string, patches: readonly Patch[], options: BuildOptions) {
  const missing = new Set(patches);
  const plugin: Plugin = {
    name: "patch-modules",
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const own = patches.filter(({ file }) => path === join(root, file));
        if (own.length === 0) return undefined;
        let text = readFileSync(path, "utf8");
        for (const patch of own) {
          if (text.includes(patch.from)) missing.delete(patch);
          text = text.replace(patch.from, patch.to);
        }
        return { contents: text, loader: "ts", resolveDir: dirname(path) };
      });
    },
  };
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const { outputFiles } = await build({
    ...{ ...options, absWorkingDir: root, plugins: [plugin], write: false },
    ...{ bundle: true, platform: "node", target: "node20", format: "esm" },
    ...{ packages: "external", define: { __VERSION__: JSON.stringify(version) } },
  });
  // Otherwise a control would test the unchanged program.
  for (const { file, from } of missing)
    throw new Error(`${file} no longer contains the text that is replaced: ${from}`);
  return outputFiles;
}
