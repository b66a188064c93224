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
interface Place {
  readonly world: World;
  readonly organization: Organization;
  readonly ids: Ids;
  /** The fetched images; null if nothing is fetched. */
  readonly images: RowImages | null;
}

/** Imports one row and returns its result (Imports, rules 2 to 4). A failed row leaves nothing behind. */
export function settleRow(
  place: Place,
  job: Pick<ImportJob, "mode" | "on_image_error">,
  line: number,
  row: AcceptedRow,
): ImportRowResult {
  const { world, organization } = place;
  const { reference } = row;
  const existing = organization.products.withReference(reference);
  if (existing !== undefined && job.mode === "skip_existing") {
    // "Left untouched; row reported skipped": its images are not checked.
    const product_id = existing.id;
    return {
      line,
      reference,
      status: "succeeded",
      action: "skipped",
      product_id,
      images: [],
      error: null,
    };
  }
  const failed = (error: Problem, images: ImageResult[]): ImportRowResult => ({
    line,
    reference,
    status: "failed",
    action: "none",
    product_id: null,
    images,
    error,
  });
  if (existing !== undefined && job.mode === ("create" satisfies ImportMode)) {
    const problem = { code: "reference_already_exists", message: "another product has this reference" };
    return failed(
      problem,
      row.images.map((image, index) => notAttached(image, index, rowFailed)),
    );
  }
  const sought = row.images.map((image, index) => seekImage(place, image, index));
  const problems = sought.filter((image) => "problem" in image).length;
  if (problems === sought.length || (problems > 0 && job.on_image_error === "fail_row")) {
    const error = {
      code: "image_failed",
      message: `${problems} of ${sought.length} images could not be attached`,
    };
    return failed(
      error,
      sought.map((image, index) =>
        notAttached(row.images[index]!, index, "problem" in image ? image.problem : rowFailed),
      ),
    );
  }
  const now = world.timestamp();
  const product = existing ?? createProduct(place, row, now);
  if (existing !== undefined) changeProduct(organization, existing, toFields(row), now);
  const images = sought.map((image, index) =>
    "problem" in image
      ? notAttached(row.images[index]!, index, image.problem)
      : attachImage(place, product, row.images[index]!, index, image, now),
  );
  return {
    line,
    reference,
    status: problems > 0 ? "partial" : "succeeded",
    action: existing === undefined ? "created" : "updated",
    product_id: product.id,
    images,
    error: null,
  };
}

/** The problem of a valid image in a failed row (Imports, rule 4: discard images already fetched). */
const rowFailed: Problem = { code: "row_failed", message: "the row failed, so its images were discarded" };

/** The fields that an upsert sets: always the name, others if present. */
const toFields = ({ name, description, sex }: AcceptedRow) => ({ name, description, sex });

function createProduct({ organization, ids }: Place, row: AcceptedRow, now: string): ProductRecord {
  const { name, reference, description = null, sex = null } = row;
  const id = ids.next();
  const stamps = { created_at: now, updated_at: now };
  return organization.products.add({ id, name, reference, description, sex, images: [], ...stamps });
}

function attachImage(
  place: Place,
  product: ProductRecord,
  image: RowImage,
  index: number,
  lookup: Found,
  now: string,
): ImageResult {
  const orientation = toOrientation(image);
  const record = keepImage(place, lookup, { now, product, orientation });
  attach(place.organization, product, [{ id: record.id, orientation }], now);
  return { ...described(image, index), status: "attached", image_id: record.id };
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
