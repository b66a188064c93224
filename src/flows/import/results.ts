import type { Client } from "../../client/client.ts";
import { ImportRowResult } from "../../contract/resources/import.ts";
import { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "../../http/errors.ts";
import { isOfCaller, isOfService } from "./faults-of-service.ts";

/** The job whose results are read, and what of it was sent. */
export interface ResultsOf {
  importId: string;
  rows: number;
  /** The size of the submitted body, in bytes. */
  bytes: number;
}

/** A results file is read again from a fresh link when it breaks off, with or without a word, or the link has expired. */
const rounds = 3;

/** So many imports in a row, of which the service itself does not answer for, are enough to ask for no more. */
const lostInARow = 2;

/**
 * Reads the results of ended imports, one after another. What is wrong with more than one of them is not waited out for
 * each: once a link could not be opened for all patience, those of the next imports are tried once each, until one is read.
 */
export class ResultsReader {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  #hurried = false;
  #lost = 0;
  /** Why nothing more is asked for. */
  #over: { error: unknown } | null = null;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * The result of every row of an ended import, in the order of its body. Throws BadAnswerError when they never come
   * whole, and what kept them from being read.
   */
  async read(of: ResultsOf): Promise<ImportRowResult[]> {
    this.#signal.throwIfAborted();
    if (this.#over !== null) throw this.#over.error;
    for (let round = 1; ; round++) {
      const url = await this.#freshLink(of);
      const reading = { begun: false };
      try {
        if (url === null) throw badResults(of, "has no results yet");
        const results = whole(of, await parse(of, this.#download(of, url, reading)));
        this.#hurried = false;
        return results;
      } catch (error) {
        if (this.#signal.aborted || !mayPass(error)) throw error;
        const lasts = hasLasted(error, reading.begun);
        if (!lasts && round < (this.#hurried ? 1 : rounds)) continue;
        this.#hurried ||= lasts || error instanceof SignedUrlError;
        throw error;
      }
    }
  }

  /** The link is signed anew on every read and must not be kept (Import, results_url). */
  async #freshLink(of: ResultsOf): Promise<string | null> {
    try {
      const job = await this.#client.imports.get({ import_id: of.importId }, { signal: this.#signal });
      this.#lost = 0;
      return job.results_url;
    } catch (error) {
      if (isOfService(error) && !(error instanceof BadAnswerError)) this.#lost++;
      if (isOfCaller(error) || this.#lost >= lostInARow) this.#over = { error };
      throw error;
    }
  }

  async *#download(
    { bytes, rows }: ResultsOf,
    link: string,
    reading: { begun: boolean },
  ): AsyncGenerator<Uint8Array> {
    // A result repeats the row's sources and adds a few words to each; anything far larger is not a results file.
    const maxBytes = bytes * 4 + rows * 16_384;
    const attempts = this.#hurried ? 1 : undefined;
    for await (const chunk of this.#client.download(link, { signal: this.#signal, maxBytes, attempts })) {
      reading.begun = true;
      yield chunk;
    }
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof BadAnswerError ||
  error instanceof SignedUrlError ||
  error instanceof TimeoutError ||
  (error instanceof NetworkError && error.transient);

/** Whether the link could not be opened however often it was tried (`Download`); what breaks off later was not tried again. */
const hasLasted = (error: unknown, begun: boolean): boolean =>
  error instanceof BadAnswerError
    ? error.code === "download_refused" && (error.status! >= 500 || error.status === 429)
    : !begun && (error instanceof NetworkError || error instanceof TimeoutError);

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
