import { randomBytes } from "node:crypto";
import pLimit from "p-limit";
import type * as z from "zod";
import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/client-operations.ts";
import { limits } from "../../../contract/limits.ts";
import type { ExportAsset, ExportRow } from "../../../contract/resources/exports.ts";
import type { Product } from "../../../contract/resources/products.ts";
import { CatError } from "../../../errors.ts";
import { allModels } from "../../../flows/catalogue/lookups.ts";
import { readExportPages } from "../../../flows/catalogue/read-pages.ts";
import { counted } from "../../../flows/words.ts";
import type { MockState } from "../../../mock/index.ts";
import type { ImageState, ProductRecord } from "../../../mock/store/records.ts";
import type { App } from "../../app/app.ts";
import { openClient } from "../../app/open-client.ts";
import { warn } from "../../output/io.ts";
import { resolveConnection } from "../../settings/settings.ts";
import { largestFile } from "./state-file.ts";

/** Photos in base64 take a third more, and the saved state must be one that `--load` accepts. */
const mostPhotoBytes = (largestFile / 4) * 3;
const downloadsAtOnce = 4;

/**
 * The state of a mock with the catalogue of the profile, or of CAT_BASE_URL and CAT_API_KEY. It only reads:
 * products, export rows and models. With `hasPhotos` it downloads photos; all other pictures are drawn.
 */
export async function cloneCatalogue(app: App, blank: MockState, hasPhotos: boolean): Promise<MockState> {
  const { context } = app;
  // --mock and --base-url of this command are about the mock, not about the service that is read.
  const globals = { ...app.globals, mock: false, baseUrl: undefined };
  const connection = await resolveConnection(globals, context);
  app.secrets.add(connection.apiKey);
  const client = openClient(app, connection);
  const progress = await app.io.progress();
  try {
    const service = { client, signal: context.interrupt };
    const copy = new CatalogueCopy(await import("../../../mock/store/records.ts"));
    const input = { limit: limits.page.max };
    const listing = { signal: context.interrupt, isAhead: true };
    const products: Product[] = [];
    for await (const product of client.paginate(operations.products.list, input, listing)) {
      products.push(product);
      progress.update({ step: "reading products", done: products.length, total: null });
    }
    const listed = new Set(products.map(({ id }) => id));
    let done = 0;
    for await (const { rows } of readExportPages({ roles: null, since: null }, service)) {
      const known = rows.filter(({ product }) => listed.has(product.id));
      for (const row of known) copy.addAssets(row);
      if (hasPhotos) await fetchPhotos(known, copy, service);
      done += rows.length;
      progress.update({ step: "reading images", done, total: products.length });
    }
    const models = await allModels(service);
    // The mock lists the newest first: the order of the service is kept. Each is forgotten once it is copied.
    for (let product = products.pop(); product !== undefined; product = products.pop())
      copy.addProduct(product);
    for (const model of models) copy.addModel(model);
    progress.end();
    await app.io.note(app.io.visible(copy.summary(connection.baseUrl)));
    const skipped = copy.skipped();
    if (skipped !== null) await warn(app, skipped);
    const { secretKeys } = await import("../../../mock/rules/api-keys.ts");
    return {
      ...blank,
      secret: randomBytes(24).toString("base64url"),
      // A page of any origin knows ak_mock, and can send requests to this machine.
      real_data: true,
      keys: secretKeys(() => `ak_${randomBytes(16).toString("hex")}`),
      organizations: { ...blank.organizations, main: copy.into(blank.organizations.main) },
    };
  } finally {
    progress.end();
    await client.close();
  }
}

/** Downloads the photos of a page while its URLs are valid. Throws CatError if they do not fit a state. */
async function fetchPhotos(
  rows: readonly ExportRow[],
  copy: CatalogueCopy,
  { client, signal }: { client: Client; signal: AbortSignal },
): Promise<void> {
  const limit = pLimit(downloadsAtOnce);
  const photos = rows.flatMap(({ assets }) => assets.filter(({ role }) => role === "source"));
  await limit.map(photos, async ({ id, url }) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.download(url, { signal })) {
      copy.photoBytes += chunk.length;
      if (copy.photoBytes > mostPhotoBytes) throw tooManyPhotos();
      chunks.push(chunk);
    }
    copy.setBytes(id, Buffer.concat(chunks));
  });
}

const tooManyPhotos = () =>
  new CatError(`the photos have more than ${mostPhotoBytes / 1024 / 1024} MB, too much for a mock`, {
    type: "input",
    code: "photos_too_large",
    param: "--photos",
    hint: "Remove --photos. The mock draws a picture for each photo then.",
  });

/** The records of the mock, which is loaded on demand. */
type Schemas = Pick<
  typeof import("../../../mock/store/records.ts"),
  "ImageState" | "ModelRecord" | "ProductRecord"
>;

/** The catalogue as records of the mock. A value that a record cannot have makes the mock skip the record. */
class CatalogueCopy {
  photoBytes = 0;
  readonly #schemas: Schemas;
  readonly #images = new Map<string, ImageState>();
  readonly #generations = new Map<string, string[]>();
  /** The latest time in the row of each product. */
  readonly #latest = new Map<string, string>();
  readonly #products: ProductRecord[] = [];
  readonly #models: MockState["organizations"]["main"]["models"] = [];
  readonly #skipped: string[] = [];

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  addAssets({ product, assets }: ExportRow): void {
    for (const asset of Array.isArray(assets) ? assets : []) {
      const image = this.#checked(this.#schemas.ImageState, toImage(asset, product.id), `image ${asset.id}`);
      if (image === null) continue;
      this.#images.set(image.id, image);
      if (image.created_at > (this.#latest.get(product.id) ?? ""))
        this.#latest.set(product.id, image.created_at);
      if (image.generation === null) continue;
      const generations = this.#generations.get(product.id);
      if (generations === undefined) this.#generations.set(product.id, [image.id]);
      else generations.push(image.id);
    }
  }

  setBytes(id: string, bytes: Buffer): void {
    const image = this.#images.get(id);
    if (image !== undefined) image.bytes = bytes.toString("base64");
  }

  addProduct({ id, reference, name, description, sex, images, created_at, updated_at }: Product): void {
    const latest = this.#latest.get(id) ?? "";
    const entry = {
      id,
      name,
      reference: reference ?? null,
      description: description ?? null,
      sex: sex ?? null,
      images: (Array.isArray(images) ? images : []).map(({ id, orientation, origin }) => ({
        id,
        orientation,
        origin,
      })),
      created_at,
      updated_at,
      order: this.#products.length + 1,
      generations: this.#generations.get(id) ?? [],
      changed_at: latest > updated_at ? latest : updated_at,
      deleted_at: null,
    };
    const record = this.#checked(this.#schemas.ProductRecord, entry, `product ${reference ?? id}`);
    if (record === null) return;
    this.#products.push(record);
    // Exports do not list products of the dashboard, so nothing but the ID is known of their photos.
    for (const { id, orientation } of record.images) {
      const image = this.#images.get(id) ?? drawnPhoto(id, created_at);
      if (image.bytes !== null || image.generation !== null) continue;
      const words = `${record.name} / ${record.reference ?? record.id}`;
      this.#images.set(id, { ...image, subject: orientation, words });
    }
  }

  addModel({ id, is_public, preview_url, ...model }: Awaited<ReturnType<typeof allModels>>[number]): void {
    const look = (value: string | null | undefined) => value ?? null;
    const entry = {
      id,
      name: look(model.name),
      is_public,
      sex: model.sex ?? null,
      body_type: look(model.body_type),
      age_bracket: look(model.age_bracket),
      ethnicity: look(model.ethnicity),
      hair_color: look(model.hair_color),
      eye_color: look(model.eye_color),
      has_preview: typeof preview_url === "string",
    };
    const record = this.#checked(this.#schemas.ModelRecord, entry, `model ${id}`);
    if (record !== null) this.#models.push(record);
  }

  into(organization: MockState["organizations"]["main"]): MockState["organizations"]["main"] {
    const images = [...this.#images.values()];
    return { ...organization, products: this.#products, images, models: this.#models };
  }

  summary(source: string): string {
    const parts = [
      counted(this.#products.length, "product"),
      counted(this.#images.size, "image"),
      counted(this.#models.length, "model"),
    ];
    return `Copied ${parts[0]}, ${parts[1]} and ${parts[2]} from ${source}.`;
  }

  /** The skipped records, as a sentence; null for none. */
  skipped(): string | null {
    const [first] = this.#skipped;
    if (first === undefined) return null;
    return `skipped ${counted(this.#skipped.length, "record")} that the mock cannot hold, for example ${first}`;
  }

  /** The value as a record; null if it is skipped. */
  #checked<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.infer<Schema> | null {
    const { data, error } = schema.safeParse(value);
    if (error === undefined) return data!;
    const { path, message } = error.issues[0]!;
    this.#skipped.push(`${name}: ${path.join(".")}: ${message}`);
    return null;
  }
}

const drawnPhoto = (id: string, created_at: string) => ({
  id,
  mime_type: "image/jpeg" as const,
  created_at,
  width: null,
  height: null,
  bytes: null,
  subject: "",
  seed: id,
  generation: null,
});

/** An image of an export. Its attributes without a field of their own are kept as they are. */
function toImage(asset: ExportAsset, product_id: string) {
  const {
    angle_shot,
    background,
    model_id,
    edit_number,
    orientation: _,
    ...attributes
  } = asset.attributes ?? {};
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return {
    ...drawnPhoto(asset.id, asset.created_at),
    mime_type: asset.mime_type,
    width: asset.width,
    height: asset.height,
    generation:
      asset.role === "source"
        ? null
        : {
            role: asset.role,
            task_id: asset.task_id,
            product_id,
            angle_shot: text(angle_shot),
            background: text(background),
            model_id: typeof model_id === "string" ? model_id : null,
            also_features: asset.also_features,
          },
    ...(typeof edit_number === "number" && { edit_number }),
    ...(asset.watermarked === true && { watermarked: true }),
    ...(Object.keys(attributes).length > 0 && {
      attributes,
    }),
  };
}
