import { ImportRowResult } from "../../../contract/resources/import.ts";
import { asRead } from "../../../contract/response-values.ts";
import { BadAnswerError } from "../../../http/errors.ts";

/** The job whose results are read, and what of it was sent. */
export interface ResultsOf {
  importId: string;
  rows: number;
  /** The size of the submitted body, in bytes. */
  bytes: number;
}

/** The results of a results file: JSONL, one ImportRowResult a row (Import, results_url). */
export async function resultsOfFile(
  of: ResultsOf,
  chunks: AsyncIterable<Uint8Array>,
): Promise<ImportRowResult[]> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const text = Buffer.concat(parts).toString("utf8");
  // A file that was cut has no last line end (JSONL); its rows would be counted short.
  if (!text.endsWith("\n")) throw badResults(of, "has a results file that breaks off");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      try {
        return asRead(ImportRowResult).parse(JSON.parse(line));
      } catch {
        throw badResults(of, "has a results file with a line that is no row result");
      }
    });
}

/** The results, which are one for each row, in input order, each of them settled (Import, results_url). */
export function whole(of: ResultsOf, results: ImportRowResult[]): ImportRowResult[] {
  if (results.length !== of.rows) {
    throw badResults(of, `has results for ${results.length} of ${of.rows} rows`);
  }
  results.forEach(({ line, status }, index) => {
    if (line !== index + 1)
      throw badResults(of, `has a result for line ${line} in the place of line ${index + 1}`);
    if (status === "pending") throw badResults(of, `has ended, but its line ${line} is still pending`);
  });
  return results;
}

export const badResults = (of: ResultsOf, what: string): BadAnswerError =>
  new BadAnswerError(`the import ${of.importId} ${what}`, { code: "bad_results" });
