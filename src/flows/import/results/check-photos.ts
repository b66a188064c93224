import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { RowMemo } from "../ledger/batch-memo.ts";
import { badResults } from "./complete-results.ts";

/**
 * Checks that results name only photos that were sent (ImportRowResult, `index`). Otherwise the photos of a
 * product are unknown, and the next import would add them twice, so the batch stays open. Throws a
 * BadAnswerError.
 */
export function checkPhotos(
  importId: string,
  results: readonly ImportRowResult[],
  memos: readonly RowMemo[],
): void {
  for (const [at, { line, images }] of results.entries()) {
    const { length } = memos[at]!.sent;
    const strange = images.find(({ index }) => index >= length);
    if (strange === undefined) continue;
    const what = `has a result for image ${strange.index} of line ${line}, which was sent with ${length} images`;
    throw badResults({ importId }, what);
  }
}
