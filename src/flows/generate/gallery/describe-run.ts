// Gallery: the page on which a person reviews the images of a run.

import { relative, sep } from "node:path";
import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { referenceOfProduct } from "../../../contract/import-row.ts";
import type { ProductImage } from "../../../contract/resources/products.ts";
import type { Model, Task } from "../../../contract/resources/tasks.ts";
import type { StoredDecision } from "../../../state/decisions.ts";
import { allModels, type FoundProducts, productsBy } from "../../catalogue/lookups.ts";
import type { BulkReader, Reader, WaitingReader } from "../../service.ts";
import { decisionFileColumns } from "../columns/decisions.ts";
import { type GenerationResult, reasonText } from "../result.ts";
import { ImageFetcher, photoOfSide } from "./fetch-images.ts";

/** The data of a gallery's page apart from the images, which follow in blocks, by their index. */
export interface GalleryData {
  /** The run: the browser keeps decisions under its name. */
  readonly run: string;
  readonly kind: GenerationKind;
  /** The input, as people call it. */
  readonly title: string;
  /** The first file that decisions are saved as, and its columns. Later files have a number at the end. */
  readonly decisionsFile: string;
  readonly columns: readonly string[];
  /**
   * The next commands, with `decisionsFile` as the name of the file: `approve` moves rejected images out of
   * the folder that images were saved in, `record` remembers the decisions, `rerun` generates rejected images
   * again.
   */
  readonly commands: Readonly<Partial<Record<"approve" | "record" | "rerun", string>>>;
  /** How decisions are saved: UTF-8, with a byte order mark if `marked`. */
  readonly csv: { readonly delimiter: string; readonly lineEnd: string; readonly marked: boolean };
  /** The folder of the saved images as a relative URL with a slash; null where none are near. */
  readonly folder: string | null;
  readonly imagesPerBlock: number;
  readonly products: readonly GalleryProduct[];
  readonly results: readonly GalleryEntry[];
}

export interface GalleryProduct {
  readonly id: string;
  readonly reference: string | null;
  readonly name: string | null;
  readonly sex?: string | null;
  /** Its photos from the sides that its results show; `image` is the index among the images. */
  readonly photos: readonly { readonly image: number; readonly orientation: string }[];
}

export interface GalleryEntry {
  readonly line: number;
  readonly taskId: string | null;
  readonly status: string;
  /** The index of its product. */
  readonly product: number;
  readonly modelId: string | null;
  readonly modelName: string | null;
  readonly modelSex?: string | null;
  readonly subtype: string | null;
  readonly style: string | null;
  readonly background: string;
  readonly angleShot: string;
  /** Why there is no image. */
  readonly reason: string | null;
  readonly file: string | null;
  /** The index of its output among the images. */
  readonly image: number | null;
  /** The index of the photo of the same side among those of the product. */
  readonly photo: number | null;
  /** With `--rerun`: the rejected image that this one replaces, by its index among the images. */
  readonly earlier?: {
    readonly note: string;
    readonly decision: "approve" | "reject" | "";
    readonly image: number | null;
  };
}

export interface GalleryInput
  extends Pick<GalleryData, "run" | "kind" | "title" | "decisionsFile" | "commands" | "csv"> {
  readonly results: readonly GenerationResult[];
  readonly tasks: ReadonlyMap<string, Task>;
  readonly findDecision: (taskId: string) => StoredDecision | null;
  /** The folder of the saved images; null where none were saved. */
  readonly savedIn: string | null;
  readonly pageIn: string;
}

export type Fetch = () => Promise<Uint8Array | null>;

/** So many images are read by the page at once, without a pause that a person would notice. */
const imagesPerBlock = 40;

/** Describes a run for its page, with its images in the order of the page. */
export async function describeRun(
  input: GalleryInput,
  service: WaitingReader,
): Promise<{ data: GalleryData; images: readonly Fetch[] }> {
  const { results, tasks, findDecision, savedIn, pageIn } = input;
  const productsByKey = await findProducts(results, service);
  const sexes = await sexesOfModels(results, service);
  const fetcher = new ImageFetcher(service);
  const images: Fetch[] = [];
  const add = (fetch: Fetch): number => images.push(fetch) - 1;
  const products: (GalleryProduct & { photos: GalleryProduct["photos"][number][] })[] = [];
  const places = new Map<string, number>();
  const productNumber = ({ productId, productReference }: GenerationResult["generation"]): number => {
    const known = places.get(productId);
    if (known !== undefined) return known;
    const product = productsByKey.byId.get(productId);
    const reference = productReference ?? (product === undefined ? null : referenceOfProduct(product));
    places.set(productId, products.length);
    const { name = null, sex = null } = product ?? {};
    return products.push({ id: productId, reference, name, sex, photos: [] }) - 1;
  };
  const photos = new Map<ProductImage, number>();
  const photoNumber = (product: number, angleShot: string): number | null => {
    const { id, photos: own } = products[product]!;
    const photo = photoOfSide(productsByKey.byId.get(id), angleShot);
    if (photo === undefined) return null;
    const known = photos.get(photo);
    if (known !== undefined) return known;
    photos.set(photo, own.length);
    const image = add(() => fetcher.photo(photo));
    return own.push({ image, orientation: photo.orientation }) - 1;
  };
  const toEarlier = ({ replaces }: GenerationResult["generation"]): Pick<GalleryEntry, "earlier"> => {
    if (replaces === undefined) return {};
    const { decision = "", note = "" } = findDecision(replaces) ?? {};
    return { earlier: { decision, note, image: add(() => fetcher.fetchOutput(replaces)) } };
  };
  const entries = results.map((result): GalleryEntry => {
    const { generation, task_id, status, file, failure_reason } = result;
    const { line, modelId, modelName, subtype, style, background, angleShot } = generation;
    const product = productNumber(generation);
    const photo = photoNumber(product, angleShot);
    const task = task_id === null ? undefined : tasks.get(task_id);
    const image =
      status === "succeeded" && task !== undefined ? add(() => fetcher.output(task, file, savedIn)) : null;
    const reason = failure_reason === null ? null : reasonText(failure_reason);
    const modelSex = (modelId === null ? undefined : sexes.get(modelId)) ?? null;
    const names = { modelId, modelName, modelSex, subtype, style, background, angleShot };
    const shown = { line, taskId: task_id, status, product, reason, file, image, photo };
    return { ...shown, ...names, ...toEarlier(generation) };
  });
  const { run, kind, title, decisionsFile, commands, csv } = input;
  const folder = savedIn === null ? null : relativeUrl(pageIn, savedIn);
  const named = { run, kind, title, decisionsFile, columns: decisionFileColumns, commands, csv };
  return { data: { ...named, folder, imagesPerBlock, products, results: entries }, images };
}

/** The products of the results; none where they cannot be read. */
async function findProducts(
  results: readonly GenerationResult[],
  service: BulkReader,
): Promise<FoundProducts> {
  const ids = new Set(results.map(({ generation }) => generation.productId));
  return productsBy({ ids, references: [] }, service).catch(() => {
    service.signal.throwIfAborted();
    return { byId: new Map(), byReference: new Map(), otherReferences: [] };
  });
}

/** The sex of each model, by ID; none where the models cannot be read. */
async function sexesOfModels(
  results: readonly GenerationResult[],
  service: Reader,
): Promise<ReadonlyMap<string, string | null>> {
  if (results.every(({ generation }) => generation.modelId === null)) return new Map();
  const models = await allModels(service).catch((): Model[] => {
    service.signal.throwIfAborted();
    return [];
  });
  return new Map(models.map(({ id, sex }) => [id, sex]));
}

/** From one folder to another as a URL; null between two drives. */
function relativeUrl(from: string, to: string): string | null {
  const parts = relative(from, to).split(sep);
  if (parts.some((part) => part.includes(":"))) return null;
  return parts.map((part) => (part === "" ? "" : `${encodeURIComponent(part)}/`)).join("");
}
