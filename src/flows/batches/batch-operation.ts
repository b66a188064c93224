import type { Problem } from "../../client/api-error.ts";
import type { CallOptions } from "../../client/client.ts";

/** The request that a flow sends its batches with. */
export interface BatchOperation {
  /** Sends the bytes of a batch as they are. */
  send(body: Uint8Array, options: CallOptions): Promise<BatchReceipt>;
  /** The place within the batch, from 0, of the row that a problem is about; null for the batch as a whole. */
  rowOf(problem: Problem): number | null;
}

/** What is kept of the response to a batch. */
export interface BatchReceipt {
  /** The IDs of what the service made of it: an import, an export job, or a task for each row in their order. */
  readonly jobs: readonly string[];
  /** When it was accepted, in Unix milliseconds of the service's clock. */
  readonly createdAt: number;
}
