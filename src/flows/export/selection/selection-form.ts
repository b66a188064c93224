import { ulidPattern } from "../../../contract/limits.ts";
import { normalHeader } from "../../rows/header.ts";
import type { Problem } from "../../rows/problem.ts";
import type { FieldProblem, RowColumns, RowForm } from "../../rows/row-form.ts";
import type { WantedProduct } from "./selection.ts";

/** The columns that name a product, the first filled one of a row decides. */
export const selectionColumns = ["product_id", "id", "reference"] as const;

type Cells = Partial<Record<(typeof selectionColumns)[number], unknown>>;

/** The rows of a file of `--products-from` with a header, or of objects: other columns are ignored. */
export const selectionForm: RowForm = {
  isColumn: (header) => isSelectionColumn(normalHeader(header)),
  columns(header, line, report) {
    for (const name of selectionColumns)
      if (header.filter((cell) => normalHeader(cell) === name).length > 1) report(duplicate(name, line));
    return columnsOf(header);
  },
  fromObject: (object) => productOf(object),
  problems: (row) =>
    isRow(row) ? problemsOf(row) : [{ code: "invalid_row", message: "a row must be a JSON object" }],
  referenceOf: (row) => (isRow(row) ? nameIn(row)?.name : undefined),
  withoutDone: (object) => object,
};

const duplicate = (name: string, line: number): Problem => ({
  line,
  param: name,
  code: "duplicate_header",
  message: `duplicate column "${name}": rename or remove one of them`,
});

/** The product that a row names; null if it names none. */
export function nameIn(row: Cells): Omit<WantedProduct, "line"> | null {
  for (const column of selectionColumns) {
    const name = textOf(row[column]);
    if (name !== "") return { name, as: column === "reference" ? "reference" : "id" };
  }
  return null;
}

/** Any JSON value may be on a line of NDJSON. */
const isRow = (row: unknown): row is Cells => typeof row === "object" && row !== null && !Array.isArray(row);

const isSelectionColumn = (name: string): name is (typeof selectionColumns)[number] =>
  (selectionColumns as readonly string[]).includes(name);

const textOf = (cell: unknown): string => (typeof cell === "string" ? cell.trim() : "");

/** The product of a line of NDJSON: also that of a line of an export. */
function productOf(object: Record<string, unknown>): Cells {
  const { product } = object;
  return typeof product === "object" && product !== null ? (product as Cells) : object;
}

function problemsOf(row: Cells): readonly FieldProblem[] {
  const named = nameIn(row);
  if (named === null) {
    const message = "names no product: fill in the ID or the reference, or remove the row";
    return [{ code: "invalid_row", message }];
  }
  if (named.as !== "id" || ulidPattern.test(named.name)) return [];
  const message = `${JSON.stringify(named.name)} is not a product ID: for your own product codes, name the column reference`;
  return [
    { param: selectionColumns.find((column) => textOf(row[column]) !== ""), code: "invalid_row", message },
  ];
}

function columnsOf(header: readonly string[]): RowColumns {
  const names = header.map((cell) => {
    const name = normalHeader(cell);
    return isSelectionColumn(name) ? name : null;
  });
  return {
    names,
    referenceColumn: names.findIndex((name) => name !== null),
    toRow(record) {
      const row: Cells = {};
      for (const [at, name] of names.entries()) if (name !== null) row[name] ??= record[at];
      return row;
    },
    strayCell: () => null,
    cellProblems: () => [],
    columnOfPath: (path) => {
      const at = names.indexOf(path as never);
      return at === -1 ? null : at;
    },
    withoutDone: (record) => record,
  };
}
