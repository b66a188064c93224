import XLSX from "@e965/xlsx";

/** The bytes of a workbook written by another library: sheets by name, each with rows of values. */
export function workbookOf(
  sheets: Readonly<Record<string, readonly (readonly unknown[])[]>>,
  bookType: "xlsx" | "ods" = "xlsx",
): Buffer {
  const book = XLSX.utils.book_new();
  for (const [name, rows] of Object.entries(sheets))
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows as unknown[][]), name);
  return XLSX.write(book, { type: "buffer", bookType }) as Buffer;
}
