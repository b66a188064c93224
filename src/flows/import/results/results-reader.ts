// Results: follows imports until they end, reads the results of their rows and writes them to the ledger.

import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/operations.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { CatError } from "../../../errors.ts";
import { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "../../../http/errors.ts";
import { isOfCaller, isOfService } from "../../service-errors.ts";
import { badResults, listedResult, type ResultsOf, resultsOfFile, whole } from "./complete-results.ts";

/** Attempts to read a results file, each with a fresh link, after it broke off or its link expired. */
const rounds = 3;

/** After this many consecutive imports without a link, list or job, that source is skipped, or tried last. */
const lostInARow = 2;

/**
 * Reads the results of ended imports: the file behind the import's link or, if that fails (for example,
 * because a firewall blocks the storage), the service's list of the rows. Several may be read at once.
 *
 * A failure of more than one import is not retried in full for each. After the link of one import has failed
 * through all retries, those of the next imports are tried once each. After two failed links the list comes
 * first, because even a single try may take half a minute.
 */
export class ResultsReader {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  /** Consecutive failures: of links, of lists, and of fetching an import. */
  readonly #lost = { links: 0, lists: 0, imports: 0 };
  /** The error that ended all reading. */
  #over: { error: unknown } | null = null;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * The result of every row of an ended import, in the order of its body. If no source is complete, throws
   * the error of the link, or the error that prevents all reading.
   */
  async read(of: ResultsOf): Promise<ImportRowResult[]> {
    this.#signal.throwIfAborted();
    if (this.#over !== null) throw this.#over.error;
    const isListFirst = this.#lost.links >= lostInARow && this.#lost.lists === 0;
    const early = isListFirst ? await this.#fromList(of) : null;
    if (early !== null) return early;
    const linked = await this.#fromLink(of);
    if (!(linked instanceof CatError)) return linked;
    const late = isListFirst || this.#lost.lists >= lostInARow ? null : await this.#fromList(of);
    if (late === null) throw linked;
    return late;
  }

  /** The results behind the link, or the error of reading them. Throws if the service gave no link. */
  async #fromLink(of: ResultsOf): Promise<ImportRowResult[] | CatError> {
    const isHurried = this.#lost.links > 0;
    for (let round = 1; ; round++) {
      const reading = { hasLink: false, begun: false };
      try {
        const url = await this.#freshLink(of);
        reading.hasLink = true;
        if (url === null) throw badResults(of, "has no results yet");
        const attempts = isHurried ? 1 : undefined;
        const file = this.#download(of, { url, attempts, reading });
        const results = whole(of, await resultsOfFile(of, file, this.#client));
        this.#lost.links = 0;
        return results;
      } catch (error) {
        if (this.#signal.aborted || !(error instanceof CatError)) throw error;
        const isWorthARound = mayPass(error) && !hasLasted(error, reading.begun);
        if (isWorthARound && round < (isHurried ? 1 : rounds)) continue;
        if (!reading.hasLink) throw error;
        this.#lost.links++;
        return error;
      }
    }
  }

  /** The link is signed again on every read and must not be stored (Import, results_url). */
  async #freshLink(of: ResultsOf): Promise<string | null> {
    try {
      const job = await this.#client.imports.get({ import_id: of.importId }, { signal: this.#signal });
      this.#lost.imports = 0;
      // Only a link in the response is checked, and only here.
      const url: unknown = job.results_url;
      return typeof url === "string" && url !== "" ? url : null;
    } catch (error) {
      if (hasCostPatience(error)) this.#lost.imports++;
      if (isOfCaller(error) || this.#lost.imports >= lostInARow) this.#over = { error };
      throw error;
    }
  }

  async *#download(
    { bytes, rows }: ResultsOf,
    { url, attempts, reading }: { url: string; attempts: number | undefined; reading: { begun: boolean } },
  ): AsyncGenerator<Uint8Array> {
    // A result repeats the row's sources and adds a few words each; a file far larger than that is not a
    // results file.
    const maxBytes = bytes * 4 + rows * 16_384;
    for await (const chunk of this.#client.download(url, { signal: this.#signal, maxBytes, attempts })) {
      reading.begun = true;
      yield chunk;
    }
  }

  /**
   * The same results from the service's list (GET /v1/imports/{import_id}/rows); null if it is incomplete or
   * fails. Throws an error that prevents all reading.
   */
  async #fromList(of: ResultsOf): Promise<ImportRowResult[] | null> {
    try {
      const results = whole(of, await this.#list(of));
      this.#lost.lists = 0;
      return results;
    } catch (error) {
      if (this.#signal.aborted || !(error instanceof CatError)) throw error;
      if (isOfCaller(error)) {
        this.#over = { error };
        throw error;
      }
      if (hasCostPatience(error)) this.#lost.lists++;
      return null;
    }
  }

  async #list({ importId, rows }: ResultsOf): Promise<ImportRowResult[]> {
    const listed: ImportRowResult[] = [];
    const input = { import_id: importId };
    for await (const result of this.#client.paginate(operations.imports.rows, input, {
      signal: this.#signal,
    })) {
      listed.push(listedResult({ importId }, result));
      // A list with too many rows may never end.
      if (listed.length > rows) break;
    }
    return listed;
  }
}

const mayPass = (error: CatError): boolean =>
  error instanceof BadAnswerError ||
  error instanceof SignedUrlError ||
  error instanceof TimeoutError ||
  (error instanceof NetworkError && error.transient);

/**
 * Whether all retries failed to open the link (`Download`); a download that breaks off later is not retried.
 */
const hasLasted = (error: CatError, begun: boolean): boolean =>
  error instanceof BadAnswerError
    ? error.code === "download_refused" && (error.status! >= 500 || error.status === 429)
    : !begun && (error instanceof NetworkError || error instanceof TimeoutError);

/** Whether the error came only after retries (`Retry`). */
const hasCostPatience = (error: unknown): boolean => isOfService(error) && !(error instanceof BadAnswerError);
