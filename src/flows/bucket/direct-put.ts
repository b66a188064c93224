// Uploads of images past the SDK's steps, which take as long as all else: it only signs, and finds the host.

import type { S3Client } from "@aws-sdk/client-s3";
import { encoded, storeOrigin } from "./s3-client.ts";

/** As the SDK names its parts. */
interface ObjectToPut {
  readonly Key: string;
  readonly Body: Uint8Array;
  readonly ContentMD5: string;
  readonly ContentType: string;
  /** With the SHA-256 of the body, which the signature needs. */
  readonly Metadata: Readonly<Record<string, string>> & { readonly sha256: string };
  readonly IfNoneMatch?: string;
  readonly IfMatch?: string;
}

/** Sends an object in memory; resolves to its ETag, or to null if the SDK must handle a failure. */
export type DirectUpload = (object: ObjectToPut) => Promise<string | null>;

/** The parts of the SDK's settings that are used here. */
interface Settings {
  readonly endpoint?: () => Promise<{ protocol: string; hostname: string; port?: number; path: string }>;
  readonly endpointProvider: (about: Readonly<Record<string, unknown>>) => {
    readonly url: URL;
    readonly properties?: { readonly authSchemes?: readonly { readonly name: string }[] };
  };
  readonly forcePathStyle: boolean;
  readonly region: () => Promise<string>;
  readonly requestHandler: {
    handle(request: unknown): Promise<{
      readonly response: {
        readonly statusCode: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly body?: { destroy(): void };
      };
    }>;
  };
  readonly signer: (scheme: object) => Promise<{ sign(request: object, options: object): Promise<unknown> }>;
  readonly useDualstackEndpoint: () => Promise<boolean>;
  readonly useFipsEndpoint: () => Promise<boolean>;
}

interface DirectPutOptions {
  readonly bucket: string;
  readonly signal: AbortSignal;
  /** The Unix milliseconds of the store. */
  readonly now: () => number;
  /** Where the last request of the SDK went; called after one. */
  readonly origin: () => string;
}

/** The way past the SDK for a bucket. It is given up after its first failure. */
export function directPut(client: S3Client, options: DirectPutOptions): DirectUpload {
  let opened: Promise<DirectUpload> | null = null;
  let isUsed = true;
  return async (object) => {
    if (!isUsed) return null;
    try {
      opened ??= openWay(client.config as unknown as Settings, options);
      const etag = await (await opened)(object);
      // An upload in flight may still succeed.
      if (etag === null) isUsed = false;
      return etag;
    } catch {
      options.signal.throwIfAborted();
      isUsed = false;
      return null;
    }
  };
}

async function openWay(settings: Settings, { bucket, now, origin }: DirectPutOptions): Promise<DirectUpload> {
  const custom = await settings.endpoint?.();
  const { url, properties } = settings.endpointProvider({
    Bucket: bucket,
    Region: await settings.region(),
    ForcePathStyle: settings.forcePathStyle,
    UseFIPS: await settings.useFipsEndpoint(),
    UseDualStack: await settings.useDualstackEndpoint(),
    Endpoint: custom && `${storeOrigin(custom)}${custom.path}`,
  });
  // A profile or the environment may name another store, in a way that is unknown here.
  if (url.origin !== origin()) throw new Error("the SDK sends requests elsewhere");
  const scheme = properties?.authSchemes?.find(({ name }) => name === "sigv4");
  if (scheme === undefined) throw new Error("requests are signed in another way");
  const signer = await settings.signer(scheme);
  const to = {
    method: "PUT",
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port !== "" && { port: Number(url.port) }),
    query: {},
  };
  // As the SDK joins them.
  const base = url.pathname === "/" ? "" : url.pathname;
  return async (object) => {
    const path = `${base}/${object.Key.split("/").map(encoded).join("/")}`;
    const headers = { ...toHeaders(object), host: url.host };
    const request = { ...to, path, headers, body: object.Body };
    const signed = await signer.sign(request, { signingDate: new Date(now()) });
    const { response } = await settings.requestHandler.handle(signed);
    response.body?.destroy();
    return response.statusCode === 200 ? (response.headers.etag ?? null) : null;
  };
}

const toHeaders = ({ Body, ContentMD5, ContentType, Metadata, IfNoneMatch, IfMatch }: ObjectToPut) => ({
  ...Object.fromEntries(Object.entries(Metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
  "content-length": String(Body.length),
  "content-md5": ContentMD5,
  "content-type": ContentType,
  "x-amz-content-sha256": Metadata.sha256,
  ...(IfNoneMatch !== undefined && { "if-none-match": IfNoneMatch }),
  ...(IfMatch !== undefined && { "if-match": IfMatch }),
});
