import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { type LiveSelection, readPages } from "./read-pages.ts";
import type { RowFormat } from "./row-format.ts";

/** Where the rows go: a file that appears when it is complete, or standard output. */
export interface RowSink {
  write(text: string): Promise<void>;
  /** Resolves when everything written is safe. */
  commit(): Promise<unknown>;
  /** Removes what is unfinished. */
  discard(): Promise<void>;
}

export interface LiveDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly sink: RowSink;
  readonly onProgress: (event: ProgressEvent) => void;
  /** Receives the rows of each page. */
  readonly onRows?: (rows: readonly ExportRow[]) => void;
}

/** What was exported. */
export interface LiveResult {
  readonly products: number;
  readonly assets: number;
  /** How many of the products are deleted. */
  readonly deleted: number;
  /** The time before the first request, by the slower clock (`Client.earliest`): the next delta starts there. */
  readonly startedAt: number;
}

/**
 * Writes the selected rows to the sink and commits it, page by page in flat memory. On any error the sink is
 * discarded.
 */
export async function exportLive(
  selection: LiveSelection,
  format: RowFormat,
  { client, clock, signal, sink, onProgress, onRows }: LiveDeps,
): Promise<LiveResult> {
  const began = clock.now();
  let startedAt = began;
  let [products, assets, deleted] = [0, 0, 0];
  try {
    onProgress({ step: "exporting products", done: 0, total: null });
    if (format.head !== "") await sink.write(format.head);
    for await (const { rows } of readPages(selection, { client, signal })) {
      startedAt = Math.min(startedAt, client.earliest(began));
      if (rows.length > 0) await sink.write(format.text(rows));
      onRows?.(rows);
      products += rows.length;
      for (const row of rows) {
        assets += assetsOf(row);
        if (row.product.deleted_at !== null) deleted++;
      }
      onProgress({ step: "exporting products", done: products, total: null });
    }
    signal.throwIfAborted();
    await sink.commit();
  } catch (error) {
    await sink.discard();
    throw error;
  }
  return { products, assets, deleted, startedAt };
}

/** The client does not check `assets`. */
const assetsOf = ({ assets }: ExportRow): number => (Array.isArray(assets) ? assets.length : 0);
