import type { Problem } from "./problem.ts";

/** The problem of a header without a column that every row needs. */
export const missingColumn = (
  line: number,
  param: string,
  message = `missing column "${param}" (required)`,
): Problem => ({ line, param, code: "missing_column", message });
