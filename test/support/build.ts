import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The reason dist/ could not be built; empty if it was. */
    buildProblem: string;
  }
}

/** Builds dist/ once before all tests. Only the tests that need it report a failure. */
export default async function buildOnce(project: TestProject): Promise<void> {
  const script = fileURLToPath(new URL("../../scripts/build.js", import.meta.url));
  const problem = await promisify(execFile)(process.execPath, [script]).then(
    () => "",
    (error: Error) => error.message,
  );
  project.provide("buildProblem", problem);
}
