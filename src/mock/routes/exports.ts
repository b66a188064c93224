import { limits } from "../../contract/limits.ts";
import { type ExportJob, parseRoles } from "../../contract/resources/exports.ts";
import { startExport } from "../exports/export-job.ts";
import { exportRow } from "../exports/export-rows.ts";
import { signedPaths } from "../images/signed-urls.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { found, Rejection } from "../rules/rejection.ts";
import type { Organization } from "../store/organization.ts";
import { listedPhotos } from "../store/product-changes.ts";
import type { ExportedProduct, ExportRecord, ProductRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

export const exports = {
  list({ world, organization, query }) {
    const { role, since } = query;
    const roles = role === undefined ? null : parseRoles(role);
    const from = since === undefined ? null : Date.parse(since);
    const list = `${organization.name} exports.list ${roles?.join() ?? "all"} ${from ?? "live"}`;
    const { products } = organization;
    const entries = (after: number | null) =>
      madeByApi(from === null ? products.newestFirst(after) : products.changedSince(from, after));
    const now = world.clock.now();
    const shownRow = (product: ApiProduct) => {
      const listed = { ...product, images: listedPhotos(organization, product) };
      return exportRow(world, organization, listed, roles, now);
    };
    return { body: world.cursors.page(list, query, entries, ({ order }) => order, shownRow) };
  },

  create({ world, organization, body }) {
    const { format, product_ids, role } = body.value;
    const { products } = organization;
    const selected = product_ids === undefined ? newest(organization) : named(organization, product_ids);
    const frozen = selected.map((product) => products.frozen(product, () => freeze(organization, product)));
    const job = startExport(world, organization, frozen, { format, roles: role ?? null });
    return { body: shown(world, job), retryAfter: world.pollSeconds(job) };
  },

  get({ world, organization, params }) {
    const job = found(organization.exports.get(params.export_id), "export");
    return { body: shown(world, job), retryAfter: world.pollSeconds(job) };
  },
} satisfies Handlers["exports"];

/** The job as the service shows it, with a newly signed URL on every read (ExportJob). */
function shown(world: World, job: ExportRecord): ExportJob {
  const { id, format, status, total_assets, error, created_at, finished_at } = job;
  const path = format === "zip" ? signedPaths.exportImages(id) : signedPaths.exportManifest(id);
  const { url, url_expires_at } =
    status === "completed" ? world.sign(path) : { url: null, url_expires_at: null };
  return { id, format, status, url, url_expires_at, total_assets, error, created_at, finished_at };
}

/** A product with a reference. "Only products created through the API are visible" (Exports). */
type ApiProduct = ProductRecord & { readonly reference: string };

const isMadeByApi = (product: ProductRecord): product is ApiProduct => product.reference !== null;

function* madeByApi(products: Iterable<ProductRecord>): Generator<ApiProduct> {
  for (const product of products) if (isMadeByApi(product)) yield product;
}

/** "The whole catalogue visible to the API (same cap of 500)": the newest products. */
function newest(organization: Organization): ApiProduct[] {
  const selected: ApiProduct[] = [];
  for (const product of madeByApi(organization.products.newestFirst(null))) {
    if (selected.length === limits.exportProducts) break;
    selected.push(product);
  }
  return selected;
}

/** The distinct products with these IDs, in order; 404 for the first that does not exist. */
function named(organization: Organization, ids: readonly string[]): ApiProduct[] {
  const selected = new Set<ApiProduct>();
  for (const [index, id] of ids.entries()) {
    const product = organization.products.get(id);
    if (product === undefined || !isMadeByApi(product)) {
      const param = `product_ids[${index}]`;
      throw new Rejection("product_not_found", `product ${id.slice(0, 100)} not found`, { param });
    }
    selected.add(product);
  }
  return [...selected];
}

/** A copy of the product fields that an export row needs, unaffected by later changes. */
function freeze(organization: Organization, product: ApiProduct): ExportedProduct {
  const { id, reference, name, sex, generations } = product;
  const photos = listedPhotos(organization, product);
  const images = photos.map((image) => ({ id: image.id, orientation: image.orientation }));
  return { id, reference, name, sex, images, generations };
}
