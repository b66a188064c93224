import { openRows, type RowFile } from "../../rows/open-rows.ts";
import type { SomeRows } from "../../rows/row-set.ts";
import { unchangedRows } from "../../rows/unchanged-rows.ts";
import { generationsOf } from "../columns/generation-form.ts";
import type { RowReading } from "../columns/read-row.ts";
import type { AskedGeneration } from "../generation.ts";
import type { GenerateInput } from "../run/generate-input.ts";

/** What the valid rows of a file ask for, in its order; rows of `refused` have problems. */
export async function readGenerations(
  file: RowFile,
  refused: SomeRows,
  { replacing, ...reading }: RowReading & Pick<GenerateInput, "replacing">,
): Promise<AskedGeneration[]> {
  const asked: AskedGeneration[] = [];
  const reader = await openRows(file);
  let place = 0;
  for await (const rows of unchangedRows(file.source, reader)) {
    for (const { row, line } of rows) {
      if (refused.has(place++)) continue;
      const replaces = replacing.get(line);
      for (const one of generationsOf(row, reading))
        asked.push({ ...one, line, ...(replaces !== undefined && { replaces }) });
    }
  }
  return asked;
}
