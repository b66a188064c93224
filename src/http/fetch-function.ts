/** A request as `fetch` takes it. */
export interface FetchRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The headers, by lower-case names. */
  readonly headers: Record<string, string>;
  /** The body; absent for none. */
  // biome-ignore lint/suspicious/noExplicitAny: its type differs between runtimes.
  readonly body?: any;
  /** Redirects are not followed: the next host would get the API key. */
  readonly redirect: "manual";
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/** The part of a `Response` that is read. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers. */
  readonly headers: {
    /** Calls `each` for every header. */
    forEach(each: (value: string, name: string) => void): void;
  };
  /** The body; null for none. */
  readonly body: ReadableStream<Uint8Array> | null;
}

/** A function like the global `fetch`. As a method, its parameters are compared leniently. */
export type FetchFunction = {
  /** Sends a request. */
  send(url: string, request: FetchRequest): Promise<FetchResponse>;
}["send"];
