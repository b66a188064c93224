// Compares photos of rows with those of their products by bytes: a photo that another machine has sent is
// adopted, not sent again (docs/resuming.md, Photos that this ledger does not know).

import { createHash } from "node:crypto";
import pLimit from "p-limit";
import { limits } from "../../contract/limits.ts";
import { parseUrl } from "../../contract/url-policy.ts";
import { CatError } from "../../errors.ts";
import { readExportPages } from "../catalogue/read-pages.ts";
import type { LocalPhotos } from "../photos/local-photos.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { Run } from "../run/run.ts";
import { orNull } from "../service-errors.ts";
import type { ComparisonResult } from "./decide-photos.ts";
import type { FileImage } from "./file-row.ts";
import { type KnownImage, type KnownProduct, withPhotos } from "./known-product.ts";

/** Photos in comparison at once. */
const atOnce = 8;

/** So many photos of products are asked for one by one; for more, the exports list their addresses. */
const mostAsked = 100;

export interface PhotosToCompare {
  readonly known: KnownProduct;
  readonly reference: string;
  readonly photos: readonly { readonly source: Buffer; readonly image: FileImage }[];
  /** The photos of the product that came from no known source. */
  readonly against: readonly KnownImage[];
}

/** Results of comparisons by product and source; equal photos are in the ledger. */
export class Comparisons {
  readonly #found = new Map<string, ComparisonResult>();
  /** Photos of the service that were found to be those of rows. */
  adopted = 0;
  /** Hosts that cannot be reached: each is tried once, as a file may have thousands of its photos. */
  readonly unreached = new Set<string>();

  of(productId: string, source: Buffer): ComparisonResult | undefined {
    return this.#found.get(toKey(productId, source));
  }

  found(productId: string, source: Buffer, compared: ComparisonResult): void {
    this.#found.set(toKey(productId, source), compared);
  }
}

const toKey = (productId: string, source: Buffer) => `${productId} ${source.toString("base64")}`;

interface Comparing {
  readonly run: Run;
  readonly localPhotos: LocalPhotos;
  readonly onProgress: (event: ProgressEvent) => void;
}

/** Compares the photos of rows, and writes what is equal into the ledger as it goes. */
export async function comparePhotos(
  rows: readonly PhotosToCompare[],
  comparisons: Comparisons,
  { run, localPhotos, onProgress }: Comparing,
): Promise<void> {
  const inTurn = pLimit(atOnce);
  const total = rows.reduce((sum, { photos }) => sum + photos.length, 0);
  let done = 0;
  const report = () => onProgress({ step: "comparing photos", done, total });
  report();
  const compare = async (row: PhotosToCompare, findUrl: FindUrl) => {
    const { known, reference, photos, against } = row;
    const sources = await Promise.all(photos.map(({ image }) => toSource(image, localPhotos)));
    const own = await hashOwn(against, sources, { run, inTurn, findUrl });
    for (const [index, { source }] of photos.entries()) {
      const image = await inTurn(() => findEqual(sources[index]!, own, { run, comparisons }));
      if (image === null || image === "unfetchable")
        comparisons.found(known.id, source, image ?? "different");
      else {
        adopt(known, reference, { source, image }, run);
        comparisons.adopted++;
      }
      done++;
      report();
    }
  };
  const asked = rows.reduce((sum, { against }) => sum + against.length, 0);
  if (asked <= mostAsked) {
    await allOf(rows.map((row) => compare(row, (id) => originalUrl(id, run))));
    return;
  }
  const left = new Map(rows.map((row) => [row.known.id, row]));
  for await (const page of readExportPages({ roles: ["source"], since: null }, run)) {
    // The addresses are valid for an hour, so the photos of a page come before the next page.
    const ofPage = page.rows.flatMap(({ product, assets }) => {
      const row = left.get(product.id);
      left.delete(product.id);
      const urls = new Map(
        (assets ?? []).flatMap(({ id, url, watermarked, derived }) =>
          watermarked || derived ? [] : [[id, url] as const],
        ),
      );
      return row === undefined
        ? []
        : [compare(row, async (id) => urls.get(id) ?? (await originalUrl(id, run)))];
    });
    await allOf(ofPage);
    if (left.size === 0) break;
  }
  await allOf([...left.values()].map((row) => compare(row, (id) => originalUrl(id, run))));
}

/** Waits for all, also where one fails: nothing goes on behind the caller. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(work);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

type FindUrl = (imageId: string) => Promise<string | null>;

/** A signed URL of the original of an image; null if the image is gone. */
async function originalUrl(image_id: string, { client, signal }: Run): Promise<string | null> {
  return (await orNull(client.images.get({ image_id }, { signal })))?.url ?? null;
}

/** A photo of a row: a local file by its digest, or a URL. */
type Source = { readonly size: number; readonly sha256: string } | { readonly url: string };

async function toSource({ url, path }: FileImage, localPhotos: LocalPhotos): Promise<Source> {
  if (url !== undefined) return { url };
  return { size: await localPhotos.size(path!), sha256: await localPhotos.digest(path!) };
}

/** The bytes of a photo of the product; `sha256` is null if its size alone shows that no source is equal. */
interface OwnPhoto {
  readonly id: string;
  readonly size: number | null;
  readonly sha256: string | null;
}

async function hashOwn(
  own: readonly KnownImage[],
  sources: readonly Source[],
  { run, inTurn, findUrl }: { run: Run; inTurn: <T>(work: () => Promise<T>) => Promise<T>; findUrl: FindUrl },
): Promise<OwnPhoto[]> {
  const areLocal = sources.every((source) => "size" in source);
  const sizes = new Set(sources.flatMap((source) => ("size" in source ? [source.size] : [])));
  const isNeeded = (size: number | null) => size === null || !areLocal || sizes.has(size);
  const hash = async ({ id }: KnownImage): Promise<OwnPhoto> => {
    const url = await findUrl(id);
    if (url === null) return { id, size: null, sha256: null };
    return { id, ...(await hashedBytes(url, run, isNeeded)) };
  };
  return Promise.all(own.map((photo) => inTurn(() => hash(photo))));
}

/** The ID of the image with the bytes of a source; null if there is none. */
async function findEqual(
  source: Source,
  own: readonly OwnPhoto[],
  { run, comparisons: { unreached } }: { run: Run; comparisons: Comparisons },
): Promise<string | null | "unfetchable"> {
  if ("sha256" in source) return own.find(({ sha256 }) => sha256 === source.sha256)?.id ?? null;
  const host = parseUrl(source.url)?.host ?? "";
  if (unreached.has(host)) return "unfetchable";
  const isNeeded = (length: number | null) =>
    length === null || own.some(({ size }) => size === null || size === length);
  try {
    const { sha256 } = await hashedBytes(source.url, run, isNeeded, 2);
    return own.find((photo) => photo.sha256 !== null && photo.sha256 === sha256)?.id ?? null;
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof CatError)) throw error;
    if (error.code === "host_not_found" || error.code === "unreachable") unreached.add(host);
    return "unfetchable";
  }
}

/** The size of a file, and its SHA-256 (hex); null if its announced size shows that it is not needed. */
async function hashedBytes(
  url: string,
  { client, signal }: Run,
  isNeeded: (length: number | null) => boolean,
  attempts?: number,
): Promise<{ size: number | null; sha256: string | null }> {
  const hash = createHash("sha256");
  let announced: number | null = null;
  let size = 0;
  const onLength = (length: number | null) => {
    announced = length;
  };
  const options = {
    signal,
    maxBytes: limits.imageBytes,
    onLength,
    ...(attempts !== undefined && { attempts }),
  };
  for await (const chunk of client.download(url, options)) {
    if (!isNeeded(announced)) return { size: announced, sha256: null };
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}

function adopt(
  { id, fields }: KnownProduct,
  reference: string,
  photo: { source: Buffer; image: string },
  { state, account }: Run,
): void {
  const entry = state.ledger.ofProduct(account, id);
  const photos = withPhotos(entry?.photos ?? [], [photo]);
  state.ledger.write(account, {
    entries: [
      {
        reference: entry?.reference ?? reference,
        productId: id,
        fields: entry?.fields ?? fields.bytes,
        photos,
      },
    ],
  });
}
