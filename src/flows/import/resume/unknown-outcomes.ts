import { CatError } from "../../../errors.ts";
import type { DoneRow, StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import { existingProducts } from "../../catalogue/find-products.ts";
import { shownName } from "../../rows/shown-name.ts";
import { isKeyAlive, readClocks, shownTime } from "../../run/clocks.ts";
import type { RunAtHand } from "../../run/run.ts";
import { counted, grouped, series } from "../../words.ts";
import { type RowMemo, unpackMemos } from "../ledger/batch-memo.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import { union } from "../ledger/source-digests.ts";
import { packPhotos, photosOfMemo } from "../outcomes/rejected-photos.ts";
import type { UnknownOutcomeQuestion } from "../run/import-input.ts";
import type { ImportJob } from "../run/import-job.ts";

/** A batch that may or may not have been accepted, and the run that sent it. */
export interface UnknownBatch {
  run: Run;
  batch: StoredBatch;
}

/**
 * Counts the existing products of batches with an unknown outcome, and lets the user choose.
 * Throws a CatError of type conflict if no choice was made. Returns the batches to resend unchanged.
 */
export async function resolveUnknownOutcomes(
  unknownBatches: readonly UnknownBatch[],
  { state, account }: RunAtHand,
  { service, reporter, decider }: Pick<ImportJob, "service" | "reporter" | "decider">,
): Promise<UnknownBatch[]> {
  if (unknownBatches.length === 0) return [];
  const references = unknownBatches.map(({ batch }) => state.batches.references(batch.run, batch.index));
  const existing = await existingProducts(references.flat(), service, (done, total) =>
    reporter.onProgress({ step: "looking up products", done, total }),
  );
  const clocks = await readClocks(service);
  const question: UnknownOutcomeQuestion = {
    file: [...new Set(unknownBatches.map(({ run }) => shownName(run.file)))].join(", "),
    sentAt: Math.min(...unknownBatches.map(({ batch }) => batch.sentAt)),
    rows: references.flat().length,
    existing: existing?.size ?? null,
    resendsOnce: unknownBatches.every(({ batch }) => isKeyAlive(batch, clocks)),
    lost: unknownBatches.flatMap(({ batch }) => batch.jobs),
  };
  const choice = decider.choice() ?? (await decider.ask?.(question));
  if (choice === undefined) throw choiceMissing(question);
  if (choice === "imported" && existing === null) throw unseenProducts(question);
  const again: UnknownBatch[] = [];
  for (const [at, one] of unknownBatches.entries()) {
    const { batch } = one;
    if (choice === "resend") {
      // An accepted batch cannot be resent: its body was deleted.
      if (batch.state !== "sent") throw choiceMissing(question);
      again.push(one);
      continue;
    }
    if (choice === "imported") {
      const memos = unpackMemos(state.batches.memo(batch.run, batch.index));
      const entries = references[at]!.flatMap((reference, row) => {
        const productId = existing?.get(reference);
        if (productId === undefined) return [];
        const sources = union(
          state.ledger.ofProduct(account, productId)?.sources ?? Buffer.alloc(0),
          memos[row]!.sent.map(({ digest }) => digest),
        );
        return [{ reference, productId, fields: FieldDigests.nothing.bytes, sources }];
      });
      // Its rows are decided again by the ledger. Without the ledger, rows with a product are done.
      const done =
        one.run.options.photos === "all"
          ? doneRows(batch, references[at]!, { existing: existing ?? new Map(), memos })
          : [];
      state.batches.decided(batch.run, batch.index, entries, done);
    } else {
      // Its rows are decided again, as if they were never sent.
      state.batches.dropped(batch.run, batch.index);
    }
  }
  return again;
}

/** The rows of a batch whose products exist. */
const doneRows = (
  { rows, lines }: StoredBatch,
  references: readonly string[],
  { existing, memos }: { existing: ReadonlyMap<string, string>; memos: readonly RowMemo[] },
): DoneRow[] =>
  references.flatMap((reference, at) => {
    const productId = existing.get(reference);
    if (productId === undefined) return [];
    const memo = packPhotos(photosOfMemo(memos[at]!));
    return [{ row: rows[at]!, line: lines[at]!, reference, productId, memo }];
  });

function choiceMissing(question: UnknownOutcomeQuestion): CatError {
  const { existing, resendsOnce, lost } = question;
  const choices = [
    ...(existing === null ? [] : ["imported"]),
    "not-imported",
    ...(lost.length > 0
      ? []
      : [`resend (${resendsOnce ? "the service imports them only once" : "may add photos twice"})`]),
  ];
  const either = series(choices, "or");
  const hint =
    existing === 0
      ? "To send these rows, run the command again with --unknown not-imported."
      : `Check a few products, then run the command again with --unknown ${either}.`;
  return new CatError(`${inWords(question)}; ${existenceOf(existing)}`, {
    type: "conflict",
    code: "unknown_outcome",
    hint,
  });
}

/** "imported" needs the products: without their IDs the photos would be sent again. */
const unseenProducts = (question: UnknownOutcomeQuestion): CatError =>
  new CatError(`${inWords(question)}; ${existenceOf(null)}, which --unknown imported needs`, {
    type: "conflict",
    code: "unknown_outcome",
    hint: "Use a key with that scope, or another choice for --unknown.",
  });

const inWords = (question: UnknownOutcomeQuestion): string =>
  unknownOutcomeText(question, shownTime(question.sentAt));

function existenceOf(products: number | null): string {
  if (products === null) return "this key lacks the scope products:read";
  const count = products === 0 ? "none" : grouped(products);
  return `${count} of their products ${products > 1 ? "exist" : "exists"}`;
}

/**
 * Describes rows with an unknown outcome, as the start of a sentence. `when`: the time they were sent, as
 * text.
 */
export function unknownOutcomeText({ file, rows, lost }: UnknownOutcomeQuestion, when: string): string {
  const which = `${counted(rows, "row")} of ${file} sent at ${when}`;
  return lost.length > 0
    ? `the service accepted ${which}, but no longer has the import ${lost.join(", ")}`
    : `no response for ${which}`;
}
