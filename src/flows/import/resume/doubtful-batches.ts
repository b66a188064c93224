import { CatError } from "../../../errors.ts";
import type { DoneRow, StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import { isKeyAlive, readClocks } from "../../batches/key-life.ts";
import { grouped } from "../../grouped.ts";
import { shownName } from "../../rows/shown-name.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { shownTime } from "../../runs/shown-time.ts";
import { type RowMemo, unpackMemos } from "../ledger/call-memo.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import { union } from "../ledger/source-digests.ts";
import { packPhotos, photosOfMemo } from "../outcomes/refused-photos.ts";
import type { DoubtQuestion } from "../run/import-input.ts";
import type { ImportJob } from "../run/import-job.ts";
import { existingProducts } from "./existing-products.ts";

/** A batch of which nothing tells any more whether the service accepted it, with the run that sent it. */
export interface DoubtfulBatch {
  run: Run;
  batch: StoredBatch;
}

/**
 * Batches whose outcome will not come by itself: looks which of their references exist, says so, and has the user choose
 * (interface, import). Afterwards no batch is left in doubt, or a CatError of type conflict says what to do.
 * Gives those that are to be sent again as they were.
 */
export async function resolveDoubt(
  doubtful: readonly DoubtfulBatch[],
  { state, account }: RunAtHand,
  { service, reporter, doubts }: Pick<ImportJob, "service" | "reporter" | "doubts">,
): Promise<DoubtfulBatch[]> {
  if (doubtful.length === 0) return [];
  const references = doubtful.map(({ batch }) => state.batches.references(batch.run, batch.index));
  const existing = await existingProducts(references.flat(), service, (done, total) =>
    reporter.onProgress({ step: "looking up products", done, total }),
  );
  const clocks = await readClocks(service);
  const question: DoubtQuestion = {
    file: [...new Set(doubtful.map(({ run }) => shownName(run.file)))].join(", "),
    sentAt: Math.min(...doubtful.map(({ batch }) => batch.sentAt)),
    rows: references.flat().length,
    existing: existing?.size ?? null,
    resendsOnce: doubtful.every(({ batch }) => isKeyAlive(batch, clocks)),
    lost: doubtful.flatMap(({ batch }) => batch.jobs),
  };
  const choice = doubts.choice() ?? (await doubts.ask?.(question));
  if (choice === undefined) throw undecided(question);
  if (choice === "imported" && existing === null) throw unseenProducts(question);
  const again: DoubtfulBatch[] = [];
  for (const [at, one] of doubtful.entries()) {
    const { batch } = one;
    if (choice === "resend") {
      // Only what is kept can be sent again: of an import that was taken up, and is lost, the bytes are gone.
      if (batch.state !== "sent") throw undecided(question);
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
      // Its rows are judged anew, by the ledger; where that is not asked, those with a product are done.
      const done =
        one.run.options.photos === "all"
          ? doneRows(batch, references[at]!, { existing: existing ?? new Map(), memos })
          : [];
      state.batches.decided(batch.run, batch.index, entries, done);
    } else {
      // Its rows are judged anew, as if they were never sent.
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

function undecided(question: DoubtQuestion): CatError {
  const { existing, resendsOnce, lost } = question;
  const choices = [
    ...(existing === null ? [] : ["--unknown imported"]),
    "--unknown not-imported",
    ...(lost.length > 0
      ? []
      : [
          `--unknown resend (${resendsOnce ? "which the service carries out once" : "which may add photos a second time"})`,
        ]),
  ];
  return new CatError(`${inWords(question)}; ${existenceOf(existing)}`, {
    type: "conflict",
    code: "unknown_outcome",
    hint: `Look at some of them, then give the command again with ${choices.join(", or with ")}.`,
  });
}

/** That rows were imported is of no use where their products cannot be found: their photos would be sent a second time. */
const unseenProducts = (question: DoubtQuestion): CatError =>
  new CatError(`${inWords(question)}; ${existenceOf(null)}, so --unknown imported cannot be carried out`, {
    type: "conflict",
    code: "unknown_outcome",
    hint: "Give the command again with a key that may read products, or with another choice.",
  });

const inWords = (question: DoubtQuestion): string => whatIsNotKnown(question, shownTime(question.sentAt));

function existenceOf(products: number | null): string {
  if (products === null) return "this key may not read their products (scope products:read)";
  const exist = products === 0 ? "none exists" : products === 1 ? "1 exists" : `${grouped(products)} exist`;
  return `of their products ${exist}`;
}

/** Why nobody can say what became of rows, as the beginning of a sentence; `when` they were sent, in words. */
export function whatIsNotKnown({ file, rows, lost }: DoubtQuestion, when: string): string {
  const which = `${grouped(rows)} ${rows === 1 ? "row" : "rows"} of ${file} sent at ${when}`;
  return lost.length > 0
    ? `the service took up ${which}, and does not know the import ${lost.join(", ")} any more`
    : `it is not known whether the service took up ${which}`;
}
