import type { ExportRow } from "../../../contract/resources/export.ts";

const productColumns = ["product_id", "reference", "name", "sex", "deleted_at"] as const;

/** Fields of an asset that are columns of their own, between its ID and its attributes. */
const plainFields = [
  "role",
  "url",
  "url_expires_at",
  "mime_type",
  "width",
  "height",
  "ai_generated",
  "watermarked",
  "derived",
  "created_at",
  "task_id",
] as const;

/** The attributes that the specification names (Asset, `attributes`); all others share the column `attributes`. */
const knownAttributes = ["orientation", "angle_shot", "background", "model_id", "edit_number"] as const;

/** The columns of a CSV export, in order. New ones are added at the end. */
export const assetColumns = [
  ...productColumns,
  "asset_id",
  ...plainFields,
  ...knownAttributes,
  "attributes",
  "also_features",
  "suggested_filename",
] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The CSV rows of a product: one per asset; one without an asset for a deleted product; none for a product
 * without assets. The client does not check these fields, so any of them may be missing or of another type.
 */
export function assetCells({ product, assets }: ExportRow): string[][] {
  const { id, reference, name, sex, deleted_at } = product;
  const ofProduct = [id, reference, name, sex, deleted_at].map(cell);
  if (deleted_at !== null) {
    return [[...ofProduct, ...assetColumns.slice(ofProduct.length).map(() => "")]];
  }
  return listOf(assets).map((asset) => [...ofProduct, ...cellsOf(fieldsOf(asset))]);
}

function cellsOf(asset: Fields): string[] {
  const attributes = fieldsOf(asset.attributes);
  const others = Object.entries(attributes).filter(([name]) => !isKnown(name));
  const features = asset.also_features;
  return [
    cell(asset.id),
    ...plainFields.map((name) => cell(asset[name])),
    ...knownAttributes.map((name) => cell(attributes[name])),
    others.length === 0 ? "" : JSON.stringify(Object.fromEntries(others)),
    Array.isArray(features) ? features.map(cell).join("|") : cell(features),
    cell(asset.suggested_filename),
  ];
}

const isKnown = (name: string): boolean => (knownAttributes as readonly string[]).includes(name);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const cell = (value: unknown): string =>
  typeof value === "string"
    ? value
    : value === null || value === undefined
      ? ""
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
