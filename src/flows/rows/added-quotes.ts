import { parseCells } from "./odd-lines.ts";
import { maxRecordLength } from "./records.ts";

/**
 * A CSV text with quotes around cells that programs write without: in the first `above` lines with text,
 * above the header, and ="00123", as for Excel. All other text stays.
 */
export async function* withAddedQuotes(
  chunks: AsyncIterable<Buffer>,
  { delimiter, above }: { delimiter: string; above: number },
): AsyncGenerator<Buffer> {
  const between = Array.from(delimiter, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`).join("");
  // In a cell that has quotes around it, each quote is there twice.
  const cell = `(=[ \\t]*"(?:[^"\\r\\n]|"")*"[ \\t]*)`;
  const formulas = new RegExp(`(^|[\\r\\n]|${between})${cell}(?=$|[\\r\\n]|${between})`, "gu");
  let left = above;
  const titles = (text: string) =>
    text.replace(/[^\r\n]+/g, (line) => {
      if (left === 0 || line.trim() === "") return line;
      left--;
      return line.includes('"') ? parseCells(line, delimiter).map(inQuotes).join(delimiter) : line;
    });
  const changed = (text: string) =>
    Buffer.from(
      (left > 0 ? titles(text) : text).replace(formulas, (_, before, cell) => before + inQuotes(cell)),
    );
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + chunk.toString();
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    // A longer line is no record.
    const length = end === 0 && text.length > maxRecordLength ? text.length : end;
    rest = text.slice(length);
    if (length > 0) yield changed(text.slice(0, length));
  }
  yield changed(rest);
}

const inQuotes = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
