import { CatError } from "../../errors.ts";

/** A check of what the user typed; throws or rejects with a CatError if it finds a problem. */
export type Check = () => unknown;

/**
 * Runs all checks, one after the other, and throws one error with every problem that they found: the only one unchanged,
 * several as one of type `usage` if one of them is.
 */
export async function throwAllProblems(checks: readonly Check[]): Promise<void> {
  const found: CatError[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof CatError)) throw error;
      found.push(error);
    }
  }
  const [only, ...others] = found;
  if (only === undefined) return;
  if (others.length === 0) throw only;
  const { type, code, param } = found.find((one) => one.type === "usage") ?? only;
  const hint = "Nothing was sent. Fix them all and run the command again.";
  throw new CatError(found.map(({ message }) => message).join("; "), { type, code, param, hint });
}
