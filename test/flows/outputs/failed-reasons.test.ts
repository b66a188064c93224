import { expect, test } from "vitest";
import { FailedCsvRows } from "../../../src/flows/outputs/failed-rows.ts";
import type { InputRow } from "../../../src/flows/rows/row-form.ts";
import type { TableReader } from "../../../src/flows/rows/table-rows.ts";

test("the reasons in a failed file are guarded, and the user's own cells stay as they are", () => {
  const reader = { header: ["reference", "name"] } as unknown as TableReader;
  const kept = { columns: [0, 1], headers: ["reference", "name"] };
  const rows = new FailedCsvRows(reader, kept, { delimiter: ",", isDeclared: false }, "\n");
  const failure = { code: "=cmd|x", message: 'first;=HYPERLINK("https://a.example")' };
  const row = (record: readonly string[]) => rows.row({ record } as unknown as InputRow, new Set(), failure);
  expect(row(["=A-1", "-2+3"])).toBe(`=A-1,-2+3,'=cmd|x,"first;'=HYPERLINK(""https://a.example"")"\n`);
  // A row with too many cells, which comes back with its earlier reasons, gets them once.
  expect(row(["=A-1", "-2+3", "x", "'=cmd|x", "earlier"])).toBe(
    `=A-1,-2+3,x,'=cmd|x,"first;'=HYPERLINK(""https://a.example"")"\n`,
  );
});
