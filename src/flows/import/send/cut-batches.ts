import { limits } from "../../../contract/limits.ts";
import type { Source } from "../../rows/source.ts";
import type { CutBatch } from "../../run/batch.ts";
import type { FileImage, FileRow } from "../columns/file-row.ts";
import { packMemos, type RowMemo } from "../ledger/batch-memo.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";

export interface CutDeps {
  source: Source;
  /** Returns the image ID of an uploaded local photo. */
  imageIdOf: (path: string) => string | Promise<string>;
  /** Receives each row that goes in no batch. */
  onKept: (row: DecidedRow) => void;
}

/**
 * Cuts the rows to send into batches of at most 2,000 rows and 8 MB (Limits). Throws if the file has changed
 * since the check.
 */
export async function* cutIntoBatches(
  decided: AsyncIterable<DecidedRow>,
  { source, imageIdOf, onKept }: CutDeps,
): AsyncGenerator<CutBatch> {
  let texts: string[] = [];
  let parts: { row: number; line: number; reference: string; memo: RowMemo }[] = [];
  let bytes = 0;
  const cut = async (): Promise<CutBatch> => {
    await source.rejectIfChanged();
    const batch = {
      body: Buffer.from(texts.join("")),
      rows: Uint32Array.from(parts, ({ row }) => row),
      lines: Uint32Array.from(parts, ({ line }) => line),
      references: parts.map(({ reference }) => reference),
      memo: packMemos(parts.map(({ memo }) => memo)),
    };
    texts = [];
    parts = [];
    bytes = 0;
    return batch;
  };
  for await (const one of decided) {
    if (one.decision.kind !== "send") {
      onKept(one);
      continue;
    }
    const { images, memo } = one.decision;
    const text = `${JSON.stringify(await serviceRow(one.weighed.row, images, imageIdOf))}\n`;
    const size = Buffer.byteLength(text);
    if (parts.length === limits.importRows.max || bytes + size > limits.importBatchBytes) yield await cut();
    texts.push(text);
    parts.push({ row: one.row, line: one.line, reference: one.reference, memo });
    bytes += size;
  }
  if (parts.length > 0) yield await cut();
}

/**
 * The row in the form of the service (Imports, Row fields): only the images to send, with the image IDs of
 * local photos.
 */
async function serviceRow(
  row: FileRow,
  images: readonly FileImage[],
  imageIdOf: CutDeps["imageIdOf"],
): Promise<object> {
  if (images.length === row.images.length && images.every(({ path }) => path === undefined)) return row;
  const sent: object[] = [];
  for (const image of images) {
    if (image.path === undefined) sent.push(image);
    else {
      const { path, ...rest } = image;
      sent.push({ image_id: await imageIdOf(path), ...rest });
    }
  }
  return { ...row, images: sent };
}
