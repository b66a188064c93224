import type { ExportRow } from "../../../../contract/resources/export.ts";
import { CatError } from "../../../../errors.ts";
import type { MirrorEntry } from "../index/mirror-entry.ts";

/** An asset as the service lists it: what the index says of it, and where its bytes are. */
export interface ListedAsset {
  /** `mime_type` is the announced one. */
  readonly fields: Omit<MirrorEntry, "path" | "bytes" | "sha256" | "damaged" | "removed">;
  readonly url: string;
}

/**
 * The assets of a row. The client checks only IDs, so any other field may be missing or of another type. Throws a
 * CatError of type bad_answer for a row without a list of assets: it would look as if all of them were removed.
 */
export function listedAssets({ product, assets }: ExportRow): ListedAsset[] {
  if (!isUsableId(product.id)) throw badRow(`a product with the invalid ID ${shown(product.id)}`);
  if (product.deleted_at !== null) return [];
  if (!Array.isArray(assets)) throw badRow(`product ${product.id} without a list of assets`);
  return (assets as unknown as (Record<string, unknown> | null)[]).map((asset) => assetOf(product, asset));
}

function assetOf(product: ExportRow["product"], asset: Record<string, unknown> | null): ListedAsset {
  const { id } = asset ?? {};
  if (asset === null || !isUsableId(id)) {
    const what = asset === null ? "a missing asset" : `the invalid asset ID ${shown(id)}`;
    throw badRow(`product ${product.id} with ${what}`);
  }
  return {
    fields: {
      product_id: product.id,
      asset_id: id,
      reference: text(product.reference),
      name: text(product.name),
      role: text(asset.role) ?? "",
      mime_type: text(asset.mime_type) ?? "",
      width: number(asset.width),
      height: number(asset.height),
      ai_generated: typeof asset.ai_generated === "boolean" ? asset.ai_generated : null,
      watermarked: asset.watermarked === true,
      derived: asset.derived === true,
      created_at: text(asset.created_at),
      task_id: text(asset.task_id),
      attributes: mapOf(asset.attributes),
      also_features: Array.isArray(asset.also_features)
        ? asset.also_features.filter((id) => typeof id === "string")
        : [],
      suggested_filename: text(asset.suggested_filename),
    },
    url: text(asset.url) ?? "",
  };
}

/** IDs are ULIDs, which are part of names and keys: any other text of letters and digits would do as well. */
const isUsableId = (id: unknown): id is string => typeof id === "string" && /^[\w-]{1,64}$/.test(id);

const shown = (id: unknown): string => (JSON.stringify(id) ?? "undefined").slice(0, 80);

const badRow = (what: string): CatError =>
  new CatError(`the service sent ${what}`, {
    type: "bad_answer",
    code: "bad_row",
    hint: "Run the command again. If it fails again, report this message to the service.",
  });

type Versioned = Pick<MirrorEntry, "created_at" | "watermarked" | "derived" | "attributes">;

/**
 * Whether two states of an asset have the same bytes: an ID is permanent, but an edit or a change of the plan replaces
 * the bytes (ExportRow).
 */
export const isSameVersion = (one: Versioned, other: Versioned): boolean =>
  one.created_at === other.created_at &&
  one.watermarked === other.watermarked &&
  one.derived === other.derived &&
  JSON.stringify(one.attributes.edit_number) === JSON.stringify(other.attributes.edit_number);

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const number = (value: unknown): number | null => (typeof value === "number" ? value : null);
const mapOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
