// Limits of a workbook; a larger one is rejected. A test compares this with docs/importing.md.

const mebibyte = 1024 * 1024;

export const workbookLimits = {
  files: 20_000,
  sheets: 1000,
  rows: 1_048_576,
  columns: 16_384,
  /** Cells with a value: those of a full sheet of ten columns. */
  cells: 10_000_000,
  /** Values of all rows to the right of the last header. */
  strayCells: 1_000_000,
  sharedTexts: 10_000_000,
  /** Merged ranges, links or ranges of columns of a sheet. */
  ranges: 200_000,
  /** Characters of a row, as in CSV files. */
  rowText: mebibyte,
  /** Characters of all rows, with some more for each cell: the copy of a sheet must not fill the disk. */
  sheetText: 512 * mebibyte,
  /** Characters of the first rows of all sheets of .ods, a cell counting as 100 more. */
  headsText: 32 * mebibyte,
  /** Bytes of a part, uncompressed. */
  sheetBytes: 4096 * mebibyte,
  sharedTextBytes: 512 * mebibyte,
  /** Workbook, styles, relations and the like. */
  otherBytes: 16 * mebibyte,
  /** Characters that are no value, with `markupOfValue` more for each value. */
  markup: 128 * mebibyte,
  markupOfValue: 1024,
  /** Characters without a single element or text: the parser keeps them in memory. */
  silence: 4 * mebibyte,
  /** Elements within each other. */
  depth: 256,
  /** Characters of a format of numbers. */
  formatCode: 255,
  /** Formats of dates in .ods, and styles with them. */
  dateStyles: 65_536,
  /** Cells next to each other, rows below each other and spaces that one element of .ods stands for. */
  repeatedCells: 256,
  repeatedRows: 65_536,
  repeatedSpaces: 1024,
} as const;

/** A number in messages: `20,000`. */
export const shownCount = (limit: number): string => limit.toLocaleString("en");

/** Bytes or characters in messages: `16 MiB`. */
export const shownSize = (limit: number): string => `${shownCount(limit / mebibyte)} MiB`;
