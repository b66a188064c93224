// Parity: whether two organizations have the same products and photos, however their IDs differ.

import { createHash } from "node:crypto";
import pLimit from "p-limit";
import { ApiError } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { operations } from "../../contract/client-operations.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { ExportAsset } from "../../contract/resources/exports.ts";
import type { Product } from "../../contract/resources/products.ts";
import { CatError } from "../../errors.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { readExportPages } from "./read-pages.ts";

/** A difference of a product. `here` and `there` are missing for long texts and bytes. */
export interface Difference {
  readonly reference: string;
  /** `missing`: the other organization lacks it; `extra`: only the other one has it. `photo`: other bytes. */
  readonly what: "missing" | "extra" | "name" | "description" | "sex" | "orientations" | "photo";
  readonly here?: string;
  readonly there?: string;
  /** Of a photo. */
  readonly orientation?: string;
}

export interface ParityCounts {
  /** Products with a reference. */
  here: number;
  there: number;
  /** Products of the dashboard, on both sides. */
  withoutReference: number;
  /** Photos whose bytes were compared. */
  photos: number;
}

interface ParityOptions {
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly here: Client;
  readonly there: Client;
  /** The other profile. */
  readonly name: string;
  /** Both are organizations of one service, which never gives an image ID twice. */
  readonly isOneService: boolean;
  /** Whether to compare the bytes of photos. */
  readonly hasPhotos: boolean;
  readonly onProgress: (event: ProgressEvent) => void;
}

/** Differences of products by reference, of photos by orientation and SHA-256; only digests are in memory. */
export async function* compareCatalogues(
  options: ParityOptions,
  counts: ParityCounts,
): AsyncGenerator<Difference, void, undefined> {
  const { here, there, name, isOneService, hasPhotos } = options;
  const products = new Map<string, ProductDigest>();
  for await (const [reference, product] of readKeyed(null, referenced(here, options, counts))) {
    products.set(reference, toDigest(product, isOneService));
    counts.here++;
  }
  /** The products whose photos may differ in their bytes only. */
  const alike = new Set<string>();
  for await (const [reference, product] of readKeyed(name, referenced(there, options, counts))) {
    counts.there++;
    const ownDigest = products.get(reference);
    products.delete(reference);
    if (ownDigest === undefined) {
      yield { reference, what: "extra" };
      continue;
    }
    const digest = toDigest(product, isOneService);
    for (const what of ["name", "description"] as const)
      if (ownDigest[what] !== digest[what]) yield { reference, what };
    for (const what of ["sex", "orientations"] as const)
      if (ownDigest[what] !== digest[what])
        yield { reference, what, here: ownDigest[what], there: digest[what] };
    if (
      ownDigest.orientations === digest.orientations &&
      (ownDigest.ids === "" || ownDigest.ids !== digest.ids)
    )
      alike.add(reference);
  }
  for (const reference of products.keys()) yield { reference, what: "missing" };
  products.clear();
  if (hasPhotos && alike.size > 0) yield* comparePhotos(alike, options, counts);
}

/** Where a key is rejected, the message says which one: that of the profile `name`, or that in use (null). */
async function* readKeyed<Item>(
  name: string | null,
  items: AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) throw error;
    const { type, code, status, requestId, hint, message } = error;
    const key = name === null ? "the key in use" : `the key of the profile ${name}`;
    const login = `Store another key: cat login --profile ${name}`;
    throw new CatError(`${key} was rejected: ${message}`, {
      type,
      code,
      status,
      requestId,
      hint: name !== null && status === 401 ? login : hint,
      cause: error,
    });
  }
}

interface ProductDigest {
  readonly name: string;
  readonly description: string;
  readonly sex: string;
  /** Of the photos, sorted. */
  readonly orientations: string;
  /** The IDs of the photos; empty where IDs of two organizations cannot be compared. */
  readonly ids: string;
}

function toDigest({ name, description, sex, images }: Product, hasIds: boolean): ProductDigest {
  const photos = (Array.isArray(images) ? images : []).filter(({ origin }) => origin === "user");
  return {
    name: shortHash(name),
    description: shortHash(description ?? ""),
    sex: sex ?? "",
    orientations: photos
      .map(({ orientation }) => orientation)
      .sort()
      .join(", "),
    ids: hasIds
      ? shortHash(JSON.stringify(photos.map(({ id, orientation }) => `${id} ${orientation}`).sort()))
      : "",
  };
}

async function* referenced(
  client: Client,
  { signal, onProgress }: ParityOptions,
  counts: ParityCounts,
): AsyncGenerator<[string, Product], void, undefined> {
  const listing = { signal, isAhead: true };
  for await (const product of client.paginate(
    operations.products.list,
    { limit: limits.page.max },
    listing,
  )) {
    const reference = referenceOfProduct(product);
    const done = counts.here + counts.there;
    if (done % limits.page.max === 0) onProgress({ step: "comparing products", done, total: null });
    if (reference === null) counts.withoutReference++;
    else yield [reference, product];
  }
}

/** Compares the bytes of the photos of these products. */
async function* comparePhotos(
  references: ReadonlySet<string>,
  options: ParityOptions,
  counts: ParityCounts,
): AsyncGenerator<Difference, void, undefined> {
  const photos = new Map<string, readonly string[]>();
  for await (const [reference, hashes] of readKeyed(
    null,
    hashedPhotos(options.here, references, options, counts),
  ))
    photos.set(reference, hashes);
  for await (const [reference, there] of readKeyed(
    options.name,
    hashedPhotos(options.there, references, options, counts),
  )) {
    const onlyThere = [...there];
    const unmatched = (photos.get(reference) ?? []).filter((photo) => {
      const at = onlyThere.indexOf(photo);
      if (at !== -1) onlyThere.splice(at, 1);
      return at === -1;
    });
    for (const photo of unmatched.length >= onlyThere.length ? unmatched : onlyThere)
      yield { reference, what: "photo", orientation: photoOrientation(photo) };
    photos.delete(reference);
  }
  // Deleted meanwhile.
  for (const reference of photos.keys()) yield { reference, what: "missing" };
}

/** The photos of these products, each as its orientation and the SHA-256 of its bytes. */
async function* hashedPhotos(
  client: Client,
  references: ReadonlySet<string>,
  { signal, concurrency, onProgress }: ParityOptions,
  counts: ParityCounts,
): AsyncGenerator<[string, readonly string[]], void, undefined> {
  const limit = pLimit(concurrency);
  for await (const { rows } of readExportPages({ roles: ["source"], since: null }, { client, signal })) {
    const wanted = rows.flatMap(({ product, assets }) => {
      const reference = referenceOfProduct(product);
      return reference !== null && references.has(reference) ? [{ reference, assets }] : [];
    });
    // URLs are valid for an hour, so the photos of a page come before the next page.
    const hashed = await Promise.all(
      wanted.map(async ({ reference, assets }): Promise<[string, readonly string[]]> => {
        const photos = (Array.isArray(assets) ? assets : []).map((asset) =>
          limit(() => hashImage(client, asset, signal)),
        );
        return [reference, await Promise.all(photos)];
      }),
    );
    counts.photos += hashed.reduce((sum, [, { length }]) => sum + length, 0);
    onProgress({ step: "comparing photos", done: counts.photos, total: null });
    yield* hashed;
  }
}

async function hashImage(
  client: Client,
  { url, attributes }: ExportAsset,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of client.download(url, { signal })) hash.update(chunk);
  return `${attributes?.orientation ?? "unlabeled"} ${hash.digest("base64url")}`;
}

const photoOrientation = (photo: string): string => photo.slice(0, photo.lastIndexOf(" "));

/** 128 bits, which never collide by chance. */
const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);
