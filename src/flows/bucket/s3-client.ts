// The client of the store's SDK: its sign-in, and how its requests are sent.

import { setMaxListeners } from "node:events";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import type { OutsideExchange } from "../../http/outside-exchange.ts";
import { signInError, unusableKey } from "./store-errors.ts";

export interface StoreAccess {
  /** The address of the store; undefined for the one that the profile or the region names. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** Whether the bucket is part of the path, instead of the host. */
  readonly pathStyle: boolean;
  /** The source of credentials before profiles and roles. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly send: OutsideExchange;
  readonly signal: AbortSignal;
}

/** Opens a client with one attempt per request. `heard` gets the `Date` of each response, and its origin. */
export function openS3(
  { endpoint, region, pathStyle, env, send, signal }: StoreAccess,
  heard: (date: string | undefined, origin: string) => void,
): S3Client {
  // Each request listens for the interrupt.
  setMaxListeners(0, signal);
  const requestHandler = createHandler(send, { signal, heard });
  const client = new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    forcePathStyle: pathStyle,
    // Other stores than Amazon's reject or store the checksums that it asks for by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 1,
    // Its values set only limits of time, which are ours; an unknown one in the environment is an error.
    defaultsMode: "standard",
    // The steps of a request are assembled once per kind; empty responses are read without a stream.
    cacheMiddleware: true,
    streamCollector: buffer,
    requestHandler,
    credentials: readCredentials(env, { requestHandler: createHandler(send, { signal, heard: () => {} }) }),
  } as S3ClientConfig);
  for (const name of useless) client.middlewareStack.remove(name);
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as SdkRequest;
      // Of an image, whose metadata has it: the signature would compute it again.
      const digest = headers["x-amz-meta-sha256"];
      if (digest !== undefined) headers["x-amz-content-sha256"] = digest;
      return next(args);
    },
    { step: "build", name: "knownDigest" },
  );
  return client;
}

/** Steps of each request that do nothing here, and take a tenth of its processor time. */
const useless = [
  "loggerMiddleware",
  "recursionDetectionMiddleware",
  "regionRedirectMiddleware",
  "addExpectContinueMiddleware",
  "validateBucketNameMiddleware",
];

/** Variables first, then profiles, SSO, web identity and roles. `clientConfig`: of requests to sign in. */
function readCredentials(env: StoreAccess["env"], clientConfig: object): S3ClientConfig["credentials"] {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) {
    const provide = defaultProvider({ clientConfig });
    return () =>
      provide().catch((error: unknown) => {
        throw signInError(error);
      });
  }
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
  readonly headers: Record<string, string>;
  readonly body?: Uint8Array | string | Readable | undefined;
}

/** Sends the requests of the SDK as all others are sent: through proxies, with masks, and in `--verbose`. */
const createHandler = (
  send: OutsideExchange,
  { signal, heard }: { signal: AbortSignal; heard: (date: string | undefined, origin: string) => void },
) => ({
  metadata: { handlerProtocol: "http/1.1" },
  destroy() {},
  async handle(request: SdkRequest, { abortSignal = signal }: { abortSignal?: AbortSignal } = {}) {
    const { protocol, hostname, port, path, query = {}, method, body } = request;
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((item) => `${encoded(name)}=${encoded(String(item ?? ""))}`),
    );
    const headers = Object.entries(request.headers).filter(([name]) => name !== "host");
    // Of a key or a token: undici would throw an error that has it.
    if (headers.some(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value))) throw unusableKey();
    const origin = storeOrigin({ protocol, hostname, port });
    const response = await send({
      method,
      origin,
      path: pairs.length === 0 ? path : `${path}?${pairs.join("&")}`,
      headers: Object.fromEntries(headers),
      body,
      signal: abortSignal,
    });
    const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    const own = Object.fromEntries(fields) as Record<string, string>;
    heard(own.date, origin);
    return {
      response: {
        statusCode: response.status,
        headers: own,
        // A stream takes time, and only a response to GET needs one that is empty.
        ...((method === "GET" || own["content-length"] !== "0") && { body: Readable.from(pieces(response)) }),
        reason: "",
      },
    };
  },
});

/** The origin of a request, or of an endpoint, as the SDK describes it. */
export const storeOrigin = ({
  protocol,
  hostname,
  port,
}: Pick<SdkRequest, "protocol" | "hostname" | "port">): string =>
  `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`;

/** Percent-encoded as signatures need it. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

async function* pieces(response: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Uint8Array> {
  for await (const chunks of response) yield* chunks;
}
