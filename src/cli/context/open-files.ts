import { CatError, outOfFiles } from "../../errors.ts";
import type { Context } from "./context.ts";
import { withHint } from "./errors.ts";

/** Files that are open while any command runs, and for each request at once: connections are files, too. */
const needed = { always: 40, perRequest: 3 };
/** Commands without `--concurrency` send up to 8 requests at once. */
const usualConcurrency = 8;

/** Rejects too many open files (exit 2) before they end the process: native code aborts. Throws CatError. */
export function rejectFewOpenFiles(
  { openFileLimit }: Pick<Context, "openFileLimit">,
  concurrency: unknown,
): void {
  const atOnce = typeof concurrency === "number" ? Math.max(concurrency, usualConcurrency) : usualConcurrency;
  const least = needed.always + needed.perRequest * atOnce;
  const limit = openFileLimit?.() ?? Number.POSITIVE_INFINITY;
  if (limit >= least) return;
  throw new CatError(`the limit of open files is ${limit}, but this command needs ${least}`, {
    type: "file",
    code: "few_open_files",
    hint: `Raise it, for example: ulimit -n 1024${atOnce > usualConcurrency ? ". Or lower --concurrency." : ""}`,
  });
}

/** Adds the limit of open files to such an error; returns any other unchanged. */
export function withOpenFileLimit(
  error: unknown,
  { openFileLimit }: Pick<Context, "openFileLimit">,
): unknown {
  if (!(error instanceof CatError) || outOfFiles(error, "")?.code !== "EMFILE") return error;
  const limit = openFileLimit?.() ?? null;
  if (limit === null) return error;
  return withHint(
    error,
    `This process may open ${limit} files. Raise the limit, for example with ulimit -n 1024, and run the command again.`,
  );
}
