import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "../../src/cli/context/context.ts";
import { bundle, copyProgram, type Patch, parentFolder, projectRoot } from "../program-files.ts";

/** A version of the program: in this process, and as one that is started. */
export interface Program {
  readonly main: (argv: readonly string[], context: Context) => Promise<number>;
  /** Makes the reason of an interrupt, which the version must know. */
  readonly interruptError: new (
    signal: "SIGINT",
  ) => Error;
  /** The file that Node runs. */
  readonly file: string;
  /**
   * Whether it has the mistakes that this soak found: the import with the latest time is the last one, also after a night
   * with a wrong clock; and a stopped mirror in a bucket leaves images under their longer names.
   */
  readonly isEarlier: boolean;
  readonly remove: () => void;
}

/** The version before the last change of the state's tables: an upgrade migrates what it left. */
export const olderCommit = "9d397250";

/** This version, with the faults of a control. */
export async function todaysProgram(patches: readonly Patch[]): Promise<Program> {
  const { program: file, remove } = await copyProgram(patches);
  const parts = await inProcess(projectRoot, patches, join(file, "..", "..", "in-process.mjs"));
  return { ...parts, file, isEarlier: false, remove };
}

/** An earlier version, built from its commit once and kept; null where the repository lacks the commit. */
export async function programOf(commit: string): Promise<Program | null> {
  const folder = join(parentFolder(), `commit-${commit}`);
  if (!existsSync(folder)) {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: projectRoot, maxBuffer: 1 << 30 });
    try {
      git("cat-file", "-e", `${commit}^{commit}`);
    } catch {
      return null;
    }
    const unfinished = `${folder}-${process.pid}`;
    mkdirSync(unfinished);
    try {
      execFileSync("tar", ["-x", "-C", unfinished], { input: git("archive", commit) });
      // Its build looks for packages in its own folder.
      symlinkSync(join(projectRoot, "node_modules"), join(unfinished, "node_modules"));
      execFileSync(process.execPath, ["scripts/build.js"], { cwd: unfinished, stdio: "inherit" });
      renameSync(unfinished, folder);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const parts = await inProcess(folder, [], join(folder, "in-process.mjs"));
  return { ...parts, file: join(folder, "bin", "cat.js"), isEarlier: true, remove: () => {} };
}

/** The program of a folder of sources as one module, below the packages that it loads. */
async function inProcess(root: string, patches: readonly Patch[], file: string) {
  const entry = `export { main } from "./src/cli/main.ts"; export { InterruptError } from "./src/cli/context/errors.ts";`;
  const [output] = await bundle(root, patches, {
    stdin: { contents: entry, resolveDir: root, loader: "ts" },
    outfile: file,
    splitting: false,
  });
  writeFileSync(file, output!.text);
  const { main, InterruptError } = await import(pathToFileURL(file).href);
  return { main, interruptError: InterruptError } as Pick<Program, "main" | "interruptError">;
}
