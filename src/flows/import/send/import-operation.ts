import type { Client } from "../../../client/client.ts";
import { Timestamp } from "../../../contract/resources/fields.ts";
import type { ImportMode, OnImageError } from "../../../contract/value-sets.ts";
import type { BatchOperation } from "../../run/batch.ts";

/** The options of an import's batches, which must stay the same when a run is resumed. */
export interface SendOptions {
  mode: ImportMode;
  onImageError: OnImageError;
}

/** POST /v1/imports with the rows as NDJSON: one import per batch, problems by the line of the body. */
export const importOperation = (client: Client, { mode, onImageError }: SendOptions): BatchOperation => ({
  async send(ndjson, options) {
    const { id, created_at } = await client.imports.create(
      { mode, on_image_error: onImageError, ndjson },
      options,
    );
    return { jobs: [id], createdAt: momentOf(created_at, client.earliest()) };
  },
  rowOf: ({ line }) => (line === undefined ? null : line - 1),
});

/**
 * The time of an import's `created_at`, in Unix milliseconds; null if it is not a timestamp with a UTC
 * offset. Without an offset it would be read as local time, and changes of several hours would be skipped. The
 * response is not rejected, because the import is accepted. A time in the future counts as `now`.
 */
function momentOf(created_at: string, now: number): number | null {
  const timestamp = Timestamp.safeParse(created_at);
  return timestamp.success ? Math.min(Date.parse(timestamp.data), now) : null;
}

/** How `cat imports list` shows an import that was just accepted (States and transitions, Import job). */
export const listedAs = (file: string, mode: ImportMode) => ({ file, variant: mode, status: "validating" });
