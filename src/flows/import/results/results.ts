// Results: imports followed to their end, the results of their rows read and written into the ledger.

import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/operations.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { CatError } from "../../../errors.ts";
import { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "../../../http/errors.ts";
import { isOfCaller, isOfService } from "../../service-errors.ts";
import { badResults, type ResultsOf, resultsOfFile, whole } from "./whole-results.ts";

/** A results file is read again from a fresh link when it breaks off, with or without a word, or the link has expired. */
const rounds = 3;

/** What could not be had for so many imports in a row, in the order in which they end, is asked for no more, or last. */
const lostInARow = 2;

/**
 * Reads the results of ended imports: the file behind the import's link, or, where that cannot be had whole (a firewall
 * blocks the storage, say), the service's own list of the rows. Several may be asked for at
 * once. What is wrong with more than one of them is not waited out for each: once a link led to nothing for all patience,
 * those of the next imports are tried once each; after two of them the list is read first, as what was tried once may have
 * taken half a minute as well.
 */
export class ResultsReader {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  /** How often in a row a link could not be had, a list not be read, and an import not be looked up. */
  readonly #lost = { links: 0, lists: 0, imports: 0 };
  /** Why nothing more is asked for. */
  #over: { error: unknown } | null = null;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * The result of every row of an ended import, in the order of its body. Where they never come whole it throws what is
   * wrong with the link, or what keeps anything from being read.
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

  /** The results behind the link, or why they could not be had. Throws why the service gave no link. */
  async #fromLink(of: ResultsOf): Promise<ImportRowResult[] | CatError> {
    const isHurried = this.#lost.links > 0;
    for (let round = 1; ; round++) {
      const reading = { hasLink: false, begun: false };
      try {
        const url = await this.#freshLink(of);
        reading.hasLink = true;
        if (url === null) throw badResults(of, "has no results yet");
        const attempts = isHurried ? 1 : undefined;
        const results = whole(of, await resultsOfFile(of, this.#download(of, { url, attempts, reading })));
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

  /** The link is signed anew on every read and must not be kept (Import, results_url). */
  async #freshLink(of: ResultsOf): Promise<string | null> {
    try {
      const job = await this.#client.imports.get({ import_id: of.importId }, { signal: this.#signal });
      this.#lost.imports = 0;
      return job.results_url;
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
    // A result repeats the row's sources and adds a few words to each; anything far larger is not a results file.
    const maxBytes = bytes * 4 + rows * 16_384;
    for await (const chunk of this.#client.download(url, { signal: this.#signal, maxBytes, attempts })) {
      reading.begun = true;
      yield chunk;
    }
  }

  /**
   * The same results as the service lists them (GET /v1/imports/{import_id}/rows); null where they do not come whole either.
   * Throws what keeps anything from being read.
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
      listed.push(result);
      // Nobody knows whether a list that is too long has an end.
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

/** Whether the link could not be opened however often it was tried (`Download`); what breaks off later was not tried again. */
const hasLasted = (error: CatError, begun: boolean): boolean =>
  error instanceof BadAnswerError
    ? error.code === "download_refused" && (error.status! >= 500 || error.status === 429)
    : !begun && (error instanceof NetworkError || error instanceof TimeoutError);

/** Whether it came of asking again and again (`Retry`). */
const hasCostPatience = (error: unknown): boolean => isOfService(error) && !(error instanceof BadAnswerError);
