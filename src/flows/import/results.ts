import type { Client } from "../../client/client.ts";
import { ImportRowResult } from "../../contract/resources/import.ts";
import { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "../../http/errors.ts";

/** The job whose results are read, and what of it was sent. */
export interface ResultsOf {
  importId: string;
  rows: number;
  /** The size of the submitted body, in bytes. */
  bytes: number;
}

/** A results file is read again from a fresh link when it breaks off, with or without a word, or the link has expired. */
const attempts = 3;

/** The result of every row of an ended import, in the order of its body. Throws BadAnswerError when they never come whole. */
export async function readResults(
  of: ResultsOf,
  client: Client,
  signal: AbortSignal | undefined,
): Promise<ImportRowResult[]> {
  // A result repeats the row's sources and adds a few words to each; anything far larger is not a results file.
  const maxBytes = of.bytes * 4 + of.rows * 16_384;
  for (let attempt = 1; ; attempt++) {
    // The link is signed anew on every read and must not be kept (Import, results_url).
    const job = await client.imports.get({ import_id: of.importId }, { signal });
    try {
      if (job.results_url === null) throw badResults(of, "has no results yet");
      return whole(of, await parse(of, client.download(job.results_url, { signal, maxBytes })));
    } catch (error) {
      if (signal?.aborted || !mayPass(error) || attempt === attempts) throw error;
    }
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof BadAnswerError ||
  error instanceof SignedUrlError ||
  error instanceof TimeoutError ||
  (error instanceof NetworkError && error.transient);

async function parse(of: ResultsOf, chunks: AsyncIterable<Uint8Array>): Promise<ImportRowResult[]> {
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
        return ImportRowResult.parse(JSON.parse(line));
      } catch {
        throw badResults(of, "has a results file with a line that is no row result");
      }
    });
}

/** One result for each row, in input order, each of them settled (Import, results_url). */
function whole(of: ResultsOf, results: ImportRowResult[]): ImportRowResult[] {
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

const badResults = (of: ResultsOf, what: string): BadAnswerError =>
  new BadAnswerError(`the import ${of.importId} ${what}`, { code: "bad_results" });
