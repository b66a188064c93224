import type { ImportRowResult } from "../../contract/resources/imports.ts";
import type { ImportMode, Orientation } from "../../contract/value-sets.ts";
import type { Ids } from "../seed/seed.ts";
import type { Organization } from "../store/organization.ts";
import { attach, changeProduct } from "../store/product-changes.ts";
import type { AcceptedRow, ImportJob, ProductRecord, RowImage } from "../store/records.ts";
import type { World } from "../world/world.ts";
import { type Found, keepImage, type Problem, type RowImages, seekImage } from "./row-images.ts";

type ImageResult = ImportRowResult["images"][number];

/** The context of a row: where it is imported, and the IDs reserved for it. */
interface RowContext {
  readonly world: World;
  readonly organization: Organization;
  readonly ids: Ids;
  /** The fetched images; null if nothing is fetched. */
  readonly images: RowImages | null;
}

/** Imports one row and returns its result (Imports, rules 2 to 4). A failed row leaves nothing behind. */
export function importRow(
  place: RowContext,
  job: Pick<ImportJob, "mode" | "on_image_error">,
  line: number,
  row: AcceptedRow,
): ImportRowResult {
  const existing = place.organization.products.withReference(row.reference);
  // "Left untouched; row reported skipped": its images are not checked.
  if (existing !== undefined && job.mode === "skip_existing")
    return toResult(line, row, { action: "skipped", product_id: existing.id });
  if (existing !== undefined && job.mode === ("create" satisfies ImportMode)) {
    const error = { code: "reference_already_exists", message: "another product has this reference" };
    return toResult(line, row, {
      error,
      images: row.images.map((image, at) => notAttached(image, at, rowFailed)),
    });
  }
  const found = row.images.map((image, index) => seekImage(place, image, index));
  const problems = found.filter((image) => "problem" in image).length;
  if (problems === found.length || (problems > 0 && job.on_image_error === "fail_row")) {
    const message = `${problems} of ${found.length} images could not be attached`;
    const images = found.map((image, index) =>
      notAttached(row.images[index]!, index, "problem" in image ? image.problem : rowFailed),
    );
    return toResult(line, row, { error: { code: "image_failed", message }, images });
  }
  const now = place.world.timestamp();
  const product = existing ?? createProduct(place, row, now);
  if (existing !== undefined) changeProduct(place.organization, existing, toFields(row), now);
  const images = found.map((image, index) =>
    "problem" in image
      ? notAttached(row.images[index]!, index, image.problem)
      : attachImage(place, product, { ...described(row.images[index]!, index), found: image }, now),
  );
  const action = existing === undefined ? "created" : "updated";
  return toResult(line, row, { action, product_id: product.id, images });
}

/** The result of a row: failed with an error, partial if an image failed. */
function toResult(
  line: number,
  { reference }: AcceptedRow,
  { action = "none", product_id = null, images = [], error = null }: Partial<ImportRowResult>,
): ImportRowResult {
  const isPartial = images.some(({ status }) => status === "failed");
  const status = error !== null ? "failed" : isPartial ? "partial" : "succeeded";
  return { line, reference, status, action, product_id, images, error };
}

/** The problem of a valid image in a failed row (Imports, rule 4: discard images already fetched). */
const rowFailed: Problem = { code: "row_failed", message: "the row failed, so its images were discarded" };

/** The fields that an upsert sets: always the name, others if present. */
const toFields = ({ name, description, sex }: AcceptedRow) => ({ name, description, sex });

function createProduct({ organization, ids }: RowContext, row: AcceptedRow, now: string): ProductRecord {
  const { name, reference, description = null, sex = null } = row;
  const id = ids.next();
  const stamps = { created_at: now, updated_at: now };
  return organization.products.add({ id, name, reference, description, sex, images: [], ...stamps });
}

function attachImage(
  place: RowContext,
  product: ProductRecord,
  { found, ...image }: ReturnType<typeof described> & { readonly found: Found },
  now: string,
): ImageResult {
  const { orientation } = image;
  const { id } = keepImage(place, found, { now, product, orientation });
  attach(place.organization, product, [{ id, orientation }], now);
  return { ...image, status: "attached", image_id: id };
}

const notAttached = (image: RowImage, index: number, error: Problem): ImageResult => ({
  ...described(image, index),
  status: "failed",
  error,
});

const described = (image: RowImage, index: number) => ({
  index,
  source: image.url ?? image.image_id!,
  orientation: toOrientation(image),
});

/** "Omitted leaves the photo unlabeled" (Imports, Row fields). */
const toOrientation = (image: RowImage): Orientation =>
  (image.orientation as Orientation | undefined) ?? "unlabeled";
