import type { ApiError, Problem } from "../../client/api-error.ts";
import type { CallOptions } from "../../client/client.ts";

/** The request with which a flow sends its batches. */
export interface BatchOperation {
  /** Sends the bytes of a batch unchanged. */
  send(body: Uint8Array, options: CallOptions): Promise<BatchReceipt>;
  /** The index within the batch, from 0, of the row that a problem concerns; null for the entire batch. */
  rowOf(problem: Problem): number | null;
  /** Whether a response other than 400 and 422 rejects the body itself, so that no attempt was carried out. */
  rejectsBody?: (error: ApiError) => boolean;
}

/** The data kept of the response to a batch. */
export interface BatchReceipt {
  /** The IDs of what the service created from it: an import, an export job, or one task per row in order. */
  readonly jobs: readonly string[];
  /** When it was accepted, in Unix milliseconds of the service's clock. */
  readonly createdAt: number | null;
}
