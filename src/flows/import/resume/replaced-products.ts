import { CatError } from "../../../errors.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import { shownName } from "../../rows/shown-name.ts";
import { grouped } from "../../words.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import type { Holders } from "../ledger/holders.ts";
import { productsAtOnce } from "../ledger/refresh.ts";
import { union } from "../ledger/source-digests.ts";
import { photosOfRow } from "../outcomes/rejected-photos.ts";
import type { ReplacedProductsQuestion } from "../run/import-input.ts";
import type { ImportRun } from "../run/import-run.ts";

/**
 * Lets the user decide about rows whose reference now belongs to another product with photos: it is unknown
 * which photos that product has. Returns whether the rows have to be decided again. Throws a CatError of type
 * conflict if no choice was made.
 */
export async function decideReplaced(run: ImportRun, holders: Holders): Promise<boolean> {
  const { input, decider, resumed } = run;
  const { state, account } = resumed.run;
  let replaced = 0;
  for await (const _ of replacedRows(run, holders)) replaced++;
  if (replaced === 0) return false;
  const question: ReplacedProductsQuestion = { file: shownName(input.file.source.name), replaced };
  const choice = decider.choice() ?? (await decider.ask?.(question));
  if (choice === undefined || choice === "resend") throw choiceMissing(question);
  let found: string[] = [];
  let entries: LedgerEntry[] = [];
  const flush = () => {
    state.ledger.write(account, { found, entries });
    [found, entries] = [[], []];
  };
  for await (const { reference, weighed, productId } of replacedRows(run, holders)) {
    found.push(reference);
    if (choice === "imported") {
      const there = photosOfRow(weighed).there.map((image) => weighed.digests[image]!);
      const sources = union(Buffer.alloc(0), there);
      entries.push({ reference, productId, fields: FieldDigests.nothing.bytes, sources });
    }
    if (found.length === productsAtOnce) flush();
  }
  flush();
  return true;
}

/** Rows to send whose product is gone, with the ID of the product that has its reference now. */
async function* replacedRows(
  { rows, resumed }: ImportRun,
  holders: Holders,
): AsyncGenerator<DecidedRow & { productId: string }> {
  const { state, account } = resumed.run;
  for await (const one of rows.decided()) {
    if (one.decision.kind !== "send" || !state.ledger.isLost(account, one.reference)) continue;
    const productId = holders.of(one.reference);
    if (productId !== undefined) yield { ...one, productId };
  }
}

const choiceMissing = (question: ReplacedProductsQuestion): CatError =>
  new CatError(replacedProductsText(question), {
    type: "conflict",
    code: "unknown_outcome",
    hint: "Check a few products, then add --unknown imported (they have the photos of the file) or --unknown not-imported (add the photos).",
  });

/** Describes the replaced products of a file, as the start of a sentence. */
export const replacedProductsText = ({ file, replaced }: ReplacedProductsQuestion): string =>
  replaced === 1
    ? `1 product of ${file} was replaced since it was imported: its reference now belongs to another product, which has photos`
    : `${grouped(replaced)} products of ${file} were replaced since they were imported: their references now belong to other products, which have photos`;
