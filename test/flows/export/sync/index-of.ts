import { type MirrorEntry, toLine } from "../../../../src/flows/export/sync/mirror-entry.ts";
import { MirrorIndex } from "../../../../src/flows/export/sync/mirror-index.ts";
import { loadConnect } from "../../../../src/state/sqlite.ts";
import { idOf } from "./fake-catalogue.ts";

/** An entry with these fields; products and assets are numbers. */
export function entryWith({
  product,
  asset,
  ...fields
}: { product: number; asset: number } & Partial<MirrorEntry>): MirrorEntry {
  return {
    ...{ product_id: idOf(product), asset_id: idOf(asset), reference: `P-${product}`, name: null, sex: null },
    ...{ role: "source", path: `${product}-${asset}.jpg`, bytes: 4, sha256: "0".repeat(64) },
    ...{ mime_type: "image/jpeg", width: null, height: null, ai_generated: false, watermarked: false },
    ...{ derived: false, created_at: null, task_id: null, attributes: {}, also_features: [] },
    ...{ suggested_filename: null, ...fields },
  };
}

/** The file of an index with these entries, in any order. */
export function fileOf(entries: readonly MirrorEntry[]): Buffer {
  const byKey = new Map(entries.map((entry) => [`${entry.product_id} ${entry.asset_id}`, entry]));
  const keys = [...byKey.keys()].sort();
  return Buffer.from(keys.map((key) => `${toLine(byKey.get(key)!)}\n`).join(""));
}

export const connect = await loadConnect();

export function mirrorIndexOf(entries: readonly MirrorEntry[]): MirrorIndex {
  const index = MirrorIndex.open(connect(null))!;
  for (const entry of entries) index.set(entry);
  return index;
}
