import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A fault put into the program on purpose: the text of a module that is replaced. */
interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Programs that double photos, so that it is seen that the harness sees it. No switch of the program itself makes them. */
export const controls = {
  /** A call of unknown outcome is sent again under a new key. */
  "new-key": {
    file: "src/flows/batches/send-again.ts",
    from: "if (!isKeyAlive(batch, await readClocks(service))) {",
    to: "if (isKeyAlive !== undefined && readClocks !== undefined) {",
  },
  /** Nothing is remembered of what was attached. */
  "no-ledger": {
    file: "src/state/stored-ledger.ts",
    from: "get: (account, reference) => entryOf(get.get(account, toKey(reference))),",
    to: "get: () => null,",
  },
} as const satisfies Record<string, Patch>;
export type Control = keyof typeof controls;

/** A copy of the program, in a folder of its own: others may build anew while it runs. */
export interface ProgramCopy {
  /** The file that Node runs. */
  readonly program: string;
  readonly remove: () => void;
}

/** Copies the program as it is built, or builds it with a fault. */
export async function copyProgram(control: Control | null): Promise<ProgramCopy> {
  // Beneath the packages that it loads.
  const parent = join(root, "node_modules", ".cache", "soak");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "program-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const name of ["bin", "package.json"])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
    if (control !== null) await buildWith(controls[control], join(folder, "dist"));
  } catch (error) {
    remove();
    throw error;
  }
  return { program: join(folder, "bin", "cat.js"), remove };
}

async function buildWith(patch: Patch, outdir: string): Promise<void> {
  let wasPatched = false;
  const plugin: Plugin = {
    name: "put-a-fault-in",
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path !== join(root, patch.file)) return undefined;
        const text = readFileSync(path, "utf8");
        wasPatched = text.includes(patch.from);
        return { contents: text.replace(patch.from, patch.to), loader: "ts", resolveDir: dirname(path) };
      });
    },
  };
  const entry = join(root, "src", "cli", "entry.ts");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const { outputFiles } = await build({
    ...{ absWorkingDir: root, entryPoints: { main: entry }, outdir, plugins: [plugin] },
    ...{ bundle: true, platform: "node", target: "node20", format: "esm", write: false },
    ...{ packages: "external", define: { __VERSION__: JSON.stringify(version) } },
  });
  // Else the control would show that a sound program is sound.
  if (!wasPatched) throw new Error(`${patch.file} has no longer what this control changes: ${patch.from}`);
  for (const { path, text } of outputFiles) writeFileSync(path, text);
}
