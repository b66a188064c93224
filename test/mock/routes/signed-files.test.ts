import { createHash } from "node:crypto";
import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { refusal, row, startWorld, tinyPng } from "../world.ts";

type World = Awaited<ReturnType<typeof startWorld>>;

/** Every kind of file behind a signed URL, with its type and whether its creation time is known. */
const kinds: Record<
  string,
  { type: string; made: boolean; urlOf: (world: World) => Promise<string | null> | string | null }
> = {
  "an uploaded image": {
    type: "image/png",
    made: true,
    urlOf: async ({ send, imageId }) => (await send(`/v1/images/${await imageId()}`)).body.url,
  },
  "a drawn image": {
    type: "image/jpeg",
    made: true,
    urlOf: async ({ send, runImport }) => {
      const { results } = await runImport([row("A")]);
      return (await send(`/v1/images/${results[0].images[0].image_id}`)).body.url;
    },
  },
  "a model's preview": {
    type: "image/jpeg",
    made: false,
    urlOf: async ({ send }) => (await send("/v1/models?limit=1")).body.data[0].preview_url,
  },
  "an import's results": {
    type: "application/x-ndjson",
    made: true,
    urlOf: async ({ runImport }) => (await runImport([row("A"), row("B")])).job.results_url,
  },
  "a manifest": {
    type: "application/x-ndjson",
    made: true,
    urlOf: async ({ send, createProduct }) => {
      await createProduct();
      return (await send("/v1/exports", { json: {} })).body.url;
    },
  },
  "a zip": {
    type: "application/zip",
    made: true,
    urlOf: async ({ send, createProduct, clock }) => {
      await createProduct();
      const { id } = (await send("/v1/exports", { json: { format: "zip" } })).body;
      clock.advance(60_000);
      return (await send(`/v1/exports/${id}`)).body.url;
    },
  },
};

const read = async (url: string, headers: Record<string, string> = {}, method = "GET") => {
  const response = await fetch(url, { method, headers });
  const { status } = response;
  return { status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe.each(sampled(Object.entries(kinds)))("%s", (_name, { type, made, urlOf }) => {
  const open = async () => {
    const world = await startWorld();
    const url = (await urlOf(world))!;
    return { world, url, whole: await read(url) };
  };

  test("is sent completely, with the headers of its version", async () => {
    const { url, whole } = await open();
    const { status, headers, bytes } = whole;
    expect([status, headers.get("content-type"), headers.get("accept-ranges")]).toEqual([200, type, "bytes"]);
    expect(headers.get("content-length")).toBe(String(bytes.length));
    expect(headers.get("etag")).toMatch(/^"[^"]+"$/);
    expect(headers.has("last-modified")).toBe(made);
    expect(headers.get("x-request-id")).toMatch(/./);
    const head = await read(url, { range: "bytes=0-1" }, "HEAD");
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ["content-type", "content-length", "etag", "accept-ranges", "last-modified"]) {
      expect(head.headers.get(name), name).toBe(headers.get(name));
    }
  });

  test("is sent in parts", async () => {
    const { url, whole } = await open();
    const { length } = whole.bytes;
    const parts: [string, number, number][] = [
      ["bytes=0-0", 0, 1],
      ["bytes=0-", 0, length],
      ["bytes=5-9", 5, 10],
      ["BYTES= 5-9 ", 5, 10],
      [`bytes=${length - 1}-`, length - 1, length],
      [`bytes=10-${length * 2}`, 10, length],
      ["bytes=7-99999999999999999999999", 7, length],
      ["bytes=-1", length - 1, length],
      ["bytes=-20", length - 20, length],
      [`bytes=-${length + 1}`, 0, length],
    ];
    for (const [range, start, end] of parts) {
      const part = await read(url, { range });
      expect([range, part.status, part.headers.get("content-range"), part.headers.get("etag")]).toEqual([
        range,
        206,
        `bytes ${start}-${end - 1}/${length}`,
        whole.headers.get("etag"),
      ]);
      expect(part.headers.get("content-length")).toBe(String(end - start));
      expect(part.bytes.equals(whole.bytes.subarray(start, end)), range).toBe(true);
    }
  });

  test("is sent completely for a range that is malformed or has several parts", async () => {
    const { url, whole } = await open();
    for (const range of [
      "bytes=5-4",
      "bytes=a-b",
      "bytes=-",
      "bytes=",
      "bytes",
      "bytes=1-2x",
      "bytes=1 - 2",
      "bytes=--5",
      "bytes=+1-2",
      "lines=0-1",
      "bytes=0-1,5-4",
      "bytes=0-1,5-6",
      "bytes=0-1,999999999-",
    ]) {
      const got = await read(url, { range });
      expect([range, got.status, got.headers.has("content-range")]).toEqual([range, 200, false]);
      expect(got.bytes.equals(whole.bytes), range).toBe(true);
    }
  });

  test("gets 416 for a range past its end", async () => {
    const { world, url, whole } = await open();
    const { length } = whole.bytes;
    for (const range of [`bytes=${length}-`, "bytes=-0", `bytes=${length}-${length + 5}`]) {
      const got = await world.send(url, { key: null, headers: { range } });
      expect([range, got.status, got.headers.get("content-range"), got.body]).toEqual([
        range,
        416,
        `bytes */${length}`,
        refusal("invalid_request", "range_not_satisfiable"),
      ]);
    }
  });

  test("resumes only from the client's version", async () => {
    const { url, whole } = await open();
    const etag = whole.headers.get("etag")!;
    const date = whole.headers.get("last-modified");
    const resumed = async (version: string) =>
      (await read(url, { range: "bytes=3-", "if-range": version })).status;
    expect(await resumed(etag)).toBe(206);
    if (date !== null) expect(await resumed(date)).toBe(206);
    for (const other of ['"other"', `W/${etag}`, etag.slice(1, -1), "Sun, 04 Jan 2026 09:00:00 GMT", "x"]) {
      expect([other, await resumed(other)]).toEqual([other, 200]);
    }
  });

  test("is not sent again to a client that has it", async () => {
    const { url, whole } = await open();
    const etag = whole.headers.get("etag")!;
    const status = async (headers: Record<string, string>) => (await read(url, headers)).status;
    for (const known of [etag, `W/${etag}`, "*", `"a", ${etag}`]) {
      const got = await read(url, { "if-none-match": known, range: "bytes=0-1" });
      expect([got.status, got.bytes.length, got.headers.get("etag")]).toEqual([304, 0, etag]);
      expect((await read(url, { "if-none-match": known }, "HEAD")).status).toBe(304);
    }
    expect(await status({ "if-none-match": '"other"' })).toBe(200);
    const date = whole.headers.get("last-modified");
    if (date === null) {
      expect(await status({ "if-modified-since": "Mon, 05 Jan 2099 09:00:00 GMT" })).toBe(200);
      return;
    }
    expect(await status({ "if-modified-since": date })).toBe(304);
    expect(await status({ "if-modified-since": "Mon, 05 Jan 2099 09:00:00 GMT" })).toBe(304);
    expect(await status({ "if-modified-since": "Sun, 04 Jan 2026 09:00:00 GMT" })).toBe(200);
    expect(await status({ "if-modified-since": "1" })).toBe(200);
    // The tag takes precedence over the date (RFC 9110, 13.1.3).
    expect(await status({ "if-modified-since": date, "if-none-match": '"other"' })).toBe(200);
  });

  test("gets 412 if the client requires another version", async () => {
    const { world, url, whole } = await open();
    const etag = whole.headers.get("etag")!;
    const date = whole.headers.get("last-modified");
    const status = async (headers: Record<string, string>) => (await read(url, headers)).status;
    for (const wanted of [etag, "*", `"a", ${etag}`]) {
      expect([wanted, await status({ "if-match": wanted })]).toEqual([wanted, 200]);
      expect(await status({ "if-match": wanted, range: "bytes=0-1" })).toBe(206);
      expect(await status({ "if-match": wanted, "if-none-match": etag })).toBe(304);
    }
    for (const list of [`, ,${etag}`, `W/"a" ,\t${etag},`])
      expect(await status({ "if-match": list })).toBe(200);
    const noList = [`W/"a"x${etag}`, `"a" ${etag}`, `${etag}x`, `"${etag}`, `x${" ".repeat(20_000)}x`];
    for (const other of ['"other"', `W/${etag}`, "x", "", ...noList]) {
      const headers = { "if-match": other, range: "bytes=0-1", "if-none-match": etag };
      const got = await world.send(url, { key: null, headers });
      const refused = [412, etag, refusal("invalid_request", "precondition_failed")];
      expect([got.status, got.headers.get("etag"), got.body]).toEqual(refused);
      expect((await read(url, headers, "HEAD")).status).toBe(412);
    }
    const past = "Sun, 04 Jan 2026 09:00:00 GMT";
    expect(await status({ "if-unmodified-since": "Mon, 05 Jan 2099 09:00:00 GMT" })).toBe(200);
    for (const none of ["1", "Xyz, 99 Foo 2026 99:99:99 GMT", "Wed, 31 Feb 2001 00:00:00 GMT"]) {
      expect([none, await status({ "if-unmodified-since": none })]).toEqual([none, 200]);
    }
    expect(await status({ "if-unmodified-since": past })).toBe(date === null ? 200 : 412);
    if (date !== null) expect(await status({ "if-unmodified-since": date })).toBe(200);
    // The tag takes precedence over the date (RFC 9110, 13.1.4).
    expect(await status({ "if-unmodified-since": past, "if-match": etag })).toBe(200);
  });

  test("can be read for an hour by any client with the exact URL", async () => {
    const { world, url } = await open();
    const { pathname, search } = new URL(url);
    for (const path of [
      pathname,
      `${pathname}${search}0`,
      `${pathname}${search.replace("expires=1", "expires=2")}`,
      `${pathname.replace(/[0-9A-Z]{26}|mdl_\d+/, "01HN1H1W2BE2ZP0BXGX60T7K32")}${search}`,
    ]) {
      const got = await world.send(path, { key: null, headers: { range: "bytes=0-1" } });
      expect([got.status, got.body]).toEqual([403, refusal("forbidden", "url_expired")]);
    }
    world.clock.advance(limits.signedUrlMs - 1);
    expect((await read(url)).status).toBe(200);
    world.clock.advance(1);
    expect((await read(url)).status).toBe(403);
    expect((await read(url, {}, "HEAD")).status).toBe(403);
  });

  test("rejects other methods", async () => {
    const { world, url } = await open();
    const got = await world.send(url, { method: "DELETE", key: null });
    expect([got.status, got.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

test("a deleted file is not found, even with a valid signature", async () => {
  const world = await startWorld({ demo: 1 });
  const { url } = (await world.send("/v1/exports", { json: {} })).body;
  expect((await read(url)).status).toBe(200);
  // The same seed gives the same secret, but the job is gone.
  world.mock.reset();
  const got = await world.send(url, { key: null });
  expect([got.status, got.body]).toEqual([404, refusal("not_found", "route_not_found")]);
});

describe("the entity tag depends on the bytes", () => {
  const tagOf = async (url: string) => (await read(url)).headers.get("etag");

  test("of a manifest, which has other URLs at another base URL", async () => {
    const [one, two] = [await startWorld({ demo: 2 }), await startWorld()];
    const { id, url } = (await one.send("/v1/exports", { json: {} })).body;
    const body = JSON.stringify(one.mock.state());
    expect((await two.send("/_mock/state", { method: "PUT", body, key: null })).status).toBe(200);
    const other = (await two.send(`/v1/exports/${id}`)).body.url;
    const [here, there] = [await read(url), await read(other)];
    expect(there.bytes.equals(here.bytes)).toBe(false);
    expect(there.headers.get("etag")).not.toBe(here.headers.get("etag"));
    // A download resumes only at the base URL where it began.
    const rest = await read(other, { range: "bytes=10-", "if-range": here.headers.get("etag")! });
    expect(rest.status).toBe(200);
    const again = (await one.send(`/v1/exports/${id}`)).body.url;
    expect(await tagOf(again)).toBe(here.headers.get("etag"));
  });

  test("of an upload and of a ZIP with it, whose IDs repeat with other bytes after a reset", async () => {
    const world = await startWorld({ seed: 4 });
    async function made(bytes: Uint8Array) {
      await world.send("/_mock/reset", { method: "POST", key: null });
      const image_id = (await world.upload(bytes)).body.id;
      await world.createProduct({ images: [{ image_id, orientation: "front" }] });
      const { id } = (await world.send("/v1/exports", { json: { format: "zip" } })).body;
      world.clock.advance(60_000);
      const { url } = (await world.send(`/v1/exports/${id}`)).body;
      const image = (await world.send(`/v1/images/${image_id}`)).body;
      return { image_id, id, image: await tagOf(image.url), zip: await tagOf(url) };
    }
    const one = await made(pngOf(100, 1));
    const other = await made(pngOf(100, 2));
    expect([other.image_id, other.id]).toEqual([one.image_id, one.id]);
    expect(other.image).not.toBe(one.image);
    expect(other.zip).not.toBe(one.zip);
    expect((await made(pngOf(100, 1))).image).toBe(one.image);
  });

  test("of a drawn image, which is equal for equal URLs of a product and different for all others", async () => {
    const { runImport, send } = await startWorld();
    const at = (name: string) => [{ url: `https://cdn.example.com/${name}.jpg` }];
    const files = [];
    for (const [reference, url] of [
      ["R0", "a"],
      ["R0", "a"],
      ["R0", "b"],
      ["R1", "a"],
    ] as const) {
      const [{ images }] = (await runImport([row(reference, { images: at(url) })])).results;
      files.push(await read((await send(`/v1/images/${images[0].image_id}`)).body.url));
    }
    const [one, same, ...others] = files.map(({ bytes, headers }) => [
      headers.get("etag"),
      bytes.toString("hex"),
    ]);
    expect(same).toEqual(one);
    for (const other of others) expect([other[0] === one![0], other[1] === one![1]]).toEqual([false, false]);
  });
});

/** A PNG of this many bytes, padded after its end. */
const pngOf = (bytes: number, mark: number) => {
  const image = new Uint8Array(bytes).fill(mark);
  image.set(tinyPng);
  return image;
};

/** A ZIP of 4 images of this many bytes, on many products. */
async function largeZip(products: number, bytes: number) {
  const world = await startWorld();
  const images = [];
  for (let mark = 0; mark < 4; mark++) {
    images.push({ image_id: (await world.upload(pngOf(bytes, mark))).body.id, orientation: "front" });
  }
  for (let at = 0; at < products; at++) await world.createProduct({ reference: `P${at}`, images });
  const { id } = (await world.send("/v1/exports", { json: { format: "zip" } })).body;
  world.clock.advance(600_000);
  return { world, url: (await world.send(`/v1/exports/${id}`)).body.url as string };
}

describe("a large ZIP", () => {
  longTest(
    "is produced as fast as it is read: a slow reader costs no memory, and a disconnect ends it",
    async () => {
      const products = repetitions(10, 60);
      const { world, url } = await largeZip(products, 8_000_000);
      const before = process.memoryUsage().arrayBuffers;
      const request = httpGet(url);
      request.on("error", () => {});
      const [response] = (await once(request, "response")) as [IncomingMessage];
      await once(response, "readable");
      const length = Number(response.headers["content-length"]);
      // Other requests are served meanwhile, which leaves time to produce more than was read.
      for (let turn = 0; turn < 50; turn++)
        expect((await world.send("/v1/products?limit=1")).status).toBe(200);
      expect(length).toBeGreaterThan(products * 4 * 8_000_000);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64_000_000);
      request.destroy();
      // The last bytes can be read without the ones before them.
      const end = await read(url, { range: "bytes=-22" });
      expect([end.status, end.bytes.subarray(0, 4).toString("latin1")]).toEqual([206, "PK\u0005\u0006"]);
    },
  );

  test("resumes where it was cut", async () => {
    const { world, url } = await largeZip(1, 2_000_000);
    const whole = await read(url);
    const fault = { match: { path: "/_signed/exports" }, times: 1, truncate: 3_000_000 };
    expect((await world.send("/_mock/faults", { json: fault, key: null })).status).toBe(200);
    const response = await fetch(url);
    const chunks: Uint8Array[] = [];
    await expect(async () => {
      for await (const chunk of response.body!) chunks.push(chunk);
    }).rejects.toThrow();
    const begin = Buffer.concat(chunks);
    expect(begin.length).toBeLessThanOrEqual(3_000_000);
    const rest = await read(url, {
      range: `bytes=${begin.length}-`,
      "if-range": response.headers.get("etag")!,
    });
    expect(rest.status).toBe(206);
    expect(Buffer.concat([begin, rest.bytes]).equals(whole.bytes)).toBe(true);
  });

  longTest("has the same bytes in pieces as in one download", async () => {
    const { url } = await largeZip(1, 2_000_000);
    const whole = await read(url);
    const hash = createHash("sha256");
    const step = 1_777_777;
    for (let at = 0; at < whole.bytes.length; at += step) {
      const part = await read(url, {
        range: `bytes=${at}-${at + step - 1}`,
        "if-range": whole.headers.get("etag")!,
      });
      expect(part.status).toBe(206);
      hash.update(part.bytes);
    }
    expect(hash.digest("hex")).toBe(createHash("sha256").update(whole.bytes).digest("hex"));
  });
});
