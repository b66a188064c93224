// A bucket: objects by key, in any store with the S3 interface.

import type { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Clock } from "../../clock.ts";
import type { BucketAddress } from "./address.ts";
import { type ObjectContent, toContent } from "./content.ts";
import { type DirectUpload, directPut } from "./direct-put.ts";
import { openS3, type StoreAccess } from "./s3-client.ts";
import { isTransient, readStatus, storeError } from "./store-errors.ts";

export interface BucketOptions extends BucketAddress, StoreAccess {
  readonly clock: Clock;
  /** 0 (inclusive) to 1 (exclusive), for the jitter of waits. */
  readonly random: () => number;
}

/** Everything about an object but its bytes. */
export interface ObjectInfo {
  readonly bytes: number;
  readonly etag: string;
  /** Names in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

interface ListedObject extends Omit<ObjectInfo, "metadata"> {
  readonly key: string;
  /** When it was written, in Unix milliseconds; infinite if the store does not say so. */
  readonly at: number;
}

/** A condition of a write: no object has the key, or the object that has it has this ETag. */
export type Condition = "absent" | { readonly etag: string };

/** How the store understands an ETag in a condition; null if it does not check conditions. */
export type EtagForm = "quoted" | "bare";

export interface PutOptions {
  readonly type?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly condition?: Condition;
  /** Whether it is sent even after an interrupt. */
  readonly isAfterInterrupt?: boolean;
}

/** An object that is sent in parts. Call `complete` or `abort` at the end. */
export interface PartsUpload {
  /** Every part but the last has 5 MiB at least. */
  add(body: Uint8Array): Promise<void>;
  /** False if the condition does not hold. */
  complete(condition?: Condition): Promise<boolean>;
  /** Removes the parts; never throws. */
  abort(): Promise<void>;
}

const mostAttempts = 5;
const shortestWaitMs = 250;

/** The metadata field that tells one write from another. */
const writeField = "catalogue-write";

/** A prefix of a bucket. Methods throw a CatError with the next step. Keys are relative to the prefix. */
export class Bucket {
  readonly #options: BucketOptions;
  readonly #s3: S3Client;
  readonly #putDirectly: DirectUpload;
  /** How far the store's clock is ahead of the local one, in milliseconds; null before its first response. */
  #ahead: number | null = null;
  etagForm: EtagForm = "quoted";

  constructor(options: BucketOptions) {
    this.#options = options;
    let origin = "";
    this.#s3 = openS3(options, (date, from) => {
      origin = from;
      const there = Date.parse(date ?? "");
      if (!Number.isNaN(there)) this.#ahead = there - options.clock.now();
    });
    this.#putDirectly = directPut(this.#s3, { ...options, now: () => this.now(), origin: () => origin });
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
   * Writes an object, which appears complete or not at all. Resolves to its ETag; null if the condition does
   * not hold. Where a response got lost or the store failed, the object itself tells whether it is of this
   * write.
   */
  async put(key: string, content: ObjectContent, options: PutOptions = {}): Promise<string | null> {
    const { type = "application/octet-stream", metadata = {}, condition, isAfterInterrupt = false } = options;
    const write = crypto.randomUUID();
    const object = {
      ...this.#at(key),
      ContentMD5: content.md5,
      ContentType: type,
      Metadata: { ...metadata, [writeField]: write },
      ...this.#conditions(condition),
    };
    const send = async () => {
      const Body = content.open();
      const { sha256 } = metadata;
      if (Body instanceof Uint8Array && sha256 !== undefined && !isAfterInterrupt) {
        const etag = await this.#putDirectly({ ...object, Metadata: { ...object.Metadata, sha256 }, Body });
        if (etag !== null) return etag;
      }
      const command = new PutObjectCommand({ ...object, Body, ContentLength: content.bytes });
      // Without options, its steps are assembled already.
      const { ETag } = await (isAfterInterrupt
        ? this.#s3.send(command, { abortSignal: never() })
        : this.#s3.send(command));
      return written(ETag);
    };
    return this.#again(`write ${key}`, send, async (error) => {
      const isRejected = isConditionFailure(error, condition);
      if (condition === undefined || !(isRejected || isTransient(error))) return undefined;
      const object = await this.head(key);
      if (object?.metadata[writeField] === write) return object.etag;
      return isRejected || (condition === "absent" && object !== null) ? null : undefined;
    });
  }

  /** Begins an object of unknown length, sent in parts: it appears when it is completed. */
  async beginParts(key: string, type: string): Promise<PartsUpload> {
    const at = this.#at(key);
    const write = crypto.randomUUID();
    const whole = { ...at, ContentType: type, Metadata: { [writeField]: write } };
    const begun = await this.#again(`write ${key}`, () =>
      this.#s3.send(new CreateMultipartUploadCommand(whole)),
    );
    const upload = { ...at, UploadId: begun.UploadId! };
    const parts: { PartNumber: number; ETag: string }[] = [];
    return {
      add: async (body) => {
        const PartNumber = parts.length + 1;
        const { bytes, md5 } = toContent(body);
        const part = { ...upload, PartNumber, Body: body, ContentLength: bytes, ContentMD5: md5 };
        const send = async () => written((await this.#s3.send(new UploadPartCommand(part))).ETag);
        parts.push({ PartNumber, ETag: await this.#again(`write ${key}`, send) });
      },
      complete: async (condition) => {
        // Stores that know conditions of a PUT may ignore or reject them here.
        if (!(await this.fulfills(key, condition))) return false;
        const all = { ...upload, MultipartUpload: { Parts: parts } };
        const send = async () => {
          const { Key, ETag, Location } = await this.#s3.send(new CompleteMultipartUploadCommand(all));
          written(Key ?? ETag ?? Location);
          return true;
        };
        return this.#again(`write ${key}`, send, async (error) => {
          if ((error as Error).name !== "NoSuchUpload") return undefined;
          // An earlier attempt has completed it, whose response got lost; or the store has removed its parts.
          return (await this.head(key))?.metadata[writeField] === write ? true : undefined;
        });
      },
      abort: async () => {
        // Also after an interrupt: parts cost money until they are removed.
        await this.#s3
          .send(new AbortMultipartUploadCommand(upload), { abortSignal: never() })
          .catch(() => {});
      },
    };
  }

  /** The object and its bytes; null if no object has the key. */
  async get(key: string): Promise<(ObjectInfo & { readonly body: AsyncIterable<Uint8Array> }) | null> {
    const response = await this.#orNull(`read ${key}`, () =>
      this.#s3.send(new GetObjectCommand(this.#at(key))),
    );
    if (response === null) return null;
    return { ...toInfo(response), body: this.#bytes(response.Body as Readable, key) };
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const response = await this.#orNull(`read ${key}`, () =>
      this.#s3.send(new HeadObjectCommand(this.#at(key))),
    );
    return response === null ? null : toInfo(response);
  }

  /** Whether a condition holds: the look before a write that the store does not check. */
  async fulfills(key: string, condition: Condition | undefined): Promise<boolean> {
    if (condition === undefined) return true;
    const object = await this.head(key);
    if (condition === "absent") return object === null;
    return object !== null && bareEtag(object.etag) === bareEtag(condition.etag);
  }

  /** Whether an object has the key, by a list: errors of `head` have only a status. */
  async has(key: string): Promise<boolean> {
    for await (const first of this.list(key)) return first.key === key;
    return false;
  }

  /** The objects whose keys begin with a text, in order of their keys; 1,000 a request. */
  async *list(start: string): AsyncIterable<ListedObject> {
    const { bucket, prefix } = this.#options;
    for (let after: string | undefined; ; ) {
      const page = await this.#again(`list ${this.shown}`, () =>
        this.#s3.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + start, ContinuationToken: after }),
        ),
      );
      // A page of HTML would look like an empty list, and an empty mirror.
      if (page.Name === undefined && page.KeyCount === undefined)
        throw this.#error(new SyntaxError("not a list"), `list ${this.shown}`);
      for (const { Key = "", Size = 0, ETag = "", LastModified } of page.Contents ?? [])
        yield {
          key: Key.slice(prefix.length),
          bytes: Size,
          etag: ETag,
          at: LastModified?.getTime() ?? Number.POSITIVE_INFINITY,
        };
      if (page.IsTruncated !== true || page.NextContinuationToken === undefined) return;
      after = page.NextContinuationToken;
    }
  }

  /** Removes an object; a missing one is removed already. */
  async remove(key: string): Promise<void> {
    await this.#orNull(`delete ${key}`, () => this.#s3.send(new DeleteObjectCommand(this.#at(key))));
  }

  /** Resolves to the ETag of the copy. */
  async copy(from: string, to: string): Promise<string> {
    const { bucket, prefix } = this.#options;
    const source = [bucket, ...(prefix + from).split("/")].map(encodeURIComponent).join("/");
    return this.#again(`copy ${from}`, async () => {
      const command = new CopyObjectCommand({ ...this.#at(to), CopySource: source });
      return written((await this.#s3.send(command)).CopyObjectResult?.ETag);
    });
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: this.#options.prefix + key };
  }

  #conditions(condition: Condition | undefined): { IfNoneMatch?: string; IfMatch?: string } {
    if (condition === undefined) return {};
    if (condition === "absent") return { IfNoneMatch: "*" };
    const bare = bareEtag(condition.etag);
    return { IfMatch: this.etagForm === "bare" ? bare : `"${bare}"` };
  }

  /** Null if no object has the key. */
  async #orNull<Output>(act: string, send: () => Promise<Output>): Promise<Output | null> {
    try {
      return await this.#again(act, send);
    } catch (error) {
      const { status, code } = error as { status?: number; code?: string };
      if (status === 404 && code !== "bucket_not_found" && code !== "not_a_store") return null;
      throw error;
    }
  }

  /** Sends until it succeeds or fails for good. `resultAfter` may know the result of a failed attempt. */
  async #again<Result>(
    act: string,
    send: () => Promise<Result>,
    resultAfter: (error: unknown) => Promise<Result | undefined> = async () => undefined,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        this.#options.signal.throwIfAborted();
        const result = await resultAfter(error);
        if (result !== undefined) return result;
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

const toInfo = ({ ContentLength = 0, ETag = "", Metadata = {} }: HeadObjectCommandOutput): ObjectInfo => ({
  bytes: ContentLength,
  etag: ETag,
  metadata: Metadata,
});

/** Marks the response of a store to a write: an HTML page with status 200 is none. */
function written(sign: string | undefined): string {
  if (sign === undefined) throw new SyntaxError("not the response to a write");
  return sign;
}

const never = (): AbortSignal => new AbortController().signal;

export const bareEtag = (etag: string): string => etag.replaceAll('"', "");

/** Whether a store did not write because of the condition; some say that the object is missing. */
function isConditionFailure(error: unknown, condition: Condition | undefined): boolean {
  const status = readStatus(error);
  return status === 412 || (status === 404 && typeof condition === "object");
}
