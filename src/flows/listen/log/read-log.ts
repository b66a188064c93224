import { createReadStream } from "node:fs";
import split2 from "split2";
import { asFileError, CatError } from "../../../errors.ts";
import type { LogLine } from "./log-line.ts";

/** A body has 1 MB at most, and JSON makes a character six times as long at worst. Longer lines are skipped. */
const cutting = { maxLength: 16 * 1024 * 1024, skipOverflow: true };

/**
 * The lines of an event log, oldest first, in flat memory. An event may be repeated; its first line counts. A line
 * that a killed process left incomplete is skipped. Throws a CatError of type `file` if the file cannot be read, or
 * of type `input` (code `not_a_log`) if it starts with something else.
 */
export async function* readLog(path: string): AsyncGenerator<LogLine, void, undefined> {
  const file = createReadStream(path);
  const lines = file.pipe(split2(cutting));
  // `pipe` does not pass errors on.
  file.on("error", (error) => lines.destroy(error));
  // An incomplete first line still starts like one.
  let isFirst = true;
  try {
    for await (const text of lines as AsyncIterable<string>) {
      const line = parsed(text);
      if (line !== null) yield line;
      else if (isFirst && !'{"'.startsWith(text.slice(0, 2))) throw notALog(path);
      isFirst = false;
    }
  } catch (error) {
    throw asFileError(error);
  } finally {
    file.destroy();
  }
}

function parsed(text: string): LogLine | null {
  try {
    const line = JSON.parse(text) as Record<string, unknown> | null;
    const { id, result_of: resultOf, url, body } = line ?? {};
    const isLine =
      typeof resultOf === "string"
        ? typeof url === "string"
        : typeof id === "string" && typeof body === "string";
    return isLine ? (line as unknown as LogLine) : null;
  } catch {
    return null;
  }
}

const notALog = (path: string): CatError =>
  new CatError(`${path} is not an event log`, {
    type: "file",
    code: "not_a_log",
    hint: "Choose another file with --log.",
  });
