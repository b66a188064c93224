import { fileURLToPath } from "node:url";
import { execa, type Options, type Result } from "execa";
import { inject } from "vitest";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The two programs, as npm would link them. */
export const catProgram = at("bin/cat.js");
export const catalogueProgram = at("bin/catalogue.js");

/** Throws the build error if the program is not built. */
export function needsBuild(): void {
  const problem = inject("buildProblem");
  if (problem !== "") throw new Error(`dist/ could not be built: ${problem}`);
}

/** Runs the real `cat` in its own process, with only PATH and the given variables in its environment. */
export async function spawnCat(
  args: readonly string[],
  options: Options & { env?: Record<string, string> } = {},
): Promise<Result & { exitCode?: number; stdout: string; stderr: string }> {
  needsBuild();
  const { env, ...rest } = options;
  return (await execa(process.execPath, [catProgram, ...args], {
    reject: false,
    stripFinalNewline: false,
    extendEnv: false,
    env: { PATH: process.env.PATH ?? "", ...env },
    input: "",
    ...rest,
  })) as never;
}
