import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { importForm } from "../../../src/flows/import/import-form.ts";
import { LocalPhotos } from "../../../src/flows/photos/local-photos.ts";
import { type CheckResult, checkFile } from "../../../src/flows/rows/check.ts";
import type { InputProblem } from "../../../src/flows/rows/problem.ts";
import { normalHeader } from "../../../src/flows/rows/row-form.ts";
import { openSource } from "../../../src/flows/rows/source.ts";
import { seededRandom } from "../../support/seeded-random.ts";

export interface CheckFlags {
  name?: string;
  delimiter?: string;
  encoding?: string;
  map?: Record<string, string>;
  /** Photos next to the file by default. */
  photos?: LocalPhotos;
}

/** Checks a text or bytes like a file of the command, and returns each problem as `LINE param code`. */
export async function check(content: string | Uint8Array, flags: CheckFlags = {}) {
  const { result, problems } = await checkWhole(content, flags);
  return {
    ...result,
    problems: problems.map(({ line, param, code }) =>
      [line, param, code].filter((part) => part !== undefined).join(" "),
    ),
  };
}

/** The same with complete problems. */
export async function checkWhole(
  content: string | Uint8Array,
  flags: CheckFlags = {},
): Promise<{ result: CheckResult; problems: InputProblem[] }> {
  const folder = await mkdtemp(join(tmpdir(), "catalogue-check-"));
  try {
    const file = join(folder, flags.name ?? "rows.csv");
    await writeFile(file, content);
    return await checkPath(file, flags);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Checks an existing file. */
export async function checkPath(file: string, flags: CheckFlags = {}) {
  const source = await openSource(file, { cwd: process.cwd(), stdin: () => Readable.from([]) });
  const map = new Map(
    Object.entries(flags.map ?? {}).map(([column, field]) => [normalHeader(column), field]),
  );
  const problems: InputProblem[] = [];
  const form = importForm(map, flags.photos ?? new LocalPhotos({ root: dirname(file) }));
  const { check: result } = await checkFile(
    { source, read: { delimiter: flags.delimiter, encoding: flags.encoding }, form },
    {
      random: seededRandom(1),
      onProblem: (problem) => void problems.push(problem),
    },
  );
  return { result, problems };
}
