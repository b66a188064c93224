// Results: reads the result of each row of an ended import, and checks that they are complete.

import type { Client } from "../../client/client.ts";
import { importRowResult, operations } from "../../contract/client-operations.ts";
import type { ImportRowResult } from "../../contract/resources/imports.ts";
import { readAs } from "../../contract/response-shape.ts";
import { CatError } from "../../errors.ts";
import { BadResponseError } from "../../http/errors.ts";
import { parseJson } from "../../json.ts";
import { isOfCaller, isServiceFailure } from "../service-errors.ts";
import type { RowMemo } from "./digests.ts";

export interface ResultsOf {
  importId: string;
  rows: number;
  /** The size of the submitted body, in bytes. */
  bytes: number;
}

/**
 * Reads the results of ended imports: by the import's link, else the service's list of rows. Once a link
 * failed (a firewall blocks the storage), by list alone, as all its retries take half a minute.
 */
export class ResultsReader {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  #readsList = false;
  /** The error that ended all reading. */
  #over: unknown;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Results in the order of the body; if no source is complete, throws the first error, or a final one. */
  async read(of: ResultsOf): Promise<ImportRowResult[]> {
    if (this.#over !== undefined) throw this.#over;
    if (this.#readsList) return this.#fromList(of).catch((error: unknown) => this.#fail(error));
    try {
      return await this.#fromLink(of);
    } catch (error) {
      this.#throwIfDecisive(error);
      // Results that are not complete are those of one import.
      this.#readsList = (error as CatError).code !== "bad_results";
      return await this.#fromList(of).catch((late: unknown) => this.#fail(error, late));
    }
  }

  #throwIfDecisive(error: unknown): void {
    this.#signal.throwIfAborted();
    if (isOfCaller(error)) this.#over = error;
    if (isOfCaller(error) || !(error instanceof CatError)) throw error;
  }

  #fail(first: unknown, last = first): never {
    this.#throwIfDecisive(last);
    // Without a response after all retries, those of the other imports cannot be read either.
    if (isUnavailable(first) || isUnavailable(last)) this.#over = first;
    throw first;
  }

  async #fromLink(of: ResultsOf): Promise<ImportRowResult[]> {
    const url = await this.#freshLink(of);
    // A result repeats the row's sources and adds a few words each; a file far larger than that is not a
    // results file.
    const maxBytes = of.bytes * 4 + of.rows * 16_384;
    const file = this.#client.download(url, { signal: this.#signal, maxBytes });
    return complete(of, await resultsOfFile(of, file, this.#client));
  }

  /** The link is signed again on every read and must not be stored (Import, results_url). */
  async #freshLink(of: ResultsOf): Promise<string> {
    const job = await this.#client.imports.get({ import_id: of.importId }, { signal: this.#signal });
    // Only a link in the response is checked, and only here.
    const url: unknown = job.results_url;
    if (typeof url !== "string" || url === "") throw badResults(of, "has no results yet");
    return url;
  }

  /** The same results from the service's list (GET /v1/imports/{import_id}/rows). */
  async #fromList(of: ResultsOf): Promise<ImportRowResult[]> {
    const listed: ImportRowResult[] = [];
    const input = { import_id: of.importId };
    const options = { signal: this.#signal };
    for await (const entry of this.#client.paginate(operations.imports.rows, input, options)) {
      const { value, mismatch } = readAs<ImportRowResult>(importRowResult, entry);
      if (mismatch !== undefined) throw badResults(of, "has an invalid entry in its list of rows");
      listed.push(value);
      // A list with too many rows may never end.
      if (listed.length > of.rows) break;
    }
    return complete(of, listed);
  }
}

/** Whether the error came only after retries (`Retry`). */
const isUnavailable = (error: unknown): boolean =>
  isServiceFailure(error) && !(error instanceof BadResponseError);

/** Parses a results file: JSONL, one ImportRowResult per line (Import, results_url). */
async function resultsOfFile(
  of: ResultsOf,
  chunks: AsyncIterable<Uint8Array>,
  { withoutKey }: Client,
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
      const { value, mismatch } = readAs<ImportRowResult>(importRowResult, parsedJson(line));
      if (mismatch !== undefined) throw badResults(of, "has a results file with an invalid line");
      return value;
    });
}

function parsedJson(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/**
 * Checks for one settled result per row, in input order (Import, results_url). An imported row needs its
 * action and product: without them the next import would add its photos twice.
 */
function complete(of: ResultsOf, results: ImportRowResult[]): ImportRowResult[] {
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

/**
 * Checks that results name only photos that were sent (ImportRowResult, `index`). Else the next import would
 * add photos twice, so the batch stays open. Throws a BadResponseError.
 */
export function checkPhotos(
  importId: string,
  results: readonly ImportRowResult[],
  memos: readonly RowMemo[],
): void {
  for (const [at, { line, images }] of results.entries()) {
    const { length } = memos[at]!.sent;
    const strange = images.find(({ index }) => index >= length);
    if (strange === undefined) continue;
    const what = `has a result for image ${strange.index} of line ${line}, which was sent with ${length} images`;
    throw badResults({ importId }, what);
  }
}

const badResults = ({ importId }: Pick<ResultsOf, "importId">, what: string): BadResponseError =>
  new BadResponseError(`the import ${importId} ${what}`, { code: "bad_results" });
