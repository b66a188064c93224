import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

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

/** Copies the built program, or builds it with changes. */
export async function copyProgram(patches: readonly Patch[]): Promise<ProgramCopy> {
  // Below the packages that it loads.
  const parent = join(root, "node_modules", ".cache", "soak");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "program-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const name of ["bin", "package.json"])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
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
  const entry = join(root, "src", "cli", "main.ts");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const { outputFiles } = await build({
    ...{
      absWorkingDir: root,
      entryPoints: { main: entry },
      outdir: join(folder, "dist", "patched"),
      plugins: [plugin],
    },
    outExtension: { ".js": ".mjs" },
    ...{ bundle: true, platform: "node", target: "node20", format: "esm", write: false },
    ...{ packages: "external", define: { __VERSION__: JSON.stringify(version) } },
  });
  // Otherwise a control would test the unchanged program.
  for (const { file, from } of missing)
    throw new Error(`${file} no longer contains the text that is replaced: ${from}`);
  mkdirSync(join(folder, "dist", "patched"));
  for (const { path, text } of outputFiles) writeFileSync(path, text);
  writeFileSync(join(folder, "bin", "cat.js"), patchedBin);
}
