import type { Clocks } from "../../clock.ts";

/** Headers of the caller by name, in any case. Those that the client sets itself are rejected. */
export type OwnHeaders = Readonly<Record<string, string | undefined>>;

/** Limits and headers of one request, and to each request of a list or a poll. */
export interface RequestLimits {
  /** Aborts the request, including its waits and retries, with an error of type `aborted` whose `cause` is the reason. */
  signal?: AbortSignal | undefined;
  /**
   * The request with all its retries and their waits, in milliseconds. A wait in the queue of the rate limit does not count:
   * `signal: AbortSignal.timeout(ms)` bounds everything. Default: `timeLimits.totalMs` of the client.
   */
  timeoutMs?: number | undefined;
  /** How often the request is repeated at most, whatever the reason; 0: one attempt. Default: by `retry` of the client. */
  retries?: number | undefined;
  /** Headers in addition to those of the client, which they replace: a plain object. */
  headers?: OwnHeaders | undefined;
}

/** Options of one request. */
export interface CallOptions extends RequestLimits {
  /**
   * For writes: the service runs a request once per key, and returns the stored response to a repeat within 24 hours
   * (Cross-cutting rules 1 to 6). 1 to 255 visible ASCII characters. Default: a new random key.
   */
  idempotencyKey?: string | undefined;
  /**
   * When the key was first used, in Unix milliseconds by the local clock (`here`) and the service's (`service`, or null).
   * The request is not sent once the key is 23 hours old. Default: now.
   */
  keyFrom?: Clocks | undefined;
  /**
   * Reports whether the service may have performed the write: false at the start, true when the request is sent, false again
   * after a 429. If the request is rejected, the last report is decisive.
   */
  onDoubt?: ((inDoubt: boolean) => void) | undefined;
}

/** Options of a list that is read page by page. */
export interface ListOptions extends RequestLimits {
  /** Whether to request each page while the entries of the one before are used. Default: false. */
  isAhead?: boolean | undefined;
}

/** The entries of a list, read page by page as they are used. Each loop starts with the first page. */
export interface Entries<Entry> extends AsyncIterable<Entry> {
  /** All entries, or the first `limit`. */
  toArray(options?: {
    /** The most entries to read, from 1. Default: all. */
    limit?: number | undefined;
  }): Promise<Entry[]>;
}

/** One page of a list (List envelope). */
export interface Page<Entry> {
  /** The entries of this page. */
  data: Entry[];
  /** Pass it as `cursor` to get the next page; null on the last page. */
  next_cursor: string | null;
  /** Whether there is a next page. */
  has_more: boolean;
}

/** A JSON body: as a value, or as its bytes, which are sent unchanged. */
export type JsonBody<Body> =
  | {
      /** The body of the request. */
      body: Body;
      json?: never;
      ndjson?: never;
    }
  | {
      /** The body as JSON, sent unchanged. */
      json: Uint8Array | string;
      body?: never;
      ndjson?: never;
    };

/** A JSON body that may be missing: all its fields are optional. */
export type OptionalJsonBody<Body> = JsonBody<Body> | { body?: never; json?: never; ndjson?: never };

/** The input of an operation without parameters and body. */
export type NoInput = Record<string, never>;

/** The bytes of an image, or where they are: a `string` is the path of a file. At most 10 MB; streams are read to the end. */
export type ImageSource =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | string
  | URL
  | {
      /** The bytes of the file. */
      bytes: Uint8Array;
      /** The name of the file, without folders. */
      filename: string;
    };

/** An image to upload: JPEG, PNG or WebP, determined from the bytes. */
export type Upload =
  | ImageSource
  | {
      /** The image. */
      file: ImageSource;
    };

/** An operation of the service as a value. `Input` and `Response` exist for the compiler only. */
export interface Operation<Input, Response, Method = "GET" | "POST" | "PATCH" | "DELETE"> {
  /** The HTTP method. */
  readonly method: Method;
  /** The path with its parameters in braces, for example `/v1/products/{product_id}`. */
  readonly path: string;
  /** One sentence about the operation. */
  readonly summary: string;
  /** The scope that the API key needs, for example `products:read`. */
  readonly scope: string;
  /** The status of success. */
  readonly status: number;
  /** Missing at run time. */
  readonly types?: {
    /** The input of the operation. */
    readonly input: Input;
    /** Its response. */
    readonly response: Response;
  };
}

/** The input of an operation. */
export type Input<O> = O extends Operation<infer Taken, infer _> ? Taken : never;

/** The response of an operation: the parsed body, or null if it has none. */
export type Reply<O> = O extends Operation<infer _, infer Response> ? Response : never;

/** The entries of a list operation. */
export type Item<O> = Reply<O> extends Page<infer Entry> ? Entry : never;
