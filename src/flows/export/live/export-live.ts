import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { ExportRow } from "../../../contract/resources/exports.ts";
import type { Marks } from "../../../state/marks.ts";
import { type LiveSelection, readExportPages } from "../../catalogue/read-pages.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { ServiceIdentity } from "../../run/account.ts";
import { fromTheFuture, isBelievable, readServiceTime } from "../../run/clocks.ts";
import type { Reader } from "../../service.ts";
import { shortDigest } from "../../short-digest.ts";
import { type LeftOutCount, ReviewGate, Reviews, reviewedRows } from "../reviews.ts";
import type { RowFormat } from "./row-format.ts";

/** Where the rows go: a file that appears when it is complete, or standard output. */
export interface RowSink {
  write(text: string): Promise<void>;
  /** Resolves when everything written is safe. */
  commit(): Promise<unknown>;
  discard(): Promise<void>;
}

export interface LiveResult {
  readonly products: number;
  readonly assets: number;
  readonly deleted: number;
  /** Images that were left out by their decisions; null without a filter. */
  readonly leftOut: LeftOutCount | null;
  /** The time before the first request (`Client.earliest`): the next delta starts there. */
  readonly startedAt: number;
}

/** Writes the selected rows page by page in flat memory, and commits the sink; discards it on any error. */
export async function exportLive(
  selection: LiveSelection,
  format: RowFormat,
  {
    client,
    clock,
    signal,
    sink,
    onProgress,
    onRows,
    gate = new ReviewGate(new Reviews(), null),
  }: {
    client: Client;
    clock: Clock;
    signal: AbortSignal;
    sink: RowSink;
    onProgress: (event: ProgressEvent) => void;
    onRows?: (rows: readonly ExportRow[]) => void;
    gate?: ReviewGate;
  },
): Promise<LiveResult> {
  const began = clock.now();
  let startedAt = began;
  let [products, assets, deleted] = [0, 0, 0];
  try {
    onProgress({ step: "exporting products", done: 0, total: null });
    if (format.head !== "") await sink.write(format.head);
    for await (const page of readExportPages(selection, { client, signal })) {
      startedAt = Math.min(startedAt, client.earliest(began));
      const rows = gate.filter === null ? page.rows : reviewedRows(page.rows, gate);
      if (rows.length > 0) await sink.write(format.text(rows));
      onRows?.(page.rows);
      products += rows.length;
      for (const row of rows) {
        assets += countAssets(row);
        if (row.product.deleted_at !== null) deleted++;
      }
      onProgress({ step: "exporting products", done: products, total: null });
    }
    signal.throwIfAborted();
    if (selection.since === null) gate.rejectUndecided();
    await sink.commit();
  } catch (error) {
    await sink.discard();
    throw error;
  }
  return { products, assets, deleted, leftOut: gate.leftOut, startedAt };
}

/** The client does not check `assets`. */
const countAssets = ({ assets }: ExportRow): number => (Array.isArray(assets) ? assets.length : 0);

const firstExport =
  "No earlier export with --since last, this API key and these roles: exporting everything.";
const otherDecisions = "Images were reviewed since the last export with --since last: exporting everything.";

type OnNote = (sentence: string) => Promise<void>;

/** Remembers when the last export of a selection began, per base URL and API key. */
export class LastExport {
  readonly #marks: Marks;
  readonly #baseUrl: string;
  readonly #name: string;
  readonly #digest: string | null;

  /** `roles`: sorted; null for all. Decisions are compared, as a delta lists no product because of one. */
  constructor(
    marks: Marks,
    { baseUrl, keyFingerprint }: ServiceIdentity,
    roles: readonly string[] | null,
    { filter, reviews }: ReviewGate,
  ) {
    this.#marks = marks;
    this.#baseUrl = baseUrl;
    const selection = shortDigest(JSON.stringify({ roles, ...(filter !== null && { filter }) }), 8).toString(
      "hex",
    );
    this.#name = `export.since ${keyFingerprint} ${selection}`;
    this.#digest = filter === null ? null : reviews.digest(filter);
  }

  /**
   * The start of the last export, in Unix milliseconds; null, with a note, before the first one, or if it is
   * in the future. That one is removed at once: when a stopped run is resumed, it may be past.
   */
  async startedAt(service: Reader, onNote: OnNote): Promise<number | null> {
    const stored = this.#marks.get(this.#baseUrl, this.#name);
    if (stored !== null && this.#marks.get(this.#baseUrl, this.#digestName) !== this.#digest) {
      await onNote(otherDecisions);
      return null;
    }
    if (stored !== null) {
      await readServiceTime(service);
      const time = Date.parse(stored);
      if (isBelievable(time, service.client)) return time;
      this.#marks.remove(this.#baseUrl, this.#name);
    }
    await onNote(stored === null ? firstExport : fromTheFuture(stored));
    return null;
  }

  /** Records an export whose output is safely written. An export that began later keeps its mark. */
  record(startedAt: number): void {
    this.#marks.raise(this.#baseUrl, this.#name, new Date(startedAt).toISOString());
    // Afterwards: a process that is killed between them exports everything the next time.
    if (this.#digest !== null) this.#marks.set(this.#baseUrl, this.#digestName, this.#digest);
  }

  get #digestName(): string {
    return this.#name.replace("export.since", "export.decisions");
  }
}
