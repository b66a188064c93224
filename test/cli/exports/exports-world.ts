import type { ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { ZipFile } from "yazl";
import { type Seen, scriptedServer } from "../../http/scripted-server.ts";
import { createWorld } from "../../support/world.ts";

export const exportId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";
export const etag = '"v1"';

/** How the server responds to a request of the artifact. */
export type ArtifactStep = (response: ServerResponse, seen: Seen) => void;

/** A complete response, with a strong validator unless it is overridden. */
export const body =
  (bytes: Uint8Array | string, headers: Record<string, string> = {}, status = 200): ArtifactStep =>
  (response) => {
    const length = Buffer.byteLength(bytes);
    response.writeHead(status, { "content-length": length, etag, ...headers }).end(bytes);
  };

/** A response that is cut off after some bytes. */
export const cutAfter =
  (bytes: Uint8Array, sent: number): ArtifactStep =>
  (response) => {
    response.writeHead(200, { "content-length": bytes.length, etag });
    response.write(bytes.subarray(0, sent), () => setImmediate(() => response.socket?.destroy()));
  };

/** The rest of a file, as asked for. */
export const rest =
  (bytes: Uint8Array): ArtifactStep =>
  (response, { headers }) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range!)![1]);
    const part = bytes.subarray(from);
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { "content-length": part.length, "content-range": range, etag }).end(part);
  };

/** A ZIP with one file. */
export async function smallZip(content = "a photo".repeat(100)): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(content), "A_front.jpg", { compress: false, mtime: new Date(0) });
  zip.end();
  return buffer(zip.outputStream);
}

/** A service with one completed export, whose artifact requests get these responses; the last one repeats. */
export async function artifactWorld(format: "manifest" | "zip", ...steps: ArtifactStep[]) {
  const asked: { readonly path: string; readonly range: string | null; readonly ifRange: string | null }[] =
    [];
  let reads = 0;
  /** The number of images as the service counts them. */
  const counted = { images: 1 };
  const server = await scriptedServer((response, seen) => {
    const { path, headers } = seen;
    if (path.startsWith("/v1/")) {
      const at = "2026-01-05T09:00:00Z";
      const job = {
        ...{ id: exportId, format, status: "completed", total_assets: counted.images, error: null },
        ...{ url: `${server.origin}/artifact?signature=${++reads}`, url_expires_at: at },
        ...{ created_at: at, finished_at: at },
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(job));
      return;
    }
    const [range, ifRange] = [headers.range ?? null, (headers["if-range"] as string | undefined) ?? null];
    asked.push({ path, range, ifRange });
    steps[Math.min(asked.length, steps.length) - 1]!(response, seen);
  });
  onTestFinished(() => server.stop());
  const world = await createWorld({ env: { CAT_BASE_URL: server.origin } });
  return {
    ...world,
    asked,
    counted,
    origin: server.origin,
    /** Saves the artifact as `file`. */
    download: (flags = "--out file") => world.cat(`exports download ${exportId} ${flags}`),
  };
}
