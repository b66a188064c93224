// Coverage: the photos and generated images of products. Only this file decides whether an image exists.

import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { ExportAsset, ExportRow } from "../../contract/resources/exports.ts";
import { type AssetRole, isJobEnded } from "../../contract/value-sets.ts";
import { BadResponseError } from "../../http/errors.ts";
import { parseJson } from "../../json.ts";
import type { Reader, Service } from "../service.ts";
import { mayNotRead } from "../service-errors.ts";
import { readExportPages } from "./read-pages.ts";

/** The settings that distinguish the images of a product: others, such as stylings, do not. */
export interface Look {
  /** Null for a beautified shot. */
  readonly modelId: string | null;
  readonly background: string;
  readonly angleShot: string;
}

/** The images of a product, each look once. A rejected image only counts as rejected. */
export interface Coverage {
  readonly product: ExportRow["product"];
  /** The orientation of each photo. */
  readonly photos: readonly string[];
  readonly beautified: readonly Look[];
  readonly tryons: readonly Look[];
  /** Those of the try-ons that show the product without others. */
  readonly alone: readonly Look[];
  readonly rejected: number;
}

/** A look of which a part may be anything (null). */
export type WantedLook = { readonly [part in keyof Look]: Look[part] | null };

export interface KnownImages {
  readonly isRejected: (taskId: string) => boolean;
  /** Its settings, if it was queued here. */
  readonly findLook: (taskId: string) => Look | undefined;
}

/** A look of a product as a key. Colors are the same in either case. */
export const lookKey = (productId: string, { modelId, background, angleShot }: Look): string =>
  JSON.stringify([productId, modelId, background.toLowerCase(), angleShot]);

/** The same with the other products that an image shows (Resources, ExportRow: `also_features`). */
export const styledKey = (productId: string, look: Look, stylings: readonly string[]): string =>
  `${lookKey(productId, look)} ${[...stylings].sort().join(" ")}`;

export function toCoverage({ product, assets }: ExportRow, known: KnownImages): Coverage {
  const photos: string[] = [];
  const beautified: Look[] = [];
  const tryons: Look[] = [];
  const alone: Look[] = [];
  let rejected = 0;
  // The client does not check `assets`.
  for (const asset of Array.isArray(assets) ? assets : []) {
    if (asset.role === "source") photos.push(toText(asset.attributes?.orientation) ?? "unlabeled");
    if (asset.role !== "beautifier" && asset.role !== "tryon") continue;
    if (asset.task_id !== null && known.isRejected(asset.task_id)) {
      rejected++;
      continue;
    }
    const look = assetLook(asset, known);
    (asset.role === "tryon" ? tryons : beautified).push(look);
    if (asset.role === "tryon" && (asset.also_features ?? []).length === 0) alone.push(look);
  }
  return { product, photos, beautified: eachOnce(beautified), tryons: eachOnce(tryons), alone, rejected };
}

/** Whether a product lacks an image; with other products it is another one (`also_features`). */
export function lacks(wanted: WantedLook, { alone, beautified }: Coverage, role: AssetRole): boolean {
  const { modelId, background, angleShot } = wanted;
  return !(role === "tryon" ? alone : beautified).some(
    (look) =>
      (modelId === null || look.modelId === modelId) &&
      (background === null || look.background.toLowerCase() === background.toLowerCase()) &&
      (angleShot === null || look.angleShot === angleShot),
  );
}

/** Looks without those that are there already, as edits and repeated try-ons are. */
const eachOnce = (looks: readonly Look[]): Look[] => [
  ...new Map(looks.map((look) => [lookKey("", look), look])).values(),
];

/** Attributes of an asset are open (ExportRow): missing ones come from tasks queued here. */
function assetLook(
  { attributes, task_id, role }: ExportAsset,
  { findLook }: Pick<KnownImages, "findLook">,
): Look {
  const [background, angle, model] = [
    attributes?.background,
    attributes?.angle_shot,
    attributes?.model_id,
  ].map(toText);
  const isComplete = background && angle && (model || role === "beautifier");
  const own = isComplete || task_id === null ? undefined : findLook(task_id);
  return {
    modelId: role === "tryon" ? (model ?? own?.modelId ?? "") : null,
    background: background ?? own?.background ?? "",
    angleShot: angle ?? own?.angleShot ?? "",
  };
}

const toText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Up to so many manifests instead of all pages: writes have a lower rate limit. */
const mostManifests = 10;

/**
 * The images of these products, or of all (null), which were created through the API (Exports). A few
 * products are read as manifests, many as pages of the catalogue. Throws a BadResponseError if a manifest
 * lacks a product.
 */
export async function* readCoverage(
  products: readonly string[] | null,
  roles: readonly AssetRole[] | null,
  known: KnownImages,
  service: Reader,
): AsyncGenerator<Coverage, void, undefined> {
  for await (const row of readRows(products, roles, service)) yield toCoverage(row, known);
}

/** A generated image, as far as the catalogue describes it. */
export interface GeneratedImage {
  readonly taskId: string | null;
  /** Its `styledKey`. */
  readonly key: string;
  /** Attributes that the service may tell, although no version is known to (ExportRow). */
  readonly settings: { readonly lookAtCamera?: boolean; readonly style?: string };
}

export async function* readGenerated(
  products: readonly string[],
  roles: readonly AssetRole[],
  known: Pick<KnownImages, "findLook">,
  service: Reader,
): AsyncGenerator<GeneratedImage[], void, undefined> {
  for await (const { product, assets } of readRows(products, roles, service))
    yield (Array.isArray(assets) ? assets : []).map((asset) => {
      const { task_id: taskId, attributes, also_features } = asset;
      const { look_at_camera, style } = attributes ?? {};
      return {
        taskId,
        key: styledKey(product.id, assetLook(asset, known), also_features ?? []),
        settings: {
          ...(typeof look_at_camera === "boolean" && { lookAtCamera: look_at_camera }),
          ...(typeof style === "string" && { style }),
        },
      };
    });
}

/** The `styledKey` of each generated image of these products, by the task that produced it. */
export async function looksByTask(
  products: readonly string[],
  roles: readonly AssetRole[],
  service: Service,
): Promise<Map<string, string>> {
  const looks = new Map<string, string>();
  if (products.length === 0) return looks;
  for await (const images of readGenerated(products, roles, { findLook: () => undefined }, service))
    for (const { taskId, key } of images) if (taskId !== null) looks.set(taskId, key);
  return looks;
}

async function* readRows(
  products: readonly string[] | null,
  roles: readonly AssetRole[] | null,
  service: Reader,
): AsyncGenerator<ExportRow, void, undefined> {
  const most = mostManifests * limits.exportProducts;
  const wanted = products === null ? null : new Set(products);
  if (wanted !== null && wanted.size <= most) {
    try {
      yield* await manifestRows([...wanted], roles, service);
      return;
    } catch (error) {
      // A key may read exports without the scope to create one.
      if (!mayNotRead(error)) throw error;
    }
  }
  for await (const { rows } of readExportPages({ roles, since: null }, service))
    for (const row of rows) if (wanted === null || wanted.has(row.product.id)) yield row;
}

async function manifestRows(
  ids: readonly string[],
  roles: readonly AssetRole[] | null,
  { client, signal }: Reader,
): Promise<ExportRow[]> {
  const rows: ExportRow[] = [];
  for (let start = 0; start < ids.length; start += limits.exportProducts) {
    const product_ids = ids.slice(start, start + limits.exportProducts);
    const body = { format: "manifest" as const, product_ids, ...(roles !== null && { role: [...roles] }) };
    const created = await client.exports.create({ body }, { signal });
    const job = isJobEnded(created)
      ? created
      : await client.poll(operations.exports.get, { export_id: created.id }, { done: isJobEnded, signal });
    const broken = new BadResponseError(`the manifest of export ${job.id} is incomplete`, {
      code: "wrong_content",
      hint: "Run the command again.",
    });
    if (job.url === null) throw broken;
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.download(job.url, { signal })) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const listed = new Map<string, ExportRow>();
    for (const line of text.split("\n").filter((line) => line !== "")) {
      const row = parseRow(line);
      if (row === null) throw broken;
      listed.set(row.product.id, row);
    }
    // Images that are not listed would be paid for again.
    if (!product_ids.every((id) => listed.has(id))) throw broken;
    rows.push(...listed.values());
  }
  return rows;
}

function parseRow(line: string): ExportRow | null {
  try {
    const row = parseJson(line) as ExportRow;
    return typeof row.product?.id === "string" ? row : null;
  } catch {
    return null;
  }
}
