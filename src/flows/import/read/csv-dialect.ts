import { type ColumnMap, columnOf, normalHeader } from "./csv-columns.ts";

/** What separates the cells of a CSV file, and how many lines stand before its header. */
export interface Dialect {
  delimiter: string;
  /** 1 when the file begins with a `sep=` line, as spreadsheets write it; else 0. */
  linesBeforeHeader: number;
}

const candidates = [",", ";", "\t", "|"] as const;

/** How many bytes of a file's head are looked at. */
export const dialectBytes = 64 * 1024;

/** Tells a file's delimiter from its head: a `sep=` line says it, else the one that gives the most known columns. */
export function recogniseDialect(head: string, given: string | undefined, map: ColumnMap): Dialect {
  // Some write it in quotes, as any other cell that holds the delimiter.
  const declared = /^(?:sep=([^\r\n])|"sep=([^\r\n"])")(?:\r\n|\n|\r|$)/i.exec(head);
  if (declared !== null) return { delimiter: given ?? declared[1] ?? declared[2]!, linesBeforeHeader: 1 };
  return { delimiter: given ?? likeliest(headerLine(head), map), linesBeforeHeader: 0 };
}

function headerLine(head: string): string {
  const firstText = head.replace(/^[\r\n]+/, "");
  return /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(firstText)?.[0] ?? firstText;
}

function likeliest(header: string, map: ColumnMap): string {
  let best = { delimiter: ",", known: -1, cells: 0 };
  for (const delimiter of candidates) {
    const cells = header.split(delimiter).map((cell) => cell.replace(/^\s*"|"\s*$/g, ""));
    const known = cells.filter(
      (cell) => columnOf(map.get(normalHeader(cell)) ?? cell).kind !== "unknown",
    ).length;
    if (known > best.known || (known === best.known && cells.length > best.cells)) {
      best = { delimiter, known, cells: cells.length };
    }
  }
  return best.delimiter;
}
