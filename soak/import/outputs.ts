import { existsSync, readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Summary } from "../summary.ts";
import type { ImportFault } from "./compare.ts";
import { cellOf } from "./files.ts";
import { countsOf, type RowFate } from "./model.ts";

/** Whether a summary counts the results of the rows. */
export function summaryFaults(summary: Summary, fates: readonly RowFate[]): ImportFault[] {
  return Object.entries(countsOf(fates)).flatMap(([count, want]) =>
    summary[count] === want
      ? []
      : [{ kind: "wrong summary" as const, what: `${count} is ${summary[count]} instead of ${want}` }],
  );
}

/** Whether the failed file has exactly the failed rows, each with the images not attached yet. */
export function failedFileFaults(
  path: string | null,
  fates: readonly RowFate[],
  format: "csv" | "ndjson",
): ImportFault[] {
  const expected = fates
    .filter(({ missing }) => missing.length > 0)
    .map(({ reference, missing }) => `${reference}: ${missing.map(cellOf).join(" ")}`);
  const found = path === null || !existsSync(path) ? [] : failedRows(readFileSync(path, "utf8"), format);
  if (JSON.stringify(expected) === JSON.stringify(found)) return [];
  const odd = [
    ...expected.filter((row) => !found.includes(row)),
    ...found.filter((row) => !expected.includes(row)),
  ];
  const what = `it has ${found.length} rows instead of ${expected.length}, such as ${odd[0] ?? "in another order"}`;
  return [{ kind: "wrong failed file", what }];
}

function failedRows(text: string, format: "csv" | "ndjson"): string[] {
  if (format === "csv") {
    const rows = parse(text, { columns: true }) as Record<string, string>[];
    return rows.map(({ reference, ...cells }) => {
      const images = Object.entries(cells).filter(([name, cell]) => name.startsWith("image_") && cell !== "");
      return `${reference}: ${images.map(([, cell]) => cell).join(" ")}`;
    });
  }
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { reference, images } = JSON.parse(line) as { reference: string; images: Record<string, string>[] };
    return `${reference}: ${images.map(({ url, path }) => url ?? path).join(" ")}`;
  });
}

/** Whether the results file has every row once, in file order. */
export function resultsFileFaults(path: string, fates: readonly RowFate[]): ImportFault[] {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const lines = text.split("\n").filter((line) => line !== "");
  const found = lines.map((line) => (JSON.parse(line) as { reference: string }).reference);
  if (JSON.stringify(found) === JSON.stringify(fates.map(({ reference }) => reference))) return [];
  return [{ kind: "wrong results file", what: `it has ${found.length} rows instead of ${fates.length}` }];
}
