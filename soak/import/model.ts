import type { SoakImage, SoakRow } from "./rows.ts";
import type { Scenario } from "./scenario.ts";

/** A product at the service, as far as an import determines it. */
export interface ProductFacts {
  name: string;
  description: string | null;
  sex: string | null;
  /** The source of each photo: a URL, or a digest of the file's content. */
  sources: string[];
}

/** The products by reference, and the sources attached to each from this machine. */
export interface Shop {
  readonly products: Map<string, ProductFacts>;
  readonly ledger: Map<string, Set<string>>;
}

/** The expected result of a row; `missing` are the images that its row of the failed file has. */
export interface RowFate {
  readonly reference: string;
  readonly kind: "created" | "updated" | "patched" | "unchanged" | "skipped" | "failed" | "conflict";
  readonly missing: readonly SoakImage[];
}

export type Options = Pick<Scenario, "mode" | "onImageError" | "photos">;

/** Identifies images of rows as the service and the ledger do. */
export type SourceOf = (image: SoakImage) => string;

/**
 * The effect of one uninterrupted import of the rows on a shop: the plain rules of the specification
 * (Imports, rules 2 to 4), without photos attached from this machine before (interface, import).
 */
export function importInto(
  shop: Shop,
  rows: readonly SoakRow[],
  options: Options,
  sourceOf: SourceOf,
): RowFate[] {
  return rows.map((row) => importRow(shop, row, options, sourceOf));
}

function importRow({ products, ledger }: Shop, row: SoakRow, options: Options, sourceOf: SourceOf): RowFate {
  const { reference, name, description, sex, images } = row;
  const product = products.get(reference);
  const isConflict = isUncertain(product, ledger.get(reference), row, options, sourceOf);
  if (isConflict) return { reference, kind: "conflict", missing: images };
  const given = {
    name,
    ...(description === undefined ? {} : { description }),
    ...(sex === undefined ? {} : { sex }),
  };
  const known = options.mode === "upsert" && options.photos !== "all" ? ledger.get(reference) : undefined;
  const sent = images.filter((image) => !known?.has(sourceOf(image)));
  if (known !== undefined && sent.length === 0) {
    const isSame = Object.entries(given).every(([field, value]) => product![field as "name"] === value);
    Object.assign(product!, given);
    return { reference, kind: isSame ? "unchanged" : "patched", missing: [] };
  }
  if (product !== undefined && options.mode === "skip_existing")
    return { reference, kind: "skipped", missing: [] };
  const bad = sent.filter((image) => "url" in image && image.url.includes("/fail-"));
  const isRefused = product !== undefined && options.mode === "create";
  const areAllBad = bad.length === sent.length;
  if (isRefused || areAllBad || (bad.length > 0 && options.onImageError === "fail_row")) {
    return { reference, kind: "failed", missing: images };
  }
  const changed = product ?? { name, description: null, sex: null, sources: [] };
  Object.assign(changed, given);
  for (const image of sent) {
    if (bad.includes(image)) continue;
    const source = sourceOf(image);
    // An uploaded image is on a product once (Products, detach: a link is named by product and image).
    if ("url" in image || !changed.sources.includes(source)) changed.sources.push(source);
    ledger.set(reference, new Set([...(ledger.get(reference) ?? []), source]));
  }
  products.set(reference, changed);
  return { reference, kind: product === undefined ? "created" : "updated", missing: bad };
}

/** Whether the row has a URL, which cannot be fetched from here, and its product a photo of unknown origin to compare with. */
function isUncertain(
  product: ProductFacts | undefined,
  known: ReadonlySet<string> | undefined,
  { images }: SoakRow,
  { mode, photos }: Options,
  sourceOf: SourceOf,
): boolean {
  if (product === undefined || mode !== "upsert" || photos === "all") return false;
  if (product.sources.every((source) => known?.has(source))) return false;
  return images.some((image) => "url" in image && !known?.has(sourceOf(image)));
}

/** The counts of the summary for these results. */
export function countsOf(fates: readonly RowFate[]) {
  const count = (test: (fate: RowFate) => boolean) => fates.filter(test).length;
  const isPartial = ({ kind, missing }: RowFate) =>
    kind !== "failed" && kind !== "conflict" && missing.length > 0;
  const unchanged = count(({ kind }) => kind === "unchanged");
  const failed = count(({ kind }) => kind === "failed");
  const conflicts = count(({ kind }) => kind === "conflict");
  const partial = count(isPartial);
  return {
    ...{ total: fates.length, invalid: 0, submitted: fates.length - unchanged - conflicts },
    ...{ succeeded: fates.length - unchanged - conflicts - failed - partial, partial, failed, conflicts },
    created: count(({ kind }) => kind === "created"),
    updated: count(({ kind }) => kind === "updated" || kind === "patched"),
    skipped: count(({ kind }) => kind === "skipped"),
    unchanged,
  };
}
