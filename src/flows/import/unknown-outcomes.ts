// Unknown outcomes: batches that may or may not have been imported, about which the user decides.

import type { StoredBatch } from "../../state/batches.ts";
import type { LedgerEntry } from "../../state/ledger.ts";
import type { Run as StoredRun } from "../../state/runs.ts";
import { existingProducts } from "../catalogue/lookups.ts";
import { isKeyAlive, readClocks, shownTime } from "../run/clocks.ts";
import { renewKey } from "../run/journal.ts";
import type { Run } from "../run/run.ts";
import { settleUnknown } from "../run/unknown-outcome.ts";
import { counted, grouped, series } from "../words.ts";
import { FieldDigests, unpackMemos } from "./digests.ts";
import type { ImportDeps, ImportInput, UnknownChoice, UnknownOutcomeQuestion } from "./import-input.ts";
import { withPhotos } from "./settle.ts";

/** A batch of an earlier process, and the run that sent it. */
export interface EarlierBatch {
  run: StoredRun;
  batch: StoredBatch;
}

/**
 * Counts the existing products of batches with an unknown outcome, and lets the user choose. Throws a CatError of type
 * conflict if no choice was made. Batches to resend stay as they are.
 */
export async function decideUnknownOutcomes(
  unknown: readonly EarlierBatch[],
  at: Run,
  input: ImportInput,
  { ask, onProgress }: ImportDeps,
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

/** Writes the products of a batch into the ledger, as if their photos were attached; `existing`: their IDs. */
function countAsImported(
  { run, batch }: EarlierBatch,
  references: readonly string[],
  existing: ReadonlyMap<string, string>,
  { state, account }: Pick<Run, "state" | "account">,
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

/**
 * Describes rows with an unknown outcome, as the start of a sentence. `when`: the time they were sent, as
 * text.
 */
export function unknownOutcomeText(
  { file, rows, lost }: Pick<UnknownOutcomeQuestion, "file" | "rows" | "lost">,
  when: string,
): string {
  const which = `${counted(rows, "row")} of ${file} sent at ${when}`;
  return lost.length > 0
    ? `the service accepted ${which}, but no longer has the import ${lost.join(", ")}`
    : `no response for ${which}`;
}
