// Outcomes: the result of a row as the summary, the results file and the failed file have it.

import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { inOneLine, type RowOutcome as OutcomeOf, type RowFailure } from "../../outputs/row-outcome.ts";
import type { RefusedPhoto } from "../ledger/call-memo.ts";

/**
 * What became of a row, in the form of the service's ImportRowResult. `line` is null, and `action` may be `unchanged`, where
 * the row went in no call; the `index` of an image is its place in the row of the file.
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

/** The result of one row of an import: parts that are done are photos that the service has, by their place in the row. */
export type RowOutcome = OutcomeOf<RowResult>;

/**
 * The products of rows that failed in a call for their new photos alone, by line, which have the fields of the row all the
 * same; null for one that was deleted meanwhile.
 */
export type ChangedAgain = Map<number, string | null>;

/** A product of which the fields alone were to be changed is not there any more. */
export const productGone: RowFailure = {
  code: "product_not_found",
  message: "the product was deleted while the import ran: import the row again to create it anew",
};

/** A photo that was not taken, in the form of the service's results. */
export const failedImage = ({ image, source, orientation, code, message }: RefusedPhoto) => ({
  index: image,
  source,
  orientation,
  status: "failed" as const,
  error: { code, message },
});

/** Why a row is failed or partial, in one code and one sentence. */
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
