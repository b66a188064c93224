// Earlier runs: what they left is settled before a new import begins, and the run of the same file is
// resumed.

import pLimit from "p-limit";
import type { Import } from "../../contract/resources/imports.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { LedgerEntry } from "../../state/ledger.ts";
import type { StoredRun } from "../../state/runs.ts";
import { existingProducts } from "../catalogue/lookups.ts";
import { isWithinRows } from "../rows/open-rows.ts";
import { RowSet } from "../rows/row-sets.ts";
import { rowsIn } from "../run/batch.ts";
import { isKeyAlive, readClocks, shownTime } from "../run/clocks.ts";
import { renewKey } from "../run/journal.ts";
import { type Run, sentBeyond } from "../run/run.ts";
import { settleUnknown } from "../run/unknown-outcome.ts";
import { isKeyTaken, orNull } from "../service-errors.ts";
import { counted, grouped, series, shownName } from "../words.ts";
import { FieldDigests, unpackMemos } from "./digests.ts";
import { isEnded } from "./follow.ts";
import {
  type ImportHost,
  type ImportInput,
  importKind,
  type UnknownChoice,
  type UnknownOutcomeQuestion,
} from "./import-input.ts";
import { withPhotos } from "./known-product.ts";
import { addsTwice, noteRepeated, resendRows } from "./send.ts";
import { settleBatches } from "./settle.ts";

/**
 * Whether the open run ends and a new one begins, because its rows are compared again (or with `--fresh`);
 * all that it sent is settled then. Throws a CatError of type conflict if the user must choose, of type usage
 * if rows beyond the limit were sent.
 */
export async function isReplaced(begun: Run, input: ImportInput, host: ImportHost): Promise<boolean> {
  const { file, fresh } = input;
  if (!fresh && writtenRows(begun).some((row) => !isWithinRows(file, row)))
    throw sentBeyond(file.limit!, file.source.name);
  const openBatches = () => unsettled(begun).filter(({ run }) => run.id === begun.id);
  const imports = await decideUnknown(openBatches(), begun, input, host);
  if (isToBeResumed(begun, imports, input, host)) return false;
  await settleAll(openBatches(), begun, host);
  return true;
}

/**
 * Settles the batches that runs of other files left: one without a response is resent with its key, and all
 * results go to the ledger. Throws a CatError of type conflict if the user must choose.
 */
export async function settleOtherRuns(at: Run, input: ImportInput, host: ImportHost): Promise<void> {
  const openBatches = () => unsettled(at).filter(({ run }) => run.id !== at.id);
  await decideUnknown(openBatches(), at, input, host);
  await settleAll(openBatches(), at, host);
}

/** The batches without known results of this file and of others, with their runs. */
export const unsettled = ({ state, account }: Run): EarlierBatch[] =>
  state.batches.unsettledElsewhere({ account, kind: importKind, runId: "" });

/** Lets the user decide about unknown outcomes; gives accepted imports by ID, null for lost ones. */
async function decideUnknown(
  batches: readonly EarlierBatch[],
  at: Run,
  input: ImportInput,
  host: ImportHost,
): Promise<Map<string, Import | null>> {
  const imports = await readImports(batches, at);
  const mayDouble = ({ run, batch }: EarlierBatch) => batch.state === "sent" && addsTwice(run.options.mode);
  const now = batches.some(mayDouble) ? await readClocks(at) : null;
  const isUnknown = (batch: EarlierBatch) =>
    batch.batch.state === "accepted"
      ? imports.get(batch.batch.jobs[0]!) === null
      : now !== null &&
        mayDouble(batch) &&
        (!isKeyAlive(batch.batch, now) || (batch.batch.isKeyTaken && input.unknown !== undefined));
  await decideUnknownOutcomes(batches.filter(isUnknown), at, input, host);
  return imports;
}

async function settleAll(batches: readonly EarlierBatch[], at: Run, host: ImportHost): Promise<void> {
  const runs = new Map(batches.map(({ run }) => [run.id, run]));
  for (const run of runs.values()) await settleRun(run, at, host);
}

async function settleRun(run: StoredRun, at: Run, { onProgress, onNote }: ImportHost): Promise<void> {
  const batches = (state: StoredBatch["state"]) =>
    at.state.batches.of(run.id).filter((batch) => batch.state === state);
  await noteRepeated(batches("sent"), { at, mode: run.options.mode, host: { onNote } });
  if (batches("sent").length > 0)
    await resendRows(run, batches("sent"), at).catch((error: unknown) => {
      throw isKeyTaken(error) ? undecidedError(batches("sent"), run, error) : error;
    });
  const step = `waiting for the import of ${shownName(run.file)}`;
  await settleBatches(batches("accepted"), at, (done, total) => onProgress({ step, done, total }));
}

/** The error for rows of another file that sending again does not decide: this file is fine. */
const undecidedError = (batches: readonly StoredBatch[], { file }: StoredRun, cause: unknown): CatError =>
  new CatError(
    `${unknownOutcomeText({ file: shownName(file), rows: rowsIn(batches), lost: [] }, shownTime(Math.min(...batches.map(({ sentAt }) => sentAt))))}, and the service has had their idempotency key with another body`,
    {
      type: "conflict",
      code: "unknown_outcome",
      hint: "Check a few of their products, then add --unknown imported, not-imported or resend (see --help).",
      cause,
    },
  );

async function readImports(
  batches: readonly EarlierBatch[],
  { client, signal, concurrency }: Run,
): Promise<Map<string, Import | null>> {
  const limit = pLimit(concurrency);
  const imports = new Map<string, Import | null>();
  const ask = async (import_id: string) =>
    void imports.set(import_id, await orNull(client.imports.get({ import_id }, { signal })));
  const ids = batches.flatMap(({ batch: { state, jobs } }) => (state === "accepted" ? jobs : []));
  await Promise.all(ids.map((id) => limit(ask, id)));
  return imports;
}

/** Whether the open run of this file is resumed; a note says so, or why it is not. */
function isToBeResumed(
  at: Run,
  imports: ReadonlyMap<string, Import | null>,
  input: ImportInput,
  { onNote }: ImportHost,
): boolean {
  if (input.fresh) return false;
  const name = shownName(input.file.source.name);
  const time = shownTime(at.begunAt!);
  // A plan is compared with the products in any case.
  const why = input.applies === undefined ? reasonToCompareAgain(at, imports, input) : null;
  if (why !== null) {
    onNote(`The import of ${name} started at ${time} ${why}. Comparing its rows again.`);
    return false;
  }
  if (hasSentAnything(at)) {
    const sent = counted(sentRows(at), "row");
    const startOver = input.applies === undefined ? " To start over, add --fresh." : "";
    onNote(`Resuming the import of ${name} started at ${time}: ${sent} already sent.${startOver}`);
  }
  return true;
}

/**
 * The reason to compare an open run's rows again, as products may have changed; null to resume it. The ledger
 * prevents photos from being added twice.
 */
export function reasonToCompareAgain(
  at: Run,
  imports: ReadonlyMap<string, Import | null>,
  { mode, photos, wait }: ImportInput,
): string | null {
  if (mode !== "upsert" || photos !== "new" || !hasSentAnything(at)) return null;
  const { runs, batches } = at.state;
  const last = runs.lastWriter(at.account);
  if (last !== null && last !== at.id) return "did not finish, and another import has run since";
  const isDone = batches.of(at.id).every(({ state, jobs }) => {
    const job = imports.get(jobs[0] ?? "");
    return state === "settled" || (job !== undefined && job !== null && isEnded(job));
  });
  // With --no-wait the run would never end, and a file imported every night would never be sent again.
  return !wait && isDone ? "has finished at the service" : null;
}

/** The rows that the run has sent, or may have. */
const writtenRows = ({ state: { batches, doneRows }, id }: Run): number[] => [
  ...batches.of(id).flatMap(({ rows }) => [...rows]),
  ...doneRows.of(id).map(({ rowIndex }) => rowIndex),
  ...doneRows.patchingRows(id),
];

const hasSentAnything = ({ state: { batches, doneRows }, id }: Run): boolean =>
  batches.of(id).length > 0 || doneRows.of(id).length > 0;

/** Number of rows that the service is known to have received. */
function sentRows({ state: { batches, doneRows }, id }: Run): number {
  const sent = new RowSet();
  for (const batch of batches.of(id)) {
    if (batch.state !== "sent") for (const row of batch.rows) sent.add(row);
  }
  for (const { rowIndex } of doneRows.of(id)) sent.add(rowIndex);
  return sent.size;
}

interface EarlierBatch {
  run: StoredRun;
  batch: StoredBatch;
}

/**
 * Counts the existing products of batches of unknown outcome, and lets the user choose. Throws a CatError of
 * type conflict without a choice. Batches to resend stay as they are.
 */
async function decideUnknownOutcomes(
  unknown: readonly EarlierBatch[],
  at: Run,
  input: ImportInput,
  { ask, onProgress }: ImportHost,
): Promise<void> {
  if (unknown.length === 0) return;
  const { state } = at;
  const batches = unknown.map(({ batch }) => batch);
  const references = batches.map(({ run, index }) => state.batches.references(run, index));
  const existing = await existingProducts(references.flat(), at, (done, total) =>
    onProgress({ step: "looking up products", done, total }),
  );
  const clocks = await readClocks(at);
  await settleUnknown<UnknownOutcomeQuestion, UnknownChoice>({
    batches,
    files: unknown.map(({ run }) => run.file),
    facts: {
      rows: references.flat().length,
      existing: existing?.size ?? null,
      resendsOnce: batches.every((batch) => isKeyAlive(batch, clocks) && !batch.isKeyTaken),
      lost: batches.flatMap(({ jobs }) => jobs),
    },
    now: clocks,
    given: input.unknown,
    ask,
    rejection,
    apply(choice, { run, index }, place) {
      // Its rows are decided again, as if they were never sent.
      if (choice === "not-imported") state.batches.dropped(run, index);
      else if (choice === "imported") countAsImported(unknown[place]!, references[place]!, existing!, at);
      else if (!isKeyAlive(batches[place]!, clocks) || batches[place]!.isKeyTaken)
        renewKey({ ...at, id: run }, batches[place]!);
    },
  });
}

/** Writes products of a batch into the ledger as if photos were attached; `existing`: their IDs. */
function countAsImported(
  { run, batch }: EarlierBatch,
  references: readonly string[],
  existing: ReadonlyMap<string, string>,
  { state, account }: Run,
): void {
  const memos = unpackMemos(state.batches.memo(batch.run, batch.index));
  const imported = references.flatMap((reference, at) => {
    const productId = existing.get(reference);
    return productId === undefined ? [] : [{ reference, productId, at }];
  });
  const entries = imported.map(({ reference, productId, at }): LedgerEntry => {
    const known = state.ledger.ofProduct(account, productId)?.photos ?? [];
    const sent = memos[at]!.sent.map(({ digest }) => ({ source: digest, image: null }));
    return { reference, productId, fields: FieldDigests.nothing.bytes, photos: withPhotos(known, sent) };
  });
  // Its rows are decided again by the ledger. Without the ledger, rows with a product are done.
  const done = run.options.photos === "all" ? imported : [];
  const doneRows = done.map(({ reference, productId, at }) => {
    return { rowIndex: batch.rows[at]!, line: batch.lines[at]!, reference, productId };
  });
  state.batches.decided(batch.run, batch.index, entries, doneRows);
}

function rejection(question: UnknownOutcomeQuestion, choice: UnknownChoice | undefined) {
  const { sentAt, existing, resendsOnce, lost } = question;
  const message = `${unknownOutcomeText(question, shownTime(sentAt))}; ${existencePhrase(existing)}`;
  // Without the IDs of the products their photos would be sent again.
  if (choice === "imported" && existing === null) {
    const hint = "Use a key with that scope, or another choice for --unknown.";
    return { message: `${message}, which --unknown imported needs`, hint };
  }
  // An accepted batch cannot be resent: its body was deleted.
  if (choice !== undefined && !(choice === "resend" && lost.length > 0)) return null;
  const resend = `resend (${resendsOnce ? "the service imports them only once" : "may add photos twice"})`;
  const choices = [
    ...(existing === null ? [] : ["imported"]),
    "not-imported",
    ...(lost.length > 0 ? [] : [resend]),
  ];
  const hint =
    existing === 0
      ? "To send these rows, run the command again with --unknown not-imported."
      : `Check a few products, then run the command again with --unknown ${series(choices, "or")}.`;
  return { message, hint };
}

function existencePhrase(products: number | null): string {
  if (products === null) return "this key lacks the scope products:read";
  const count = products === 0 ? "none" : grouped(products);
  return `${count} of their products ${products > 1 ? "exist" : "exists"}`;
}

/** Rows with an unknown outcome, as the start of a sentence. `when`: the time they were sent. */
export function unknownOutcomeText(
  { file, rows, lost }: Pick<UnknownOutcomeQuestion, "file" | "rows" | "lost">,
  when: string,
): string {
  const which = `${counted(rows, "row")} of ${file} sent at ${when}`;
  return lost.length > 0
    ? `the service accepted ${which}, but no longer has the import ${lost.join(", ")}`
    : `no response for ${which}`;
}
