import type { Client } from "../../../client/client.ts";
import type { ImportMode, OnImageError } from "../../../contract/value-sets.ts";
import type { BatchOperation } from "../../batches/batch-operation.ts";

/** What an import's batches are sent with, which a resume must not change. */
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
    return { jobs: [id], createdAt: Date.parse(created_at) };
  },
  rowOf: ({ line }) => (line === undefined ? null : line - 1),
});

/** How `cat imports list` shows an import that was just accepted (States and transitions, Import job). */
export const listedAs = (file: string, mode: ImportMode) => ({ file, variant: mode, status: "validating" });
