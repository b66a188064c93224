import { ApiError } from "../../../client/api-error.ts";
import type { Client } from "../../../client/client.ts";
import type { RawRequest, RawResponse } from "../../../client/exchanges.ts";
import { operations } from "../../../contract/client-operations.ts";
import type { Product } from "../../../contract/resources/products.ts";
import { CatalogueError } from "../../../errors.ts";
import { SignedUrlError } from "../../../http/errors.ts";
import { isObject } from "../../../json.ts";

/** A response of any status. */
export interface AskedResponse {
  readonly status: number;
  /** The body; empty if it is not a JSON object. */
  readonly json: object;
  header(name: string): string | undefined;
}

/** The status of a reply, and fields of the first error in it. */
export interface ExpectedError {
  readonly status: number;
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
}

/** A clause that cannot be asked now, and why. */
export class NotAsked {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** The body of a write: JSON, or bytes of a content type. */
type Body = { readonly json: unknown } | { readonly contentType: string; readonly bytes: Uint8Array };

interface Options {
  readonly client: Client;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** A PNG of one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAfbLI3wAAAABJRU5ErkJggg==",
  "base64",
);

/** A service that is asked about its clauses, with one product that exists only meanwhile. */
export class AskedService {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** A reference, and the start of idempotency keys, that no one else has. */
  readonly mark: string;
  #keys = 0;
  #product: Promise<Product> | null = null;
  readonly #made = new Set<string>();
  /** The import that may not have ended. */
  #running: string | null = null;

  constructor({ client, random, signal }: Options) {
    this.client = client;
    this.signal = signal;
    this.mark = `cat-doctor-${Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(12, "0")}`;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<AskedResponse> {
    return this.#ask({ method: "GET", path, headers });
  }

  /** `key` null: a new idempotency key. */
  async write(
    method: RawRequest["method"],
    path: string,
    body: Body | null,
    key: string | null = null,
  ): Promise<AskedResponse> {
    const sent =
      body !== null && "json" in body
        ? {
            contentType: method === "PATCH" ? "application/merge-patch+json" : "application/json",
            bytes: Buffer.from(JSON.stringify(body.json)),
          }
        : body;
    const headers = { "idempotency-key": key ?? this.newKey() };
    const response = await this.#ask({ method, path, body: sent, headers });
    const { id } = response.json as { id?: unknown };
    // Also one that should have been rejected.
    if (method === "POST" && path.split("?")[0] === "/v1/products" && typeof id === "string")
      this.#made.add(id);
    return response;
  }

  newKey(): string {
    return `${this.mark}-${++this.#keys}`;
  }

  /** Uploads a form with these fields, each of them a file. */
  async upload(
    fields: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  ): Promise<AskedResponse> {
    const form = new FormData();
    for (const { name, bytes } of fields) form.append(name, new Blob([Buffer.from(bytes)]), "doctor.png");
    const encoded = new Response(form);
    const contentType = encoded.headers.get("content-type") ?? "";
    return this.write("POST", "/v1/images", { contentType, bytes: Buffer.from(await encoded.arrayBuffer()) });
  }

  /** The throw-away product, made on the first call. */
  product(): Promise<Product> {
    this.#product ??= this.#create();
    return this.#product;
  }

  /** Deletes the product and creates it again; null, or why that does not work. */
  async recreate(): Promise<string | null> {
    const { id } = await this.product();
    await this.write("DELETE", `/v1/products/${id}`, null);
    this.#product = null;
    return this.product().then(
      () => null,
      (error: unknown) => {
        if (error instanceof NotAsked) return `${error.reason}; assumed: it can be used again`;
        throw error;
      },
    );
  }

  /** Null if a download of the URL gets 403, else what it gets. */
  async rejectionOf(url: string): Promise<string | null> {
    try {
      for await (const _ of this.client.download(url, { signal: this.signal })) break;
      return "it can be downloaded; assumed: 403";
    } catch (error) {
      if (error instanceof SignedUrlError && error.status === 403) return null;
      if (error instanceof CatalogueError && error.status !== undefined)
        return `status ${error.status}; assumed: 403`;
      throw error;
    }
  }

  /** Resolves when an import has ended. Until then it may create the product again. */
  async ended(id: string): Promise<void> {
    this.#running = id;
    await this.#end(id, 600_000, this.signal);
    this.#running = null;
  }

  /** A photo for a product: an upload of one pixel, which the service removes later (Images). */
  async photo(): Promise<{ image_id: string; orientation: string }> {
    const reply = await this.upload([{ name: "file", bytes: pixel }]);
    if (reply.status !== 201) throw new NotAsked(`POST /v1/images responded with ${reply.status}`);
    return { image_id: (reply.json as { id: string }).id, orientation: "front" };
  }

  /**
   * Deletes the products that the questions have created, also without a response; yields the error for each
   * one that may be left, with its ID or reference. Not aborted: they would stay.
   */
  async *remove(): AsyncGenerator<{ readonly product: string; readonly error: unknown }> {
    const { products, paginate } = this.client;
    try {
      if (this.#running !== null) await this.#end(this.#running, 60_000);
    } catch (error) {
      yield { product: this.mark, error };
    }
    try {
      for await (const { id, reference } of paginate(operations.products.list, { q: this.mark }))
        if (reference === this.mark) this.#made.add(id);
    } catch (error) {
      if (this.#made.size === 0) yield { product: this.mark, error };
    }
    for (const product_id of this.#made)
      try {
        await products.delete({ product_id });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) yield { product: product_id, error };
      }
  }

  async #create(): Promise<Product> {
    const body = { name: `Doctor ${this.mark}`, reference: this.mark, images: [await this.photo()] };
    const reply = await this.write("POST", "/v1/products", { json: body });
    if (reply.status !== 201) throw new NotAsked(`POST /v1/products responded with ${reply.status}`);
    return reply.json as Product;
  }

  #end(import_id: string, timeoutMs: number, signal?: AbortSignal): Promise<unknown> {
    const done = ({ status }: { status: string }) => status !== "validating" && status !== "processing";
    return this.client.poll(operations.imports.get, { import_id }, { done, timeoutMs, signal });
  }

  async #ask(request: RawRequest): Promise<AskedResponse> {
    const response = await this.client.raw(request, { signal: this.signal });
    if (response.status === 401) throw response.error;
    if (response.status === 403) throw new NotAsked(`the key may not: ${response.error?.message ?? 403}`);
    return {
      status: response.status,
      json: jsonOf(response),
      header: (name) => response.headers[name]?.toString(),
    };
  }
}

/** The body as a JSON object, or an empty one. Throws a BadResponseError for a success that is not JSON. */
function jsonOf(response: RawResponse): object {
  try {
    const json = response.json();
    return isObject(json) ? json : {};
  } catch (error) {
    // A page of something else than the service is no difference.
    if (response.status < 400 && response.status !== 204) throw error;
    return {};
  }
}

/** How a reply differs from the expected one; null if it does not. */
export function differenceOf(reply: AskedResponse, { status, ...error }: ExpectedError): string | null {
  const seen = reply.json as { error?: Record<string, unknown>; errors?: Record<string, unknown>[] };
  const first = seen.error ?? seen.errors?.[0] ?? {};
  const isSame =
    reply.status === status && Object.entries(error).every(([field, value]) => first[field] === value);
  if (isSame) return null;
  const names = Object.keys(error);
  const shown = (from: Record<string, unknown>) =>
    names.map((name) => `, ${name} ${JSON.stringify(from[name] ?? null)}`).join("");
  return `${reply.status}${shown(first)}; assumed: ${status}${shown(error)}`;
}
