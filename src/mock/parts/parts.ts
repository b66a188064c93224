import { ulidPattern } from "../../contract/limits.ts";
import type { ExportAsset } from "../../contract/resources/exports.ts";
import type { Product } from "../../contract/resources/products.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import { drawnSize } from "../../mock-page/drawing/garments.ts";
import { productWords } from "../../mock-page/drawing/product-words.ts";
import { heldImages, toAsset } from "../exports/export-rows.ts";
import { shownModel } from "../routes/models.ts";
import { shownProduct } from "../routes/products.ts";
import type { ApiKeyState } from "../rules/api-keys.ts";
import { found, invalid, type Problem, Rejection } from "../rules/rejection.ts";
import { findModel, type Organization } from "../store/organization.ts";
import { attach, changeProduct, listedPhotos, rejectTaken } from "../store/product-changes.ts";
import type { ImageRecord, ModelRecord, ProductRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";
import {
  type AssetOrder,
  type CrashOrder,
  fixedFields,
  generatedOnly,
  type KeyOrder,
  type ModelOrder,
  type ProductOrder,
} from "./part-orders.ts";

export function putProduct(world: World, id: string, order: ProductOrder): Product {
  const organization = world.organizations[order.organization ?? "main"];
  const known = organization.products.get(id);
  if (known === undefined && organization.products.knows(id))
    throw invalid("this ID belongs to a deleted product; use another ID");
  const product =
    known === undefined ? create(world, organization, id, order) : change(world, organization, known, order);
  return shownProduct(product);
}

function create(world: World, organization: Organization, id: string, order: ProductOrder): ProductRecord {
  const now = world.timestamp();
  const { name = "Dashboard product", reference = null, description = null, sex = null } = order;
  const { images = [{ id: world.idFor("photo", id) }], created_at = now, updated_at = created_at } = order;
  if (reference !== null) rejectTaken(organization, reference);
  const added = images
    .filter((image) => !organization.images.has(image.id))
    .map((image) =>
      drawn(world, image.id, now, { id, name, reference, mime_type: "image/jpeg", side: image.orientation }),
    );
  for (const image of added) organization.images.set(image.id, image);
  const fields = { id, name, reference, description, sex, images: [], created_at, updated_at };
  const product = organization.products.add(fields);
  const photos = images.map((image) => ({ id: image.id, orientation: image.orientation ?? "front" }));
  for (const [at, link] of attach(organization, product, photos, now).entries()) {
    link.origin = images[at]?.origin ?? link.origin;
  }
  return product;
}

function change(
  world: World,
  organization: Organization,
  product: ProductRecord,
  order: ProductOrder,
): ProductRecord {
  const { name, reference, description, sex, images, created_at, updated_at } = order;
  if (images?.some(({ id }, at) => product.images[at]?.id !== id)) {
    throw invalid("images: change the photos of an existing product with /v1/products/{id}/images", "images");
  }
  changeProduct(organization, product, { name, reference, description, sex }, world.timestamp());
  if (created_at !== undefined) product.created_at = created_at;
  if (updated_at !== undefined) product.updated_at = updated_at;
  organization.products.changed(product, null);
  return product;
}

/**
 * A picture of a product that is drawn when its bytes are read. The ID must be unknown in every organization,
 * because signed URLs find an image by its ID alone.
 */
function drawn(
  world: World,
  id: string,
  created_at: string,
  {
    mime_type,
    side = "front",
    ...product
  }: Pick<ProductRecord, "id" | "name" | "reference"> & {
    mime_type: ImageRecord["mime_type"];
    side?: string | undefined;
  },
): ImageRecord {
  if (Object.values(world.organizations).some(({ images }) => images.has(id))) {
    throw invalid(`image ${id} belongs to the other organization: set organization, or use another ID`);
  }
  const words = productWords(product.name, product.reference ?? product.id);
  return {
    id,
    mime_type,
    created_at,
    ...drawnSize,
    bytes: null,
    subject: side,
    seed: id,
    words,
    generation: null,
  };
}

/** Adds an asset to a product, or changes the given fields of an image. */
export function putAsset(world: World, id: string, order: AssetOrder): ExportAsset {
  const organization = world.organizations[order.organization ?? "main"];
  const known = organization.images.get(id);
  const now = world.timestamp();
  const product = findHolder(organization, known, order);
  const base = known ?? created(world, product, id, order, now);
  reject(findProblems(product, known, order, base));
  const image = changed(base, order, known === undefined ? base.created_at : now);
  organization.images.set(id, image);
  if (known === undefined && image.generation === null) {
    attach(organization, product, [{ id, orientation: order.orientation ?? "front" }], now);
  } else if (known === undefined) {
    organization.products.addGeneration(product, id, now);
  } else if (image.edit_number !== known.edit_number) {
    // "An edit completed" is a change of the product; a new watermark is not (Exports, `since`).
    organization.products.changed(product, now);
  }
  const images = listedPhotos(organization, product);
  const listed = { ...product, reference: product.reference ?? product.name, images };
  const held = heldImages(organization, listed, null).find((candidate) => candidate.image === image);
  if (held === undefined) throw invalid("no product lists this image", "product_id");
  return toAsset(world, held, world.clock.now());
}

/** The product that lists the asset, or is to. */
function findHolder(
  organization: Organization,
  known: ImageRecord | undefined,
  order: AssetOrder,
): ProductRecord {
  const missing = (["product_id", "role"] as const).filter((field) => order[field] === undefined);
  if (known === undefined) {
    reject(missing.map((param) => ({ message: `${param}: a new asset needs it`, param })));
  }
  const id = known?.generation?.product_id ?? order.product_id;
  if (id === undefined) {
    for (const product of organization.products.newestFirst(null)) {
      if (product.images.some((image) => image.id === known!.id)) return product;
    }
    throw invalid("product_id: no product has this image", "product_id");
  }
  return found(organization.products.get(id), "product", "product_id");
}

/** A new image before the fields that can change later. */
function created(
  world: World,
  product: ProductRecord,
  id: string,
  order: AssetOrder,
  now: string,
): ImageRecord {
  const photo = world.organizations[order.organization ?? "main"].images.get(product.images[0]!.id);
  const { mime_type = "image/jpeg", role } = order;
  const ofProduct = drawn(world, id, now, { ...product, mime_type, side: order.orientation });
  // The garment and the colors of the first photo, if that is drawn by words.
  const image = photo?.words === undefined ? ofProduct : { ...ofProduct, words: photo.words };
  if (role === "source") return image;
  const generation = {
    role: role!,
    task_id: null,
    product_id: product.id,
    angle_shot: "front",
    background: "white",
    model_id: null,
    also_features: [],
  };
  return { ...image, generation };
}

/** The image with the given fields. An edit has new bytes, so its creation time changes (ExportRow). */
function changed(image: ImageRecord, order: AssetOrder, editedAt: string): ImageRecord {
  const { width = image.width, height = image.height } = order;
  const { watermarked = image.watermarked, attributes = image.attributes } = order;
  const edit_number = (order.edit_number === undefined ? image.edit_number : order.edit_number) ?? undefined;
  const isEdited = edit_number !== image.edit_number;
  const { generation } = image;
  const given = Object.fromEntries(
    generatedOnly
      .filter((field) => field !== "edit_number" && order[field] !== undefined)
      .map((field) => [field, order[field]]),
  );
  return {
    ...image,
    width,
    height,
    created_at: order.created_at ?? (isEdited ? editedAt : image.created_at),
    generation: generation && { ...generation, ...given },
    edit_number,
    watermarked,
    attributes,
  };
}

function findProblems(
  product: ProductRecord,
  known: ImageRecord | undefined,
  order: AssetOrder,
  { generation, mime_type, id }: ImageRecord,
): Problem[] {
  const only = (kind: string) => (param: string) => ({ message: `${param}: only ${kind} has it`, param });
  if (known === undefined) {
    const wrong = generation === null ? generatedOnly : (["orientation"] as const);
    const given = wrong.filter((field) => order[field] !== undefined);
    return given.map(only(generation === null ? "a generated asset" : "a photo"));
  }
  const now: Readonly<Record<string, unknown>> = {
    product_id: product.id,
    role: generation?.role ?? "source",
    mime_type,
    orientation: product.images.find((image) => image.id === id)?.orientation,
  };
  const fixed = fixedFields.filter((field) => order[field] !== undefined && order[field] !== now[field]);
  const wrong = generation !== null ? [] : generatedOnly.filter((field) => order[field] !== undefined);
  return [
    ...fixed.map((param) => ({ message: `${param}: cannot change once the asset exists`, param })),
    ...wrong.map(only("a generated asset")),
  ];
}

function reject(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const message = problems.map((problem) => problem.message).join("; ");
  throw new Rejection("invalid_request", message, { param: problems[0]!.param, problems });
}

export function putKey(world: World, key: string, order: KeyOrder): ApiKeyState {
  const known = world.keys.get(key);
  const { organization = "main", scopes = null, expires_at = null } = { ...known, ...order };
  let revoked_at = known?.revoked_at ?? null;
  if (order.revoked === true) revoked_at ??= world.timestamp();
  if (order.revoked === false) revoked_at = null;
  const state = { key, organization, scopes, expires_at, revoked_at };
  world.keys.put(state);
  return state;
}

const unnamed = {
  name: null,
  sex: null,
  body_type: null,
  age_bracket: null,
  ethnicity: null,
  hair_color: null,
  eye_color: null,
} as const;

export function putModel(world: World, id: string, { organization = "main", ...order }: ModelOrder): Model {
  const { models } = world.organizations[organization];
  const is_public = !ulidPattern.test(id);
  const known = findModel(world.organizations[organization], id);
  const given = Object.entries(order).filter(([, value]) => value !== undefined);
  const model: ModelRecord = { id, is_public, ...unnamed, ...known, ...Object.fromEntries(given) };
  const at = models.findIndex((model) => model.id === id);
  if (at < 0) models.push(model);
  else models[at] = model;
  return shownModel(world, model);
}

/** Marks an idempotency key as that of a request which has just crashed (Cross-cutting rule 5). */
export function putCrash(world: World, key: string, { organization = "main" }: CrashOrder) {
  const freeAt = world.organizations[organization].keys.crash(key, world.clock.now());
  return { key, organization, crashed_at: world.timestamp(), free_at: new Date(freeAt).toISOString() };
}
