// Sending: cuts rows into batches of at most 2,000 rows (or --batch) and 8 MB, sends them and follows their
// imports.

import type { Client } from "../../client/client.ts";
import { limits } from "../../contract/limits.ts";
import type { ImportMode } from "../../contract/value-sets.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { StoredRun } from "../../state/runs.ts";
import { RowSet, type SomeRows } from "../rows/row-sets.ts";
import type { BatchOperation } from "../run/batch.ts";
import { type CutBatch, type ReadyBatch, rowsIn, type SentBatch } from "../run/batch.ts";
import { isKeyAlive, readClocks, shownTime } from "../run/clocks.ts";
import { sendAgain } from "../run/journal.ts";
import type { Run } from "../run/run.ts";
import { sendAsTheyWere, sendBatches } from "../run/send.ts";
import type { Stage } from "../run/stage.ts";
import { carriedOut } from "../service-errors.ts";
import { counted } from "../words.ts";
import { areNone, type DecidedRow, type RowDecision } from "./decide.ts";
import { packMemos, type RowMemo, unpackMemos } from "./digests.ts";
import type { ImportHost, ImportInput } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import { failedRow } from "./row-result.ts";
import { changesToSend } from "./settle.ts";

/** The options of an import's batches, which must stay the same when a run is resumed. */
type SendOptions = Pick<ImportInput, "mode" | "onImageError">;

/** POST /v1/imports with the rows as NDJSON: one import per batch, problems by the line of the body. */
export const importOperation = (client: Client, { mode, onImageError }: SendOptions): BatchOperation => ({
  isRepeatable: !addsTwice(mode),
  async send(ndjson, options) {
    const { reply, odd } = await carriedOut(
      client.imports.create({ mode, on_image_error: onImageError, ndjson }, options),
    );
    return { jobs: [reply.id], createdAt: parseMoment(reply.created_at, client.earliest()), odd };
  },
  // A row without any field.
  invalidBody: Buffer.from("{}\n"),
  toRow: ({ line }) => (line === undefined ? null : line - 1),
});

/**
 * The time of an import's `created_at` in Unix milliseconds, at most `now`; null without a UTC offset: read
 * as local time it would skip changes of hours. The import is accepted, so its response is not rejected.
 */
function parseMoment(created_at: unknown, now: number): number | null {
  if (typeof created_at !== "string") return null;
  const time =
    created_at.includes("T") && /(?:Z|[+-]\d\d:\d\d)$/.test(created_at) ? Date.parse(created_at) : Number.NaN;
  return Number.isNaN(time) ? null : Math.min(time, now);
}

/** Sends batches of another run again, with their bytes and keys. */
export const resendRows = (
  { id, file, options }: StoredRun,
  batches: readonly StoredBatch[],
  at: Run,
): Promise<void> => {
  const { mode, onImageError } = options as unknown as SendOptions;
  return sendAsTheyWere({ ...at, id }, batches, {
    operation: importOperation(at.client, { mode, onImageError }),
    listedAs: listedAs(file, mode),
    changesProducts: true,
  });
};

/** Whether rows that are sent twice add their photos twice (Imports, rule 3). */
export const addsTwice = (mode: unknown): boolean => mode === "upsert";

/** How `cat imports list` shows an import that was just accepted (States, Import job). */
const listedAs = (file: string, mode: ImportMode) => ({ file, variant: mode, status: "validating" });

/**
 * Resends an earlier process's batches of unknown outcome, then sends the other rows, and has imports
 * followed. `planned`: rows in new batches; `planAgain`: decides again about rows that waited.
 */
export async function sendRows(
  run: ImportRun,
  planned: number,
  planAgain: (run: ImportRun, some: SomeRows) => Promise<void>,
): Promise<Stage<SentBatch[]>> {
  const { input, at, earlier, progress, follower } = run;
  const accepted = earlier.filter(({ state }) => state !== "sent");
  const sentBefore = rowsIn(accepted);
  progress.begin(planned + rowsIn(earlier) - sentBefore, sentBefore);
  const follow = (importId: string) => {
    if (input.wait) follower.add(importId);
  };
  for (const { jobs } of accepted) follow(jobs[0]!);
  await noteRepeated(earlier, { at, mode: input.mode, host: run.host });
  const operation = importOperation(at.client, input);
  const size = batchSize(input);
  const batches = concatenated(sendAgain(at, at.state.batches.of(at.id), operation), cutBatches(run, size));
  const { sent, stopped } = await sendBatches(at, batches, {
    operation,
    listedAs: listedAs(input.file.source.name, input.mode),
    changesProducts: true,
    onAccepted: ({ jobs, rows }, { createdAt }) => {
      const { ledger } = at.state;
      // The first delta for the ledger starts at the first import, or at 0 if its time is unknown.
      if (ledger.lookedAt(at.account) === null && createdAt !== null)
        ledger.setLookedAt(at.account, createdAt);
      progress.accepted(rows.length);
      follow(jobs[0]!);
    },
    halve(batch) {
      // The next ones are not sent in vain.
      size.bytes = Math.min(size.bytes, Math.ceil(batch.body.length / 2));
      return halves(batch);
    },
    late: {
      async look({ references }) {
        const overtaken = await run.products.overtaken(references);
        for (const [reference, before] of overtaken) run.rows.overtake(reference, before);
        return overtaken.size > 0;
      },
      async *cutAgain({ rows }) {
        const some = new RowSet();
        for (const row of rows) some.add(row);
        const readAt = at.clock.now();
        await planAgain(run, some);
        yield* cutBatches(run, size, { some, readAt });
      },
    },
    onRowTooLarge({ rows, lines, references }, why) {
      run.rows.report(rows[0]!, failedRow({ line: lines[0]!, reference: references[0]! }, why));
    },
  });
  progress.written();
  return { done: sent, stopped };
}

/** When the products were read that a run may change; null if it changes none, or may not read them. */
const whenRead = ({ input, choices, products }: ImportRun): number | null =>
  addsTwice(input.mode) && choices.isRecorded ? products.readAt : null;

/** Warns about rows that may be reported as duplicates of themselves, as the service forgot their key. */
export async function noteRepeated(
  earlier: readonly StoredBatch[],
  { at, mode, host }: { at: Run; mode: unknown; host: Pick<ImportHost, "onNote"> },
): Promise<void> {
  const sent = mode === "create" ? earlier.filter(({ state }) => state === "sent") : [];
  if (sent.length === 0) return;
  const clocks = await readClocks(at);
  const expired = sent.filter((batch) => batch.isKeyTaken || !isKeyAlive(batch, clocks));
  if (expired.length === 0) return;
  const time = shownTime(Math.min(...expired.map(({ sentAt }) => sentAt)));
  host.onNote(
    `No response for ${counted(rowsIn(expired), "row")} sent at ${time}: sending them again. If one fails because its reference exists, that request has created the product: keep its reference.`,
  );
}

async function* concatenated(
  first: AsyncGenerator<ReadyBatch>,
  second: AsyncGenerator<CutBatch>,
): AsyncGenerator<CutBatch | ReadyBatch> {
  yield* first;
  yield* second;
}

/** A row to send: its line of the body, and what is kept about it. */
interface CutRow {
  readonly row: DecidedRow;
  readonly text: string;
  readonly memo: RowMemo;
}

/** The most rows and bytes of a batch; may shrink while batches are cut. */
interface BatchSize {
  readonly rows: number;
  bytes: number;
}

/** At most 2,000 rows and 8 MB (Limits), or as many rows as the user allows. */
export const batchSize = ({ batch }: ImportInput): BatchSize => ({
  rows: Math.min(batch ?? limits.importRows.max, limits.importRows.max),
  bytes: limits.importBatchBytes,
});

/** Cuts rows to send into batches of that size, keeps the outcome of others. Throws if the file changed. */
export async function* cutBatches(
  run: ImportRun,
  most = batchSize(run.input),
  { some, readAt = whenRead(run) }: { some?: SomeRows; readAt?: number | null } = {},
): AsyncGenerator<CutBatch> {
  let cut: CutRow[] = [];
  let bytes = 0;
  for await (const row of run.rows.decided(some)) {
    const { decision } = row;
    if (decision.kind !== "send") {
      run.rows.keep(row);
      continue;
    }
    run.rows.noteNotApplied(row);
    const memo = { ...decision.memo, ...run.said.memo(row), hasEdits: !areNone(decision.edits) };
    if (memo.hasEdits) run.rows.toEdit.add(row.rowIndex);
    const text = `${JSON.stringify(await serviceRow(decision, run))}\n`;
    const size = Buffer.byteLength(text);
    if (cut.length === most.rows || (cut.length > 0 && bytes + size > most.bytes)) {
      yield await toBatch(cut, run, readAt);
      cut = [];
      bytes = 0;
    }
    cut.push({ text, row, memo });
    bytes += size;
  }
  if (cut.length > 0) yield await toBatch(cut, run, readAt);
  run.said.write();
}

async function toBatch(cut: readonly CutRow[], run: ImportRun, readAt: number | null): Promise<CutBatch> {
  const changes = changesToSend(
    cut.map(({ row }) => row),
    run,
  );
  await run.input.file.source.rejectIfChanged();
  return {
    body: Buffer.from(cut.map(({ text }) => text).join("")),
    rows: Uint32Array.from(cut, ({ row }) => row.rowIndex),
    lines: Uint32Array.from(cut, ({ row }) => row.line),
    references: cut.map(({ row }) => row.reference),
    memo: packMemos(cut.map(({ memo }) => memo)),
    changes,
    ...(readAt !== null && { readAt }),
  };
}

/** A batch in two: its first rows, and the others. */
function halves(batch: CutBatch): [CutBatch, CutBatch] {
  const middle = batch.rows.length >> 1;
  const body = Buffer.from(batch.body.buffer, batch.body.byteOffset, batch.body.byteLength);
  let cutAt = 0;
  for (let row = 0; row < middle; row++) cutAt = body.indexOf("\n", cutAt) + 1;
  const memos = unpackMemos(batch.memo);
  const half = (from: number, to: number | undefined, bytes: Uint8Array): CutBatch => {
    const references = batch.references.slice(from, to);
    const own = new Set(references);
    return {
      ...batch,
      body: bytes,
      rows: batch.rows.slice(from, to),
      lines: batch.lines.slice(from, to),
      references,
      memo: packMemos(memos.slice(from, to)),
      changes: (batch.changes ?? []).filter(({ reference }) => own.has(reference)),
    };
  };
  return [half(0, middle, body.subarray(0, cutAt)), half(middle, undefined, body.subarray(cutAt))];
}

/** The row in the service's form (Imports, Row fields): only the images to send, local photos by image ID. */
async function serviceRow(
  { row: { as_exported: _, ...row }, images }: Extract<RowDecision, { kind: "send" }>,
  run: ImportRun,
): Promise<object> {
  const sent: object[] = [];
  for (const image of images) {
    if (image.path === undefined) sent.push(image);
    else {
      const { path, ...rest } = image;
      sent.push({ image_id: await uploadedImage(path, run), ...rest });
    }
  }
  return { ...row, images: sent };
}

async function uploadedImage(path: string, { input, uploads }: ImportRun): Promise<string> {
  const upload = uploads.get(await input.localPhotos.digest(path));
  if (upload === undefined || !("image" in upload)) throw new Error(`the photo ${path} was not uploaded`);
  return upload.image;
}

/**
 * All batches of the run in file order, as those of processes may alternate; of an earlier one the accepted,
 * and those of unknown outcome that this one did not resend.
 */
export function batchesOfRun({ earlier }: ImportRun, { done, stopped }: Stage<SentBatch[]>): SentBatch[] {
  const now = new Set(done.map(({ index }) => index));
  const before = earlier.flatMap(({ index, rows, lines, bytes, state, jobs }): SentBatch[] => {
    const batch = { index, rows, lines, bytes };
    if (state !== "sent") return [{ ...batch, kind: "accepted", jobs }];
    return now.has(index) ? [] : [{ ...batch, kind: "unknown", error: stopped }];
  });
  return [...before, ...done].sort((a, b) => a.lines[0]! - b.lines[0]!);
}
