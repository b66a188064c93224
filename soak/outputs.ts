import { existsSync, readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Fault } from "./compare.ts";
import { cellOf } from "./files.ts";
import { countsOf, type RowFate } from "./model.ts";

type Summary = Record<string, unknown>;

/** The summary on stdout; undefined where there is none, or half of one. */
export function summaryOf(stdout: string): Summary | undefined {
  try {
    return JSON.parse(stdout) as Summary;
  } catch {
    return undefined;
  }
}

/** Whether a summary counts what became of the rows. */
export function summaryFaults(summary: Summary, fates: readonly RowFate[]): Fault[] {
  return Object.entries(countsOf(fates)).flatMap(([count, want]) =>
    summary[count] === want
      ? []
      : [{ kind: "wrong summary" as const, what: `${count} is ${summary[count]} in place of ${want}` }],
  );
}

/** Whether the failed file has the rows that failed, each with the images that are still to come, and no others. */
export function failedFileFaults(
  path: string | null,
  fates: readonly RowFate[],
  format: "csv" | "ndjson",
): Fault[] {
  const expected = fates
    .filter(({ missing }) => missing.length > 0)
    .map(({ reference, missing }) => `${reference}: ${missing.map(cellOf).join(" ")}`);
  const found = path === null || !existsSync(path) ? [] : failedRows(readFileSync(path, "utf8"), format);
  if (JSON.stringify(expected) === JSON.stringify(found)) return [];
  const odd = [
    ...expected.filter((row) => !found.includes(row)),
    ...found.filter((row) => !expected.includes(row)),
  ];
  const what = `it has ${found.length} rows in place of ${expected.length}, such as ${odd[0] ?? "in another order"}`;
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

/** Whether the results file tells of every row once, in the order of the file. */
export function resultsFileFaults(path: string, fates: readonly RowFate[]): Fault[] {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const lines = text.split("\n").filter((line) => line !== "");
  const found = lines.map((line) => (JSON.parse(line) as { reference: string }).reference);
  if (JSON.stringify(found) === JSON.stringify(fates.map(({ reference }) => reference))) return [];
  return [
    { kind: "wrong results file", what: `it tells of ${found.length} rows in place of ${fates.length}` },
  ];
}
