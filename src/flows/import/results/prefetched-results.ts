import type { Client } from "../../../client/client.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { SentBatch } from "../../run/batch.ts";
import { ResultsReader } from "./results-reader.ts";

/** A batch whose import has ended. */
export type EndedBatch = Extract<SentBatch, { kind: "accepted" }>;

/**
 * Reads the results of ended imports several at a time, before they are needed: one after another, each would
 * wait for the network. After a failed read it reads one by one, so that retries are not spent on every
 * import.
 */
export class PrefetchedResults {
  readonly #batches: readonly EndedBatch[];
  readonly #reader: ResultsReader;
  readonly #atOnce: number;
  readonly #reads = new Map<EndedBatch, Promise<ImportRowResult[]>>();
  #isGood = false;

  /** `batches`: in the order in which they will be read. */
  constructor(
    batches: readonly EndedBatch[],
    { client, signal, concurrency }: { client: Client; signal: AbortSignal; concurrency: number },
  ) {
    this.#batches = batches;
    this.#reader = new ResultsReader(client, signal);
    this.#atOnce = concurrency;
  }

  /** The result of every row of the batch, in the order of its body. */
  async of(batch: EndedBatch): Promise<ImportRowResult[]> {
    this.#begin(batch);
    if (this.#isGood) {
      const at = this.#batches.indexOf(batch);
      for (const next of this.#batches.slice(at + 1, at + this.#atOnce)) this.#begin(next);
    }
    const read = this.#reads.get(batch)!;
    this.#isGood = await read.then(
      () => true,
      () => false,
    );
    this.#reads.delete(batch);
    return read;
  }

  #begin(batch: EndedBatch): void {
    if (this.#reads.has(batch)) return;
    const read = this.#reader.read({
      importId: batch.jobs[0]!,
      rows: batch.lines.length,
      bytes: batch.bytes,
    });
    // The error is thrown by `of` later.
    read.catch(() => {});
    this.#reads.set(batch, read);
  }
}
