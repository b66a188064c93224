import { ApiError } from "../../../../src/client/api-error.ts";
import type { Client } from "../../../../src/client/client.ts";
import type { MovableClock } from "../../../../src/clock.ts";
import type { ExportAsset, ExportRow } from "../../../../src/contract/resources/exports.ts";
import { BadResponseError, SignedUrlError } from "../../../../src/http/errors.ts";

export interface FakeAsset {
  readonly id: string;
  role: string;
  /** The number of edits: each has other bytes. */
  edits: number;
  watermarked: boolean;
  angle: string;
}

export interface FakeProduct {
  readonly id: string;
  reference: string;
  assets: FakeAsset[];
  changedAt: number;
  deletedAt: number | null;
}

/** An ID of 26 characters; a higher number is a later product. */
export const idOf = (number: number): string => `01ARZ3NDEKTSV4RRFF${String(number).padStart(8, "0")}`;

/** A small catalogue behind the part of the client that a mirror uses. Pages have two products. */
export class FakeCatalogue {
  readonly products: FakeProduct[] = [];
  readonly #clock: MovableClock;
  /** Asset IDs whose download fails. */
  failing: ReadonlySet<string> = new Set();
  /** Asset IDs whose length is not announced: they are downloaded to the disk, as large ones are. */
  unannounced: ReadonlySet<string> = new Set();
  /** URLs are rejected if they were signed before this one. */
  expiredBefore = 0;
  #signed = 0;
  pages = 0;
  downloads = 0;
  /** The `since` of the latest request for the first page; null for everything. */
  since: string | null = null;

  constructor(clock: MovableClock) {
    this.#clock = clock;
  }

  get client(): Client {
    return {
      serviceNow: () => this.#clock.now(),
      earliest: (moment = Number.POSITIVE_INFINITY) => Math.min(moment, this.#clock.now()),
      products: { get: async ({ product_id }: { product_id: string }) => this.#product(product_id) },
      poll: async (_operation: unknown, input: ListInput) => this.#page(input),
      downloadInto: (target: Target, download: Download) => this.#download(target, download),
    } as unknown as Client;
  }

  add(reference: string, roles: readonly string[]): FakeProduct {
    const number = this.products.length + 1;
    const product = { id: idOf(number), reference, assets: [], changedAt: 0, deletedAt: null };
    this.products.push(product);
    for (const role of roles) this.attach(product, role);
    return product;
  }

  attach(product: FakeProduct, role: string): void {
    const id = idOf(1000 * Number(product.id.slice(-4)) + product.assets.length);
    // An ID is permanent: a detached asset keeps it.
    const isTaken = this.#taken.has(id);
    this.#taken.add(id);
    product.assets.push({
      ...{ id: isTaken ? idOf(++this.#spare) : id, role, edits: 0, watermarked: false, angle: "front" },
    });
    this.touch(product);
  }

  #spare = 90_000_000;
  readonly #taken = new Set<string>();

  touch(product: FakeProduct): void {
    product.changedAt = this.#clock.now();
  }

  /** Signs no URL of before: each one must be renewed. */
  expire(): void {
    this.expiredBefore = ++this.#signed;
  }

  #product(product_id: string): unknown {
    const found = this.products.find(({ id, deletedAt }) => id === product_id && deletedAt === null);
    if (found !== undefined) return found;
    const body = { type: "not_found", code: "not_found", message: "not found" } as const;
    throw new ApiError({ request: "GET /v1/products", status: 404, body });
  }

  #page({ cursor, since, role }: ListInput): unknown {
    this.pages++;
    if (cursor === undefined) this.since = since ?? null;
    const listed = this.products
      .filter(({ deletedAt, changedAt }) =>
        since === undefined ? deletedAt === null : Math.max(changedAt, deletedAt ?? 0) >= Date.parse(since),
      )
      .reverse();
    const at = cursor === undefined ? 0 : Number(cursor);
    const next = at + 2 < listed.length ? String(at + 2) : null;
    const roles = role?.split(",") ?? null;
    const data = listed.slice(at, at + 2).map((product) => this.#row(product, roles));
    return { data, next_cursor: next, has_more: next !== null };
  }

  #row(product: FakeProduct, roles: readonly string[] | null): ExportRow {
    const { id, reference, assets, deletedAt } = product;
    const isShown = (asset: FakeAsset) => deletedAt === null && (roles?.includes(asset.role) ?? true);
    return {
      product: {
        ...{ id, reference, name: `Name of ${reference}`, sex: null },
        deleted_at: deletedAt === null ? null : new Date(deletedAt).toISOString(),
      },
      assets: assets.filter(isShown).map((asset) => this.#asset(product, asset)),
    };
  }

  #asset(product: FakeProduct, { id, role, edits, watermarked, angle }: FakeAsset): ExportAsset {
    return {
      id,
      role,
      url: `https://files.test/${product.id}/${id}?signed=${++this.#signed}`,
      url_expires_at: "2100-01-01T00:00:00.000Z",
      mime_type: "image/jpeg",
      width: 1,
      height: null,
      ai_generated: role !== "source",
      watermarked,
      derived: edits > 0,
      created_at: "2026-01-01T00:00:00.000Z",
      task_id: null,
      attributes: { angle_shot: angle, ...(edits > 0 && { edit_number: edits }) },
      also_features: [],
      suggested_filename: `${product.reference}_${role}.jpg`,
    };
  }

  async #download(target: Target, { url, freshUrl, signal }: Download): Promise<number> {
    this.downloads++;
    signal?.throwIfAborted();
    const { pathname, searchParams } = new URL(url);
    if (Number(searchParams.get("signed")) < this.expiredBefore) {
      if (freshUrl === undefined) throw new SignedUrlError("expired", { code: "signed_url_refused" });
      return this.#download(target, { url: await freshUrl(), freshUrl, signal });
    }
    const [, productId, assetId] = pathname.split("/");
    const product = this.products.find(({ id }) => id === productId)!;
    const asset = product.assets.find(({ id }) => id === assetId);
    if (asset === undefined || product.deletedAt !== null || this.failing.has(asset.id))
      throw new BadResponseError(`${pathname} responded with status 500`, { code: "download_refused" });
    const bytes = bytesOf(product, asset);
    await target.begin({ etag: null, total: this.unannounced.has(asset.id) ? null : bytes.length });
    await target.write([bytes]);
    signal?.throwIfAborted();
    return bytes.length;
  }
}

/** A JPEG as far as its segments show: a comment, a scan without data, and the end. */
export function bytesOf(product: FakeProduct, { id, edits, watermarked }: FakeAsset): Buffer {
  const text = Buffer.from(`${product.id} ${id} edit ${edits}${watermarked ? " watermark" : ""}`);
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, text.length + 2]);
  return Buffer.concat([head, text, Buffer.from([0xff, 0xda, 0, 2, 0xff, 0xd9])]);
}

interface ListInput {
  cursor?: string;
  since?: string;
  role?: string;
}
type Target = Parameters<Client["downloadInto"]>[0];
type Download = Parameters<Client["downloadInto"]>[1];
