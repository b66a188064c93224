import type { Client } from "../../../client/client.ts";
import { ImportRowResult } from "../../../contract/resources/import.ts";
import { asRead } from "../../../contract/response-values.ts";
import { BadAnswerError } from "../../../http/errors.ts";

/** The import whose results are read, and the size of its batch. */
export interface ResultsOf {
  importId: string;
  rows: number;
  /** The size of the submitted body, in bytes. */
  bytes: number;
}

/** Parses a results file: JSONL, one ImportRowResult per line (Import, results_url). */
export async function resultsOfFile(
  of: ResultsOf,
  chunks: AsyncIterable<Uint8Array>,
  { withoutKey }: Pick<Client, "withoutKey">,
): Promise<ImportRowResult[]> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const text = withoutKey(Buffer.concat(parts).toString("utf8"));
  // A truncated file lacks the last line end (JSONL).
  if (!text.endsWith("\n")) throw badResults(of, "has an incomplete results file");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const result = asRead(ImportRowResult).safeParse(jsonOf(line));
      if (!result.success) throw badResults(of, "has a results file with an invalid line");
      return result.data;
    });
}

/** Checks an entry of the list of rows, which the client passes on unchecked. */
export function listedResult(of: Pick<ResultsOf, "importId">, entry: unknown): ImportRowResult {
  const result = asRead(ImportRowResult).safeParse(entry);
  if (!result.success) throw badResults(of, "has an invalid entry in its list of rows");
  return result.data;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * Checks that there is one settled result per row, in input order (Import, results_url). An imported row must
 * have its action and product: without them the next import would add its photos twice.
 */
export function whole(of: ResultsOf, results: ImportRowResult[]): ImportRowResult[] {
  if (results.length !== of.rows) {
    throw badResults(of, `has results for ${results.length} of ${of.rows} rows`);
  }
  results.forEach(({ line, status, action, product_id }, index) => {
    if (line !== index + 1)
      throw badResults(of, `has a result for line ${line} instead of line ${index + 1}`);
    if (status === "pending") throw badResults(of, `has ended, but its line ${line} is still pending`);
    if (status === "failed") return;
    if (action === null)
      throw badResults(of, `has a result without an action for line ${line}, which was imported`);
    if (product_id === null)
      throw badResults(of, `has a result without a product for line ${line}, which was imported`);
  });
  return results;
}

export const badResults = ({ importId }: Pick<ResultsOf, "importId">, what: string): BadAnswerError =>
  new BadAnswerError(`the import ${importId} ${what}`, { code: "bad_results" });
