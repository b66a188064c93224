import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generationForm, readGenerations } from "../../../src/flows/generate/columns/generation-form.ts";
import { checkFile } from "../../../src/flows/rows/check.ts";
import { noMapping } from "../../../src/flows/rows/mapped-columns.ts";
import { RowSet } from "../../../src/flows/rows/row-sets.ts";
import { openSource } from "../../../src/flows/rows/source.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a file that is removed after its check is reported as removed", async () => {
  const cwd = temporaryFolder();
  const path = join(cwd, "looks.csv");
  writeFileSync(path, "product_reference,model_id,background,angle_shot\nA,Mia,studio,full-front\n");
  const reading = { kind: "tryon", matrix: false, replacing: new Map<number, string>() } as const;
  const form = generationForm({ ...reading, ...noMapping, allowDuplicates: false });
  const file = { source: await openSource("looks.csv", { cwd, stdin: () => process.stdin }), read: {}, form };
  await checkFile(file, { random: Math.random, onProblem: () => {} });
  expect(await readGenerations(file, new RowSet(), reading)).toMatchObject({
    asked: [expect.objectContaining({ line: 2, model: "Mia" })],
    isExpanded: false,
  });
  rmSync(path);
  await expect(readGenerations(file, new RowSet(), reading)).rejects.toMatchObject({
    code: "file_changed",
    message: "looks.csv was removed during the run; the remaining rows were not sent",
  });
});
