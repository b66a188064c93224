// A bucket: objects by key, in any store with the S3 interface.

import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import type { Clock } from "../../clock.ts";
import type { OutsideExchange } from "../../http/outside-exchange.ts";
import type { BucketAddress } from "./address.ts";
import { isTransient, statusOf, storeError } from "./store-errors.ts";

export interface BucketOptions extends BucketAddress {
  /** The address of the store; undefined for the one that the profile or the region names. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** Whether the bucket is part of the path, instead of the host. */
  readonly pathStyle: boolean;
  /** The source of credentials before profiles and roles. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly send: OutsideExchange;
  readonly clock: Clock;
  /** 0 (inclusive) to 1 (exclusive), for the jitter of waits. */
  readonly random: () => number;
  /** A new text, unlike any other. */
  readonly newId: () => string;
  readonly signal: AbortSignal;
}

/** Everything about an object but its bytes. */
export interface ObjectInfo {
  readonly bytes: number;
  readonly etag: string;
  /** Names in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes that can be sent several times. */
export interface ObjectContent {
  readonly bytes: number;
  /** Base64. */
  readonly md5: string;
  open(): Uint8Array | Readable;
}

/** What must be true for a write: no object has the key, or the object that has it has this ETag. */
export type Condition = "absent" | { readonly etag: string };

/** How the store understands an ETag in a condition; null if it does not check conditions. */
export type EtagForm = "quoted" | "bare";

interface PutOptions {
  readonly type?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly condition?: Condition;
}

const mostAttempts = 5;
const shortestWaitMs = 250;

/** The metadata field that tells one write from another. */
const writeField = "catalogue-write";

/** Content in memory. */
export const contentOf = (body: Uint8Array): ObjectContent => ({
  bytes: body.length,
  md5: createHash("md5").update(body).digest("base64"),
  open: () => body,
});

/** A prefix of a bucket. Methods throw a CatError with the next step. Keys are relative to the prefix. */
export class Bucket {
  readonly #options: BucketOptions;
  readonly #s3: S3Client;
  /** How far the store's clock is ahead of the local one, in milliseconds; null before its first response. */
  #ahead: number | null = null;
  etagForm: EtagForm = "quoted";

  constructor(options: BucketOptions) {
    this.#options = options;
    const { endpoint, region, pathStyle, env, send } = options;
    const heard = (date: string | undefined) => {
      const there = Date.parse(date ?? "");
      if (!Number.isNaN(there)) this.#ahead = there - options.clock.now();
    };
    const requestHandler = handlerOf(send, heard);
    this.#s3 = new S3Client({
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
      forcePathStyle: pathStyle,
      // Other stores than Amazon's reject or store the checksums that it asks for by default.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      // Attempts are counted here, by the clock of the program.
      maxAttempts: 1,
      requestHandler,
      credentials: credentialsOf(env),
    } as S3ClientConfig);
  }

  /** The address, as users write it. */
  get shown(): string {
    const { bucket, prefix } = this.#options;
    return `s3://${bucket}/${prefix}`.replace(/\/$/, "");
  }

  /** The time of the store in Unix milliseconds; that of this machine before its first response. */
  now(): number {
    return this.#options.clock.now() + (this.#ahead ?? 0);
  }

  /**
   * Writes an object, which appears complete or not at all. Resolves to its ETag; null if the condition does not hold. Where a
   * response got lost or the store failed, the object itself tells whether it is of this write.
   */
  async put(key: string, content: ObjectContent, options: PutOptions = {}): Promise<string | null> {
    const { type = "application/octet-stream", metadata = {}, condition } = options;
    const write = this.#options.newId();
    for (let attempt = 1; ; attempt++) {
      try {
        const { ETag } = await this.#s3.send(
          new PutObjectCommand({
            ...this.#at(key),
            Body: content.open(),
            ContentLength: content.bytes,
            ContentMD5: content.md5,
            ContentType: type,
            Metadata: { ...metadata, [writeField]: write },
            ...this.#conditions(condition),
          }),
          { abortSignal: this.#options.signal },
        );
        return ETag ?? "";
      } catch (error) {
        this.#options.signal.throwIfAborted();
        const status = statusOf(error);
        const isRefused = status === 412 || (status === 404 && typeof condition === "object");
        const isConflict = condition !== undefined && status === 409;
        if (!isRefused && !isConflict && !isTransient(error)) throw this.#error(error, `write ${key}`);
        if (condition !== undefined) {
          const found = await this.head(key);
          if (found?.metadata[writeField] === write) return found.etag;
          if (isRefused || (condition === "absent" && found !== null)) return null;
        }
        if (attempt === mostAttempts) throw this.#error(error, `write ${key}`);
        await this.#pause(attempt);
      }
    }
  }

  /** The object and its bytes; null if no object has the key. */
  async get(key: string): Promise<(ObjectInfo & { readonly body: AsyncIterable<Uint8Array> }) | null> {
    const found = await this.#orNull(`read ${key}`, () => new GetObjectCommand(this.#at(key)));
    if (found === null) return null;
    return { ...toInfo(found), body: this.#bytes(found.Body as Readable, key) };
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const found = await this.#orNull(`read ${key}`, () => new HeadObjectCommand(this.#at(key)));
    return found === null ? null : toInfo(found);
  }

  /** The objects whose keys begin with a text, in order of their keys; 1,000 a request. */
  async *list(start: string): AsyncIterable<{ readonly key: string; readonly bytes: number }> {
    const { bucket, prefix } = this.#options;
    for (let after: string | undefined; ; ) {
      const page = await this.#again(`list ${this.shown}`, () =>
        this.#s3.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + start, ContinuationToken: after }),
          { abortSignal: this.#options.signal },
        ),
      );
      // A page of HTML would look like an empty list, and an empty mirror.
      if (page.Name === undefined && page.KeyCount === undefined)
        throw this.#error(new SyntaxError("not a list"), `list ${this.shown}`);
      for (const { Key = "", Size = 0 } of page.Contents ?? [])
        yield { key: Key.slice(prefix.length), bytes: Size };
      if (page.IsTruncated !== true || page.NextContinuationToken === undefined) return;
      after = page.NextContinuationToken;
    }
  }

  /** Removes an object; a missing one is removed already. */
  async remove(key: string): Promise<void> {
    await this.#orNull(`delete ${key}`, () => new DeleteObjectCommand(this.#at(key)));
  }

  async copy(from: string, to: string): Promise<void> {
    const { bucket, prefix } = this.#options;
    const source = [bucket, ...(prefix + from).split("/")].map(encodeURIComponent).join("/");
    await this.#again(`copy ${from}`, () =>
      this.#s3.send(new CopyObjectCommand({ ...this.#at(to), CopySource: source }), {
        abortSignal: this.#options.signal,
      }),
    );
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: this.#options.prefix + key };
  }

  #conditions(condition: Condition | undefined): { IfNoneMatch?: string; IfMatch?: string } {
    if (condition === undefined) return {};
    if (condition === "absent") return { IfNoneMatch: "*" };
    const bare = condition.etag.replaceAll('"', "");
    return { IfMatch: this.etagForm === "bare" ? bare : `"${bare}"` };
  }

  async #orNull<Output>(
    act: string,
    command: () => { readonly output?: Output } | object,
  ): Promise<ReadOutput | null> {
    try {
      return await this.#again(act, async () => {
        const sent = this.#s3.send(command() as GetObjectCommand, { abortSignal: this.#options.signal });
        return (await sent) as ReadOutput;
      });
    } catch (error) {
      const { status, code } = error as { status?: number; code?: string };
      if (status === 404 && code !== "bucket_not_found") return null;
      throw error;
    }
  }

  async #again<Result>(act: string, send: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        this.#options.signal.throwIfAborted();
        if (attempt === mostAttempts || !isTransient(error)) throw this.#error(error, act);
        await this.#pause(attempt);
      }
    }
  }

  async *#bytes(body: Readable, key: string): AsyncIterable<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw this.#error(error, `read ${key}`);
    }
  }

  #pause(attempt: number): Promise<void> {
    const { clock, random, signal } = this.#options;
    return clock.sleep(shortestWaitMs * 2 ** (attempt - 1) * (1 + random()), signal);
  }

  #error(error: unknown, act: string): unknown {
    return storeError(error, act, this.#options.bucket);
  }
}

interface ReadOutput {
  readonly ContentLength?: number | undefined;
  readonly ETag?: string | undefined;
  readonly Metadata?: Record<string, string> | undefined;
  readonly Body?: unknown;
}

const toInfo = ({ ContentLength = 0, ETag = "", Metadata = {} }: ReadOutput): ObjectInfo => ({
  bytes: ContentLength,
  etag: ETag,
  metadata: Metadata,
});

/** The variables of the environment first; then the profiles, SSO, web identity and roles that the SDK knows. */
function credentialsOf(env: BucketOptions["env"]): S3ClientConfig["credentials"] {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) return defaultProvider();
  const { AWS_SESSION_TOKEN: sessionToken } = env;
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

/** The parts of a request of the SDK that its handler reads. */
interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | Readable | undefined;
}

/** Sends the requests of the SDK as all others are sent: through proxies, with masks, and in `--verbose`. */
const handlerOf = (send: OutsideExchange, heard: (date: string | undefined) => void) => ({
  metadata: { handlerProtocol: "http/1.1" },
  destroy() {},
  async handle(request: SdkRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) {
    const { protocol, hostname, port, path, query = {}, method, body } = request;
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one) => `${encoded(name)}=${encoded(String(one ?? ""))}`),
    );
    // undici rejects `Expect`, which the SDK sends with large bodies.
    const headers = Object.entries(request.headers).filter(([name]) => !/^(host|expect)$/i.test(name));
    const response = await send({
      method,
      origin: `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`,
      path: pairs.length === 0 ? path : `${path}?${pairs.join("&")}`,
      headers: Object.fromEntries(headers),
      body,
      signal: abortSignal,
    });
    const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    const own = Object.fromEntries(fields) as Record<string, string>;
    heard(own.date);
    return {
      response: {
        statusCode: response.status,
        headers: own,
        body: Readable.from(pieces(response)),
        reason: "",
      },
    };
  },
});

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

async function* pieces(response: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Uint8Array> {
  for await (const chunks of response) yield* chunks;
}
