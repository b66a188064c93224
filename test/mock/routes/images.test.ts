import { createHash } from "node:crypto";
import { imageSize } from "image-size";
import { describe, expect, test } from "vitest";
import { detectImageType } from "../../../src/contract/image-file.ts";
import { limits } from "../../../src/contract/limits.ts";
import { longTest } from "../../support/long-test.ts";
import { refusal, startWorld, tinyPng } from "../world.ts";

const padded = (bytes: number) => {
  const image = new Uint8Array(bytes);
  image.set(tinyPng);
  return image;
};

describe("upload", () => {
  test("detects the type from the bytes and returns the ID", async () => {
    const { upload, send } = await startWorld();
    const { status, body } = await upload();
    expect([status, body]).toEqual([
      201,
      { id: body.id, mime_type: "image/png", created_at: "2026-01-05T09:00:00.000Z" },
    ]);
    expect((await send(`/v1/images/${body.id}`)).status).toBe(200);
  });

  test("rejects more than 10 MB, and far more before reading it", async () => {
    const { upload } = await startWorld();
    const over = await upload(padded(limits.imageBytes + 1));
    expect([over.status, over.body]).toEqual([413, refusal("invalid_request", "body_too_large", "file")]);
    const far = await upload(padded(limits.imageBytes + 1_000_000));
    expect([far.status, far.body]).toEqual([413, refusal("invalid_request", "body_too_large")]);
  });

  test.each([
    ["text", new TextEncoder().encode("hello"), 415, "unsupported_media_type"],
    ["a GIF", new TextEncoder().encode("GIF89a\u0001\u0000\u0001\u0000"), 415, "unsupported_media_type"],
    ["no bytes", new Uint8Array(0), 415, "unsupported_media_type"],
    ["a PNG truncated after its signature", tinyPng.slice(0, 12), 400, "invalid_request"],
    ["a JPEG of three bytes", new Uint8Array([0xff, 0xd8, 0xff]), 400, "invalid_request"],
  ])("rejects %s", async (_name, bytes, status, code) => {
    const { upload } = await startWorld();
    const got = await upload(bytes);
    expect([got.status, got.body]).toEqual([status, refusal("invalid_request", code, "file")]);
  });

  const part = (name: string, content: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"; filename="x.png"\r\n\r\n${content}\r\n`;
  test.each([
    ["no part named file", `${part("photo", "x")}--b--\r\n`],
    ["two files", `${part("file", "x")}${part("file", "y")}--b--\r\n`],
    ["a form truncated in a part", part("file", "x").slice(0, -4)],
    ["a form without its end", part("file", "x")],
    ["a form truncated in a header", '--b\r\nContent-Disposition: form-data; name="file"'],
    ["an empty form", "--b--\r\n"],
    ["an empty body", ""],
    ["a body that is not a form", "hello"],
  ])("%s: 400", async (_name, body) => {
    const { send } = await startWorld();
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const got = await send("/v1/images", { method: "POST", body, headers });
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "file")]);
  });

  const nameless = "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n";
  test.each([
    [part("photo", "x"), "the form has no part named file; it has one named photo", "file"],
    [nameless, "the form has no part named file; it has one without a name", "file"],
    [`${part("file", "x")}${part("photo", "x")}`, "photo is not a field of this form", "photo"],
    [`${part("file", "x")}${nameless}`, "the form has a part without a name", undefined],
  ])("reports an unexpected part: %j", async (body, message, param) => {
    const { send } = await startWorld();
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const got = await send("/v1/images", { method: "POST", body: `${body}--b--\r\n`, headers });
    expect([got.status, got.body.error.message, got.body.error.param]).toEqual([400, message, param]);
  });

  test("reports the first of very many unknown fields", async () => {
    const { send } = await startWorld();
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const strangers = Array.from({ length: 5_000 }, (_, index) => part(`x${index}`, "1")).join("");
    for (const body of [
      `${strangers}${part("file", "x")}--b--\r\n`,
      `${part("x0", "1")}${part("file", "x")}--b--\r\n`,
    ]) {
      const got = await send("/v1/images", { method: "POST", body, headers });
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", "x0")]);
    }
  });

  test("rejects an unknown field, a form without a boundary and another content type", async () => {
    const { send } = await startWorld();
    const form = new FormData();
    form.append("file", new Blob([tinyPng]), "a.png");
    form.append("orientation", "front");
    const more = await send("/v1/images", { body: form });
    expect([more.status, more.body]).toEqual([
      400,
      refusal("invalid_request", "invalid_request", "orientation"),
    ]);
    const headers = { "content-type": "multipart/form-data" };
    const bare = await send("/v1/images", { method: "POST", body: "x", headers });
    expect([bare.status, bare.body]).toEqual([400, refusal("invalid_request", "invalid_request", "file")]);
    const json = await send("/v1/images", { json: {} });
    expect([json.status, json.body]).toEqual([415, refusal("invalid_request", "unsupported_media_type")]);
  });
});

describe("a signed URL", () => {
  test("returns the bytes without an API key for exactly an hour", async () => {
    const { upload, send, clock, mock } = await startWorld();
    const { id } = (await upload()).body;
    const image = (await send(`/v1/images/${id}`)).body;
    expect(image.url_expires_at).toBe("2026-01-05T10:00:00.000Z");
    expect(new URL(image.url).origin).toBe(mock.baseUrl);
    const read = async (method = "GET") => {
      const response = await fetch(image.url, { method });
      return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
    };
    const { response, bytes } = await read();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(response.headers.get("etag")).toBe(
      `"${createHash("sha256").update(tinyPng).digest("base64url")}"`,
    );
    expect(bytes).toEqual(tinyPng);
    const head = await read("HEAD");
    expect(head.response.headers.get("content-length")).toBe(String(tinyPng.length));
    expect(head.bytes).toHaveLength(0);

    clock.advance(3_599_999);
    expect((await read()).response.status).toBe(200);
    clock.advance(1);
    const late = await send(image.url, { key: null });
    expect([late.status, late.body]).toEqual([403, refusal("forbidden", "url_expired")]);
    expect((await send(`/v1/images/${id}`)).body.url).not.toBe(image.url);
  });

  test("is rejected if altered in any part", async () => {
    const { upload, send } = await startWorld();
    const url: string = (await send(`/v1/images/${(await upload()).body.id}`)).body.url;
    const other = (await upload()).body.id;
    const bad = [
      url.replace(/expires=(\d)/, "expires=9$1"),
      url.replace(/signature=./, (match) => `signature=${match.endsWith("0") ? "1" : "0"}`),
      url.replace(/images\/\w+/, `images/${other}`),
      url.replace(/&signature.*/, ""),
      url.replace(/\?.*/, ""),
      `${url}&expires=1`,
    ];
    for (const altered of bad) {
      const got = await send(altered, { key: null });
      expect([got.status, got.body]).toEqual([403, refusal("forbidden", "url_expired")]);
    }
    const post = await send(url, { method: "POST", key: null });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("generated pictures", () => {
  longTest("have their declared type, 600 x 800 pixels, and the same bytes for the same seed", async () => {
    const one = await startWorld({ demo: 20, seed: 7 });
    const two = await startWorld({ demo: 20, seed: 7 });
    const seen = new Set<string>();
    for (const image of one.mock.state().organizations.main.images.slice(0, 16)) {
      const bytesOf = async ({ send }: typeof one) => {
        const { url, mime_type } = (await send(`/v1/images/${image.id}`)).body;
        const response = await fetch(url);
        expect(response.headers.get("content-type")).toBe(mime_type);
        return new Uint8Array(await response.arrayBuffer());
      };
      const bytes = await bytesOf(one);
      expect(detectImageType(bytes)).toBe(image.mime_type);
      expect(imageSize(bytes)).toMatchObject({ width: 600, height: 800 });
      if (!seen.has(image.mime_type)) expect(await bytesOf(two)).toEqual(bytes);
      seen.add(image.mime_type);
    }
    expect(seen).toEqual(new Set(["image/jpeg", "image/png", "image/webp"]));
  });

  test("include the preview of a model", async () => {
    const { send } = await startWorld();
    const { preview_url } = (await send("/v1/models?limit=1")).body.data[0];
    const bytes = new Uint8Array(await (await fetch(preview_url)).arrayBuffer());
    expect(detectImageType(bytes)).toBe("image/jpeg");
  });
});

describe("models", () => {
  test("are two of the organization with ULIDs, and a dozen curated ones with shorter IDs", async () => {
    const { send } = await startWorld();
    const all = (await send("/v1/models?limit=100")).body.data;
    const own = (await send("/v1/models?is_public=false")).body.data;
    const curated = (await send("/v1/models?is_public=true")).body.data;
    expect([all.length, own.length, curated.length]).toEqual([14, 2, 12]);
    for (const { id } of own) expect(id).toMatch(/^[0-9A-Z]{26}$/);
    for (const { id } of curated) expect(id.length).toBeLessThan(26);
    const first = (await send("/v1/models?limit=13")).body;
    const second = (await send(`/v1/models?limit=13&cursor=${first.next_cursor}`)).body;
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(ids).toEqual(all.map(({ id }: { id: string }) => id));
    const bad = await send("/v1/models?is_public=maybe");
    expect([bad.status, bad.body]).toEqual([400, refusal("invalid_request", "invalid_request", "is_public")]);
  });
});
