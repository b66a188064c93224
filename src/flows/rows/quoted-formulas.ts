import { maxRecordLength } from "./records.ts";

/**
 * A CSV text in which cells such as ="00123", which programs write for Excel without quotes around them, are in quotes. All
 * other text stays as it is.
 */
export async function* quotedFormulas(
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
): AsyncGenerator<Buffer> {
  const between = Array.from(delimiter, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`).join("");
  // In a cell that has quotes around it, each quote is there twice.
  const cell = `(=[ \\t]*"(?:[^"\\r\\n]|"")*"[ \\t]*)`;
  const formulas = new RegExp(`(^|[\\r\\n]|${between})${cell}(?=$|[\\r\\n]|${between})`, "gu");
  const inQuotes = (text: string) =>
    Buffer.from(text.replace(formulas, (_, before, cell) => `${before}"${cell.replaceAll('"', '""')}"`));
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + chunk.toString();
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    // A longer line is no record.
    const length = end === 0 && text.length > maxRecordLength ? text.length : end;
    rest = text.slice(length);
    if (length > 0) yield inQuotes(text.slice(0, length));
  }
  yield inQuotes(rest);
}
