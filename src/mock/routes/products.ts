import { isLongerThan } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { found, invalid, Rejection } from "../rules/rejection.ts";
import type { Organization } from "../store/organization.ts";
import { attach, changeProduct, detach, type Photo, rejectTaken, remove } from "../store/product-changes.ts";
import { foldCase } from "../store/product-list.ts";
import type { ProductRecord } from "../store/records.ts";

export const products = {
  create({ world, organization, body }) {
    if (world.options.strictSlugs) rejectLongFields(body.value);
    const { name, reference, description, sex, images } = body.value;
    const photos = findPhotos(organization, images);
    rejectTaken(organization, reference);
    const now = world.timestamp();
    const product = organization.products.add({
      id: world.ids.next(),
      name,
      reference,
      description: description ?? null,
      sex: sex ?? null,
      images: [],
      created_at: now,
      updated_at: now,
    });
    attach(organization, product, photos, now);
    return { body: shownProduct(product) };
  },

  // The specification does not state the order of this list; the other lists have the newest first.
  list({ world, organization, query }) {
    const { q = "" } = query;
    const words = parseWords(q);
    const list = `${organization.name} products.list ${words.join(" ")}`;
    const { products } = organization;
    const entries = (after: number | null) =>
      words.length === 0 ? products.newestFirst(after) : products.withWords(words, after);
    return { body: world.cursors.page(list, query, entries, ({ order }) => order, shownProduct) };
  },

  get({ organization, params }) {
    const product = found(organization.products.get(params.product_id), "product");
    return { json: organization.products.printed(product, print) };
  },

  update({ world, organization, params, body }) {
    if (world.options.strictSlugs) rejectLongFields(body.value);
    const product = found(organization.products.get(params.product_id), "product");
    changeProduct(organization, product, body.value, world.timestamp());
    return { body: shownProduct(product) };
  },

  delete({ world, organization, params }) {
    const product = found(organization.products.get(params.product_id), "product");
    remove(organization, product, world.timestamp());
    return { body: null };
  },

  attach({ world, organization, params, body }) {
    if (world.options.strictSlugs) rejectLongFields(body.value);
    const product = found(organization.products.get(params.product_id), "product");
    const photos = findPhotos(organization, body.value.images);
    return { body: attach(organization, product, photos, world.timestamp()) };
  },

  detach({ world, organization, params }) {
    const product = found(organization.products.get(params.product_id), "product");
    detach(organization, product, params.image_id, world.timestamp());
    return { body: null };
  },
} satisfies Handlers["products"];

/** The product as the service shows it, without the internal fields of its record. */
export const shownProduct = (record: ProductRecord): Product => ({
  id: record.id,
  name: record.name,
  reference: record.reference,
  description: record.description,
  sex: record.sex,
  images: record.images,
  created_at: record.created_at,
  updated_at: record.updated_at,
});

const print = (record: ProductRecord): string => JSON.stringify(shownProduct(record));

/** The images named in a request; 404 for the first that the organization does not have. */
function findPhotos(
  organization: Organization,
  images: readonly { image_id: string; orientation: Photo["orientation"] }[],
): Photo[] {
  return images.map(({ image_id, orientation }, index) => {
    if (!organization.images.has(image_id)) {
      const param = `images[${index}].image_id`;
      throw new Rejection("image_not_found", `image ${image_id.slice(0, 100)} not found`, { param });
    }
    return { id: image_id, orientation };
  });
}

const parseWords = (q: string): string[] => [...new Set(foldCase(q).split(/\s+/).filter(Boolean))];

interface ProductFields {
  readonly reference?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly images?: readonly unknown[];
}

const longest = [
  ["reference", limits.referenceLength.max],
  ["name", limits.nameLength.max],
  ["description", limits.descriptionLength.max],
] as const;

/** Rejects fields longer than those of an import row; the specification states no limits for products. */
function rejectLongFields(fields: ProductFields): void {
  for (const [field, most] of longest) {
    const value = fields[field];
    if (typeof value === "string" && isLongerThan(value, most))
      throw invalid(`${field} must have at most ${most} characters`, field);
  }
  const { max } = limits.imagesPerProduct;
  if ((fields.images?.length ?? 0) > max) throw invalid(`images must have at most ${max} entries`, "images");
}
