import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import sharp from "sharp";
import { expect, onTestFinished, test } from "vitest";
import { forwardProxy } from "../../support/forward-proxy.ts";
import { hasOpenssl, ownAuthority } from "../../support/own-authority.ts";
import { isLong } from "../../support/repetitions.ts";
import { createWorld, type WorldOptions } from "../../support/world.ts";

const host = "cdn.shop.example";

interface File {
  readonly bytes?: Uint8Array;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

/** A server of photos behind a proxy, by the path of the URL, and what it was asked. */
async function photoServer(files: Record<string, File>, options: WorldOptions = {}) {
  const { key, cert } = ownAuthority([host]);
  const asked: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const path = new URL(request.url!, "https://x").pathname.slice(1);
    const { authorization, cookie, range } = request.headers;
    asked.push(
      [request.method, path, ...(range === undefined ? [] : [range]), authorization, cookie]
        .filter((part) => part !== undefined)
        .join(" "),
    );
    const { bytes = Buffer.alloc(0), status = 200, headers = {} } = files[path] ?? { status: 404 };
    const length = { "content-length": String(bytes.length) };
    response.writeHead(status, { ...length, ...headers });
    response.end(request.method === "HEAD" ? undefined : bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const proxy = await forwardProxy({ route: () => port });
  // Node reads NODE_EXTRA_CA_CERTS at its start only.
  const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  });
  const world = await createWorld({ ...options, env: { HTTPS_PROXY: proxy.url } });
  const rows = (...urls: string[]) =>
    world.write(
      "rows.csv",
      `reference,name,image_front\n${urls.map((url, at) => `A-${at + 2},Dress,${url}\n`).join("")}`,
    );
  return { world, asked, proxy, rows };
}

const picture = (width = 300, height = 300) =>
  sharp({ create: { width, height, channels: 3, background: "#c83020" } });
const url = (path: string) => `https://${host}/${path}`;

test.skipIf(!hasOpenssl)(
  "--check-photos names each photo that the service would not fetch, and sends nothing (needs openssl)",
  async () => {
    const jpeg = await picture().jpeg().toBuffer();
    const webp = await picture().webp().toBuffer();
    const { world, asked, proxy, rows } = await photoServer({
      "ok.jpg": { bytes: jpeg },
      "page.jpg": {
        bytes: Buffer.from("\n<!DOCTYPE html><p>Sign in"),
        headers: { "content-type": "image/jpeg" },
      },
      "big.jpg": { bytes: Buffer.concat([jpeg, Buffer.alloc(11_000_000)]) },
      "cut.jpg": { bytes: jpeg.subarray(0, jpeg.length / 2) },
      "cut.webp": { bytes: webp.subarray(0, webp.length / 2) },
      "pixel.png": { bytes: await picture(1, 1).png().toBuffer() },
      "small.png": { bytes: await picture(80, 90).png().toBuffer() },
      "secret.jpg": { status: 403 },
      "moved.jpg": { status: 302, headers: { location: "/ok.jpg" } },
      "inside.jpg": { status: 302, headers: { location: "https://127.0.0.1/a.jpg" } },
      document: { bytes: Buffer.from("%PDF-1.7") },
      scan: { bytes: await picture().tiff().toBuffer() },
    });
    const names = ["ok.jpg", "page.jpg", "big.jpg", "cut.jpg", "cut.webp", "pixel.png", "small.png"];
    rows(...[...names, "secret.jpg", "gone.jpg", "moved.jpg", "inside.jpg", "document", "scan"].map(url));
    const ran = await world.cat("import rows.csv --check-photos --dry-run --no-progress");
    const line = (at: number, code: string, path: string, why: string) =>
      `rows.csv:${at}  image_front  ${code}  "${url(path)}" ${why}`;
    expect(ran.stderr.split("\n")).toEqual([
      line(3, "not_an_image", "page.jpg", "is a web page, not a photo"),
      line(
        4,
        "too_large",
        "big.jpg",
        `has ${(11_000_000 + jpeg.length).toLocaleString("en")} bytes; the limit is 10,485,760 bytes (10 MB)`,
      ),
      line(
        5,
        "damaged_image",
        "cut.jpg",
        "is a damaged image, its end is missing: upload it to its server again",
      ),
      line(
        6,
        "damaged_image",
        "cut.webp",
        "is a damaged image, its end is missing: upload it to its server again",
      ),
      line(7, "not_an_image", "pixel.png", "is a picture of 1 x 1 pixels, not a photo"),
      line(9, "http_error", "secret.jpg", "responds with status 403: it needs signing in, or has expired"),
      line(10, "http_error", "gone.jpg", "responds with status 404: it does not exist"),
      line(
        12,
        "blocked_host",
        "inside.jpg",
        "redirects to https://127.0.0.1, which the service does not fetch from",
      ),
      line(13, "not_an_image", "document", "is a PDF, not a photo"),
      line(14, "not_an_image", "scan", "is a TIFF image, not a JPEG, PNG or WebP image"),
      `rows.csv:8  1 photo of less than 200 pixels, such as "${url("small.png")}". Check that the URLs are not those of previews.`,
      `rows.csv:11  1 photo also on another product, such as "${url("moved.jpg")}". Check that the products share them.`,
      "error: rows.csv has 10 invalid rows out of 13; nothing was sent",
      "Fix the file and run the command again, or add --skip-invalid to import the valid rows.",
      "",
    ]);
    expect(ran.exit).toBe(3);
    expect(asked.slice(0, 2)).toEqual(["HEAD ok.jpg", "HEAD page.jpg"]);
    expect(asked.filter((one) => one.includes(" ok.jpg"))).toEqual([
      "HEAD ok.jpg",
      "GET ok.jpg bytes=0-65535",
      "HEAD ok.jpg",
      "GET ok.jpg bytes=0-65535",
    ]);
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT ${host}:443`]));
    expect(world.requests()).toEqual([]);
    // At most two requests per second.
    expect(world.clock.now() - Date.parse("2026-01-05T09:00:00Z")).toBeGreaterThanOrEqual(
      (asked.length - 1) * 500,
    );
    const imported = await world.cat("import rows.csv --check-photos --skip-invalid --no-progress");
    expect([imported.exit, world.products().map(({ reference }) => reference)]).toEqual([
      8,
      ["A-2", "A-8", "A-11"],
    ]);
    expect(imported.stderr).toContain("  cat import rows.failed.csv --check-photos\n");
  },
  60_000,
);

test.runIf(isLong && hasOpenssl)(
  "--check-photos asks for the ETag of a photo again, and for its bytes after a day or a change (needs openssl)",
  async () => {
    const files: Record<string, File> = {
      "a.jpg": { bytes: await picture().jpeg().toBuffer(), headers: { etag: '"one"' } },
      "b.jpg": { bytes: Buffer.from("<html>"), headers: { etag: '"two"' } },
    };
    const { world, asked, rows } = await photoServer(files);
    rows(url("a.jpg?key=secret"), url("b.jpg"), url("a.jpg?key=secret"));
    const check = async () => {
      asked.length = 0;
      const { stderr } = await world.cat("import rows.csv --check-photos --dry-run --no-progress");
      return [stderr.match(/^rows.csv:\d+ {2}image_front/gm), [...asked].sort()];
    };
    const all = ["GET a.jpg bytes=0-65535", "GET b.jpg bytes=0-65535", "HEAD a.jpg", "HEAD b.jpg"];
    const problem = ["rows.csv:3  image_front"];
    expect(await check()).toEqual([problem, all]);
    expect(await check()).toEqual([problem, ["HEAD a.jpg", "HEAD b.jpg"]]);
    const file = join(world.folder, ".home/checked-photos.ndjson");
    expect(readFileSync(file, "utf8")).not.toMatch(/secret|cdn/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    files["b.jpg"] = { ...files["a.jpg"], headers: { etag: '"three"' } };
    expect(await check()).toEqual([null, ["GET b.jpg bytes=0-65535", "HEAD a.jpg", "HEAD b.jpg"]]);
    world.clock.advance(24 * 60 * 60_000);
    expect(await check()).toEqual([null, all]);
    world.write(".home/checked-photos.ndjson", 'null\n{"url":1}\n{"cut');
    expect(await check()).toEqual([null, all]);
  },
  60_000,
);
