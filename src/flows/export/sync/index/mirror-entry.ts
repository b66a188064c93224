/** A line of the index: an asset of a product, and its file. Field names are the service's own where it has them. */
export interface MirrorEntry {
  readonly product_id: string;
  readonly asset_id: string;
  readonly reference: string | null;
  readonly name: string | null;
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
  /** Set while the file is missing or damaged: the next run downloads it again. */
  readonly damaged?: true;
  /** Set if the catalogue no longer has the asset and its file was kept. */
  readonly removed?: true;
}

/** What tells an asset of a product: a photo may be attached to several products. */
export const keyOf = ({ product_id, asset_id }: Pick<MirrorEntry, "product_id" | "asset_id">): string =>
  `${product_id} ${asset_id}`;

/** The line of an entry, without its line end: fields in a fixed order, so that equal entries are equal lines. */
export function lineOf(entry: MirrorEntry): string {
  const { product_id, asset_id, reference, name, role, path, bytes, sha256, mime_type } = entry;
  const { width, height, ai_generated, watermarked, derived, created_at, task_id } = entry;
  const { attributes, also_features, suggested_filename, damaged, removed } = entry;
  return JSON.stringify({
    ...{ product_id, asset_id, reference, name, role, path, bytes, sha256, mime_type },
    ...{ width, height, ai_generated, watermarked, derived, created_at, task_id },
    attributes: sorted(attributes),
    ...{ also_features, suggested_filename },
    ...(damaged === true && { damaged }),
    ...(removed === true && { removed }),
  });
}

/** How the lines of kept entries end. */
export const removedEnding = ',"removed":true}';

const sorted = (map: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const names = Object.keys(map);
  if (names.every((name, at) => at === 0 || names[at - 1]! < name)) return map;
  return Object.fromEntries(names.sort().map((name) => [name, map[name]]));
};

/** Reads a line of the index; null if it is not one. */
export function entryOf(line: string): MirrorEntry | null {
  try {
    const entry = JSON.parse(line) as MirrorEntry;
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
