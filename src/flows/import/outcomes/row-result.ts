// Outcomes: the result of a row in the summary, the results file and the failed file.

import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { inOneLine, type RowOutcome as OutcomeOf, type RowFailure } from "../../outputs/row-outcome.ts";
import type { RejectedPhoto } from "../ledger/batch-memo.ts";

/**
 * The result of a row, in the form of the service's ImportRowResult. For a row in no batch, `line` is null
 * and `action` may be `unchanged`. The `index` of an image is its place in the row of the file.
 */
export interface RowResult {
  line: number | null;
  reference: string;
  status: ImportRowResult["status"];
  action: ImportRowResult["action"] | "unchanged";
  product_id: string | null;
  images: ImportRowResult["images"];
  error: { code: string; message: string } | null;
}

/**
 * The outcome of one row of an import; its done parts are photos that the service has, by place in the row.
 */
export type RowOutcome = OutcomeOf<RowResult>;

/**
 * Products whose rows failed in a batch only because of their new photos, but which have the fields of the
 * row, by line; null for a product deleted in the meantime.
 */
export type ChangedAgain = Map<number, string | null>;

/** The failure of a row with changed fields whose product no longer exists. */
export const productGone: RowFailure = {
  code: "product_not_found",
  message: "the product was deleted during the import: import this row again to re-create it",
};

/** A rejected photo, in the form of the service's results. */
export const failedImage = ({ image, source, orientation, code, message }: RejectedPhoto) => ({
  index: image,
  source,
  orientation,
  status: "failed" as const,
  error: { code, message },
});

/** The failure of a failed or partial row, as one code and one message. */
export function failureOf(result: RowResult): RowFailure | undefined {
  if (result.status !== "failed" && result.status !== "partial") return undefined;
  const images = result.images.filter((image) => image.status === "failed");
  const reasons = images.map(
    ({ source, error }) => `${source}: ${error?.message ?? error?.code ?? "not attached"}`,
  );
  const parts = [result.error?.message ?? [], reasons].flat();
  const codes: unknown[] = [result.error?.code, images[0]?.error?.code];
  const code = codes.find((one) => typeof one === "string") ?? result.status;
  return { code, message: inOneLine(parts.join("; ")) || result.status };
}
