import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

interface StoredObject {
  /** Unix milliseconds. */
  readonly at: number;
  readonly body: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a store of this kind does otherwise. */
export interface S3Faults {
  /** Accepts every conditional write, as some stores do. */
  ignoresConditions?: boolean;
  /** Answers 501 to every conditional write, as others do. */
  lacksConditions?: boolean;
  /** The response to a request instead of its own, after the work was done; null for its own. */
  instead?: (
    method: string,
    key: string,
  ) => (Partial<Reply> & { status: number; body: string }) | "cut" | null;
}

/** An object store in memory, with the parts of the S3 interface that mirrors use, and one bucket `shop`. Lists have several pages. */
export async function startObjectStore(now: () => number = Date.now, keysPerPage = 2) {
  const objects = new Map<string, StoredObject>();
  const faults: S3Faults = {};
  const requests: string[] = [];
  /** The keys that the SDK has written, with all its steps. */
  const writtenBySdk: string[] = [];
  /** The parts of unfinished uploads, by upload ID. */
  const uploads = new Map<string, Map<number, Buffer>>();
  const begun = new Map<string, Record<string, string>>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const url = new URL(request.url!, "http://store");
    const [bucket = "", ...parts] = url.pathname.slice(1).split("/").map(decodeURIComponent);
    const key = parts.join("/");
    requests.push(`${request.method} ${key === "" ? `?${url.searchParams.get("prefix") ?? ""}` : key}`);
    const reply = bucket === "shop" ? answer(request, { key, url, body }) : failure(404, "NoSuchBucket");
    if (request.method === "PUT" && "amz-sdk-invocation-id" in request.headers) writtenBySdk.push(key);
    const instead = faults.instead?.(request.method!, key) ?? null;
    if (instead === "cut") return void response.socket?.resetAndDestroy();
    send(response, request, instead === null ? reply : { headers: {}, ...instead }, now());
  });
  const answer = (
    request: IncomingMessage,
    { key, url, body }: { key: string; url: URL; body: Buffer },
  ): Reply => {
    const found = objects.get(key);
    const upload = url.searchParams.get("uploadId");
    if (upload !== null || url.searchParams.has("uploads"))
      return sendParts(request, { upload, part: Number(url.searchParams.get("partNumber")), key, body });
    switch (request.method) {
      case "GET":
        if (key === "") return list(objects, url.searchParams, keysPerPage);
        return found === undefined
          ? failure(404, "NoSuchKey")
          : { status: 200, headers: found.headers, body: found.body };
      case "HEAD":
        return found === undefined
          ? { status: 404, headers: {}, body: "" }
          : {
              status: 200,
              headers: { ...found.headers, "content-length": String(found.body.length) },
              body: "",
            };
      case "DELETE":
        objects.delete(key);
        return { status: 204, headers: {}, body: "" };
      default:
        return put(request, { key, body, found });
    }
  };
  const sendParts = (
    { method, headers }: IncomingMessage,
    { upload, part, key, body }: { upload: string | null; part: number; key: string; body: Buffer },
  ): Reply => {
    if (upload === null) {
      const id = `upload-${uploads.size + 1}`;
      uploads.set(id, new Map());
      begun.set(id, keptOf(headers));
      const text = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
      return { status: 200, headers: { "content-type": "application/xml" }, body: text };
    }
    const parts = uploads.get(upload);
    if (parts === undefined) return failure(404, "NoSuchUpload");
    if (method === "PUT") {
      if (createHash("md5").update(body).digest("base64") !== headers["content-md5"])
        return failure(400, "BadDigest");
      parts.set(part, body);
      return { status: 200, headers: { etag: `"${part}"` }, body: "" };
    }
    uploads.delete(upload);
    if (method === "DELETE") return { status: 204, headers: {}, body: "" };
    const etag = `"${createHash("md5").update(upload).digest("hex")}-${parts.size}"`;
    const all = [...parts.keys()].sort((one, other) => one - other).map((number) => parts.get(number)!);
    objects.set(key, { body: Buffer.concat(all), etag, at: now(), headers: { ...begun.get(upload), etag } });
    const text = `<CompleteMultipartUploadResult><Key>${xml(key)}</Key></CompleteMultipartUploadResult>`;
    return { status: 200, headers: { "content-type": "application/xml" }, body: text };
  };
  const put = (
    { headers }: IncomingMessage,
    { key, body, found }: { key: string; body: Buffer; found: StoredObject | undefined },
  ): Reply => {
    const { "if-none-match": none, "if-match": match, "content-md5": md5 } = headers;
    const isConditional = none !== undefined || match !== undefined;
    if (isConditional && faults.lacksConditions === true) return failure(501, "NotImplemented");
    const source = headers["x-amz-copy-source"];
    if (typeof source === "string") {
      const from = objects.get(source.split("/").slice(1).map(decodeURIComponent).join("/"));
      if (from === undefined) return failure(404, "NoSuchKey");
      objects.set(key, from);
      return {
        status: 200,
        headers: {},
        body: `<CopyObjectResult><ETag>${from.etag}</ETag></CopyObjectResult>`,
      };
    }
    const isRefused = (none === "*" && found !== undefined) || (match !== undefined && match !== found?.etag);
    if (isRefused && faults.ignoresConditions !== true) return failure(412, "PreconditionFailed");
    const digest = createHash("md5").update(body);
    const hex = digest.copy().digest("hex");
    if (md5 !== undefined && md5 !== digest.digest("base64")) return failure(400, "BadDigest");
    const etag = `"${hex}"`;
    objects.set(key, {
      body,
      etag,
      at: now(),
      headers: { ...keptOf(headers), etag },
    });
    return { status: 200, headers: { etag }, body: "" };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    stop() {
      server.closeAllConnections();
      server.close();
    },
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    /** Writes an object as another machine does. */
    write(key: string, content: object) {
      const body = Buffer.from(JSON.stringify(content));
      const etag = `"${createHash("md5").update(body).digest("hex")}"`;
      objects.set(key, { body, etag, at: now(), headers: { etag } });
    },
    faults,
    requests,
    writtenBySdk,
    /** The environment of a command that uses it. */
    env: (origin: string) => ({
      AWS_ACCESS_KEY_ID: "AK",
      AWS_SECRET_ACCESS_KEY: "SK",
      AWS_ENDPOINT_URL_S3: origin,
    }),
  };
}

/** The headers of a write that its object keeps. */
const keptOf = (headers: IncomingMessage["headers"]): Record<string, string> => {
  const kept = Object.entries(headers).filter(([name]) => /^(x-amz-meta-.*|content-type)$/.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
};

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

const failure = (status: number, code: string): Reply => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});

function list(
  objects: ReadonlyMap<string, StoredObject>,
  query: URLSearchParams,
  keysPerPage: number,
): Reply {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, keysPerPage);
  const entries = page.map((key) => {
    const { body, etag, at } = objects.get(key)!;
    const facts = `<Size>${body.length}</Size><ETag>${xml(etag)}</ETag>`;
    const time = new Date(at).toISOString();
    return `<Contents><Key>${xml(key)}</Key>${facts}<LastModified>${time}</LastModified></Contents>`;
  });
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${xml(page.at(-1)!)}</NextContinuationToken>` : "";
  const body = `<?xml version="1.0"?><ListBucketResult><Name>shop</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${entries.join("")}</ListBucketResult>`;
  return { status: 200, headers: { "content-type": "application/xml" }, body };
}

const xml = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

function send(
  response: ServerResponse,
  request: IncomingMessage,
  { status, headers, body }: Reply,
  now: number,
): void {
  response.sendDate = false;
  const length = request.method === "HEAD" ? {} : { "content-length": Buffer.byteLength(body) };
  response.writeHead(status, { ...length, ...headers, date: new Date(now).toUTCString() }).end(body);
}
