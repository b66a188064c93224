import type { Client } from "../../../client/client.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { SentBatch } from "../../batches/sent-batch.ts";
import { ResultsReader } from "./results.ts";

/** A call whose import has ended. */
export type ReadCall = Extract<SentBatch, { kind: "accepted" }>;

/**
 * Reads the results of ended imports ahead of who asks for them, several at a time: one after another, each would wait for
 * the line. After one that could not be read they are read one by one, so that the reader's patience is not spent on each.
 */
export class ResultsAhead {
  readonly #calls: readonly ReadCall[];
  readonly #reader: ResultsReader;
  readonly #atOnce: number;
  readonly #reads = new Map<ReadCall, Promise<ImportRowResult[]>>();
  #isGood = false;

  /** `calls` in the order in which they will be asked for. */
  constructor(
    calls: readonly ReadCall[],
    { client, signal, concurrency }: { client: Client; signal: AbortSignal; concurrency: number },
  ) {
    this.#calls = calls;
    this.#reader = new ResultsReader(client, signal);
    this.#atOnce = concurrency;
  }

  /** The result of every row of the call, in the order of its body. */
  async of(call: ReadCall): Promise<ImportRowResult[]> {
    this.#begin(call);
    if (this.#isGood) {
      const at = this.#calls.indexOf(call);
      for (const next of this.#calls.slice(at + 1, at + this.#atOnce)) this.#begin(next);
    }
    const read = this.#reads.get(call)!;
    this.#isGood = await read.then(
      () => true,
      () => false,
    );
    this.#reads.delete(call);
    return read;
  }

  #begin(call: ReadCall): void {
    if (this.#reads.has(call)) return;
    const read = this.#reader.read({ importId: call.jobs[0]!, rows: call.lines.length, bytes: call.bytes });
    // Who asks for it later hears of it.
    read.catch(() => {});
    this.#reads.set(call, read);
  }
}
