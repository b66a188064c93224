import type { ExportRow } from "../../../contract/resources/exports.ts";
import { CatError } from "../../../errors.ts";
import { parseJson } from "../../../json.ts";
import type { ReviewDecision } from "../../../state/decisions.ts";

/** A line of the index: an asset and its file, with the field names of the service. */
export interface MirrorEntry {
  readonly product_id: string;
  readonly asset_id: string;
  readonly reference: string | null;
  readonly name: string | null;
  /** Missing in an entry of an earlier version of this program. */
  readonly sex?: string | null;
  readonly role: string;
  /** The file, relative to the folder of the index, with `/` between folders. */
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** The type of the bytes. */
  readonly mime_type: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly ai_generated: boolean | null;
  readonly watermarked: boolean;
  readonly derived: boolean;
  readonly created_at: string | null;
  readonly task_id: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly also_features: readonly string[];
  readonly suggested_filename: string | null;
  readonly decision?: "approve" | "reject" | undefined;
  /** When it was decided (RFC 3339), and by whom. Missing in older entries. */
  readonly decided_at?: string | undefined;
  readonly reviewer?: string | undefined;
  /** The digest of the bytes as sent, if the file differs because it has a label. */
  readonly sent_sha256?: string | undefined;
  /** The ETag of its object, without quotes. Missing in older entries. */
  readonly etag?: string | undefined;
  /** Set while the file is missing or damaged: the next run downloads it again. */
  readonly damaged?: true;
  /** Set if the catalogue no longer has the asset and its file was kept. */
  readonly removed?: true;
}

/** Identifies an asset of a product: a photo may be attached to several products. */
export type EntryKey = Pick<MirrorEntry, "product_id" | "asset_id">;

export const toEntryKey = ({ product_id, asset_id }: EntryKey): string => `${product_id} ${asset_id}`;

/** The line of an entry: fields in a fixed order, so that equal entries are equal lines. */
export function toLine(entry: MirrorEntry): string {
  const { attributes, sent_sha256, etag, damaged, removed } = entry;
  return JSON.stringify({
    product_id: entry.product_id,
    asset_id: entry.asset_id,
    reference: entry.reference,
    name: entry.name,
    sex: entry.sex ?? null,
    role: entry.role,
    path: entry.path,
    bytes: entry.bytes,
    sha256: entry.sha256,
    mime_type: entry.mime_type,
    width: entry.width,
    height: entry.height,
    ai_generated: entry.ai_generated,
    watermarked: entry.watermarked,
    derived: entry.derived,
    created_at: entry.created_at,
    task_id: entry.task_id,
    attributes: Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))),
    also_features: entry.also_features,
    suggested_filename: entry.suggested_filename,
    // Undefined fields have no place in JSON.
    decision: entry.decision,
    decided_at: entry.decided_at,
    reviewer: entry.reviewer,
    ...(sent_sha256 !== undefined && { sent_sha256 }),
    ...(etag !== undefined && { etag }),
    ...(damaged === true && { damaged }),
    ...(removed === true && { removed }),
  });
}

/** Reads a line of the index; null if it is not one. */
export function parseLine(line: string): MirrorEntry | null {
  try {
    const entry = parseJson(line) as MirrorEntry;
    const { product_id, asset_id, path, bytes, sha256, attributes } = entry;
    const isEntry =
      [product_id, asset_id, path, sha256].every((field) => typeof field === "string" && field !== "") &&
      Number.isSafeInteger(bytes) &&
      typeof attributes === "object";
    return isEntry ? entry : null;
  } catch {
    return null;
  }
}

/** An asset as the service lists it: its fields in the index, and where its bytes are. */
export interface ListedAsset {
  /** `mime_type` is the announced one. */
  readonly fields: Omit<
    MirrorEntry,
    "path" | "bytes" | "sha256" | "sent_sha256" | "etag" | "damaged" | "removed"
  >;
  readonly url: string;
}

export type ReviewFields = Pick<MirrorEntry, "decision" | "decided_at" | "reviewer">;

/** The fields of the decision about the image of a task; undefined without one. */
export function toReviewFields(review: ReviewDecision | null): ReviewFields {
  const { decision, at, reviewer } = review ?? {};
  const decided_at = at === undefined ? undefined : new Date(at).toISOString();
  return { decision, decided_at, reviewer: reviewer || undefined };
}

type DecisionOf = (taskId: string | null) => ReviewDecision | null;

/** The assets of a row, unchecked fields. Throws (bad_response) without a list: all would look removed. */
export function listedAssets({ product, assets }: ExportRow, findDecision: DecisionOf): ListedAsset[] {
  if (!isUsableId(product.id)) throw badRow(`a product with the invalid ID ${shown(product.id)}`);
  if (product.deleted_at !== null) return [];
  if (!Array.isArray(assets)) throw badRow(`product ${product.id} without a list of assets`);
  return (assets as unknown as (Record<string, unknown> | null)[]).map((asset) =>
    toAsset(product, asset, findDecision),
  );
}

function toAsset(
  product: ExportRow["product"],
  asset: Record<string, unknown> | null,
  findDecision: DecisionOf,
): ListedAsset {
  const { id, also_features } = asset ?? {};
  if (asset === null || !isUsableId(id)) {
    const what = asset === null ? "a missing asset" : `the invalid asset ID ${shown(id)}`;
    throw badRow(`product ${product.id} with ${what}`);
  }
  const task_id = text(asset.task_id);
  return {
    fields: {
      product_id: product.id,
      asset_id: id,
      reference: text(product.reference),
      name: text(product.name),
      sex: text(product.sex),
      role: text(asset.role) ?? "",
      mime_type: text(asset.mime_type) ?? "",
      width: number(asset.width),
      height: number(asset.height),
      ai_generated: typeof asset.ai_generated === "boolean" ? asset.ai_generated : null,
      watermarked: asset.watermarked === true,
      derived: asset.derived === true,
      created_at: text(asset.created_at),
      task_id,
      attributes: object(asset.attributes),
      also_features: Array.isArray(also_features) ? also_features.filter((id) => typeof id === "string") : [],
      suggested_filename: text(asset.suggested_filename),
      ...toReviewFields(findDecision(task_id)),
    },
    url: text(asset.url) ?? "",
  };
}

/** IDs are ULIDs, which are part of names and keys: any other text of letters and digits would do as well. */
const isUsableId = (id: unknown): id is string => typeof id === "string" && /^[\w-]{1,64}$/.test(id);

const shown = (id: unknown): string => (JSON.stringify(id) ?? "undefined").slice(0, 80);
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const number = (value: unknown): number | null => (typeof value === "number" ? value : null);
const object = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

const badRow = (what: string): CatError =>
  new CatError(`the service sent ${what}`, {
    type: "bad_response",
    code: "bad_row",
    hint: "Run the command again. If it fails again, report this message to the service.",
  });

type Versioned = Pick<MirrorEntry, "created_at" | "watermarked" | "derived" | "attributes">;

/** Differs between versions of an asset: its ID stays when its bytes are replaced (ExportRow). */
export const toVersion = ({ created_at, watermarked, derived, attributes }: Versioned): string =>
  JSON.stringify([created_at, watermarked, derived, attributes.edit_number ?? null]);
