import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startMock } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { s3Server } from "../../support/s3-server.ts";
import { syncWorld } from "./sync-world.ts";

const minute = 60_000;

/** A catalogue of six images, and an object store with a bucket. */
async function bucketWorld() {
  const world = await syncWorld();
  const store = await s3Server(() => world.clock.now());
  const env = { ...store.env(store.origin), CAT_BASE_URL: world.mock.baseUrl };
  return {
    ...world,
    store,
    run: (line: string, more: Record<string, string> = {}) =>
      world.cat(`export sync ${line}`, { env: { ...env, ...more } }),
    keys: () => [...store.objects.keys()].sort(),
    text: (key: string) => String(store.objects.get(key)?.body),
    /** The index without what only a bucket has. */
    index: (prefix: string) =>
      String(store.objects.get(`${prefix}/catalogue.ndjson`)?.body).replace(/,"etag":"[^"]*"/g, ""),
  };
}

const names = [1, 2, 3].flatMap((number) => [`DRESS-${number}_back.jpg`, `DRESS-${number}_front.jpg`]);
const hidden = (key: string) => key.includes("/.catalogue/");

describe("a mirror in a bucket", () => {
  test("has every image as an object that names its asset, and the index", async () => {
    const world = await bucketWorld();
    expect(await world.run("s3://shop/a --path-style")).toEqual({
      exit: 0,
      stdout: "",
      stderr: expect.stringMatching(
        /^Mirrored 6 images in s3:\/\/shop\/a in 0\.\d s: 6 added \(.* downloaded\)\.\n$/,
      ),
    });
    expect(world.keys().filter((key) => !hidden(key))).toEqual([
      ...names.map((name) => `a/${name}`),
      "a/catalogue.ndjson",
    ]);
    expect(world.keys().filter(hidden)).toEqual([
      "a/.catalogue/all/state.json",
      "a/.catalogue/lease-all",
      "a/.catalogue/mirror.json",
    ]);
    const [entry] = world.text("a/catalogue.ndjson").split("\n");
    const { path, asset_id, product_id, sha256 } = JSON.parse(entry!);
    expect(world.store.objects.get(`a/${path}`)!.headers).toMatchObject({
      "content-type": "image/jpeg",
      "x-amz-meta-asset-id": asset_id,
      "x-amz-meta-product-id": product_id,
      "x-amz-meta-ai-generated": "false",
      "x-amz-meta-watermarked": "false",
      "x-amz-meta-sha256": sha256,
    });
    expect(world.store.writtenBySdk.filter((key) => key.endsWith(".jpg"))).toEqual([]);
    // It is the index of a folder, apart from the ETags.
    expect(JSON.parse(entry!).etag).toMatch(/^[0-9a-f]{32}$/);
    await world.cat("export sync folder");
    expect(world.index("a")).toBe(world.read("folder/catalogue.ndjson"));
    const before = world.store.requests.length;
    expect((await world.run("s3://shop/a --path-style")).stderr).toContain("6 unchanged");
    const again = world.store.requests.slice(before).filter((line) => /^PUT a\/[^.]/.test(line));
    expect(again).toEqual([]);
  });

  const faults = [
    ["a response that gets lost after the write", "cut"],
    ["503", { status: 503, body: "" }],
    ["a page of HTML with status 200", { status: 200, body: "<html>" }],
  ] as const;
  longTest.each(faults)(
    "gets each image once after %s: from then on the SDK sends them",
    async (_, fault) => {
      const world = await bucketWorld();
      let uploads = 0;
      world.store.faults.instead = (method, key) =>
        method === "PUT" && key.endsWith(".jpg") && ++uploads === 2 ? fault : null;
      const ran = await world.run("s3://shop/a --path-style --concurrency 1");
      expect([ran.exit, ran.stderr]).toEqual([0, expect.stringContaining("6 added")]);
      expect(world.keys().filter((key) => key.endsWith(".jpg"))).toEqual(names.map((name) => `a/${name}`));
      expect([uploads, world.store.writtenBySdk.filter((key) => key.endsWith(".jpg")).length]).toEqual([
        7, 5,
      ]);
    },
  );

  longTest("is restored from a copy of its objects", async () => {
    const world = await bucketWorld();
    await world.run("s3://shop/a --path-style");
    for (const key of world.keys()) world.write(key, world.store.objects.get(key)!.body);
    const ran = await world.cat("import a --plan", { env: { CAT_HOME: world.at(".other") } });
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      0,
      "Reading a/catalogue.ndjson: a is a mirror of the catalogue. Products that exist are skipped.",
    ]);
  });

  longTest("is restored by an import of its address", async () => {
    const world = await bucketWorld();
    await world.run("s3://shop/a --path-style");
    const other = await startMock({ seed: 2, rateLimit: false, clock: world.clock });
    onTestFinished(() => other.stop());
    const env = {
      ...world.store.env(world.store.origin),
      CAT_BASE_URL: other.baseUrl,
      CAT_HOME: world.at(".other"),
    };
    const restore = (flags = "") => world.cat(`import s3://shop/a --path-style${flags}`, { env });
    const photo = world.store.objects.get("a/DRESS-1_back.jpg")!;
    world.store.objects.delete("a/DRESS-1_back.jpg");
    const missing = await restore();
    expect(missing.exit).toBe(3);
    expect(missing.stderr).toContain("s3://shop/a:2  images[1].path  photo_not_found");
    expect(other.requests()).toEqual([]);
    // A failed file would name photos that only the bucket has.
    const partly = await restore(" --skip-invalid");
    expect([partly.exit, partly.stderr.split("\n").slice(-3)]).toEqual([
      8,
      [
        "  1 invalid row skipped",
        "Invalid rows are in a.failed.ndjson, with the reasons. Fix them in the mirror, then run the same command.",
        "",
      ],
    ]);
    world.store.objects.set("a/DRESS-1_back.jpg", photo);
    expect(await restore()).toEqual({
      exit: 0,
      stdout: "",
      stderr: expect.stringMatching(
        /^Reading s3:\/\/shop\/a\/catalogue\.ndjson: (.*\n)*Imported 3 rows from s3:\/\/shop\/a in .*: 1 created, 2 skipped\.\n$/,
      ),
    });
    const photos = ({ organizations: { main } }: ReturnType<typeof other.state>) =>
      main.products.map((one) => `${one.reference} ${one.images.map((image) => image.orientation)}`).sort();
    expect(photos(other.state())).toEqual(photos(world.mock.state()));
    world.store.objects.delete("a/catalogue.ndjson");
    expect(await restore(" --fresh")).toMatchObject({
      exit: 3,
      stderr: expect.stringMatching(/^error: s3:\/\/shop\/a has no catalogue\.ndjson\n/),
    });
  });

  longTest("follows the catalogue: names, new images, and those that are gone", async () => {
    const world = await bucketWorld();
    await world.run("s3://shop/a --path-style");
    world.clock.advance(10 * minute);
    const [first, second] = world.products();
    await world.send("PATCH", `/v1/products/${first!.id}`, { reference: "COAT-9" });
    await world.send("DELETE", `/v1/products/${second!.id}`);
    await world.add("DRESS-4", ["front"]);
    const ran = await world.run("s3://shop/a --path-style --delete --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({ total: 5, added: 1, removed: 2, renamed: 2 });
    const folder = await world.cat("export sync folder");
    expect(folder.exit).toBe(0);
    expect(world.keys().filter((key) => !hidden(key))).toEqual(
      world
        .names("folder")
        .map((name) => `a/${name}`)
        .sort(),
    );
    expect(world.index("a")).toBe(world.read("folder/catalogue.ndjson"));
  });

  longTest(
    "is verified by a list, and by the digests of objects that it does not show to be unchanged",
    async () => {
      const world = await bucketWorld();
      await world.run("s3://shop/a --path-style");
      const whole = world.text("a/DRESS-1_front.jpg");
      const verify = async () => {
        world.clock.advance(10 * minute);
        const before = world.store.requests.length;
        const { stdout } = await world.run("s3://shop/a --path-style --verify --json");
        const heads = world.store.requests.slice(before).filter((line) => line.startsWith("HEAD a/DRESS"));
        const { total, changed, unchanged } = JSON.parse(stdout);
        return { total, changed, unchanged, heads: heads.length };
      };
      expect(await verify()).toEqual({ total: 6, changed: 0, unchanged: 6, heads: 0 });
      world.store.objects.delete("a/DRESS-1_front.jpg");
      // Another image of the same length, and the same image in another encryption.
      const back = world.store.objects.get("a/DRESS-1_back.jpg")!;
      const headers = { ...back.headers, etag: '"other"', "x-amz-meta-sha256": "other" };
      world.store.objects.set("a/DRESS-1_back.jpg", { ...back, etag: '"other"', headers });
      const front = world.store.objects.get("a/DRESS-2_front.jpg")!;
      const encrypted = { ...front.headers, etag: '"kms"' };
      world.store.objects.set("a/DRESS-2_front.jpg", { ...front, etag: '"kms"', headers: encrypted });
      world.clock.advance(10 * minute);
      expect((await world.run("s3://shop/a --path-style")).stderr).toContain("6 unchanged");
      // The two others that are replaced are looked up once more.
      expect(await verify()).toEqual({ total: 6, changed: 2, unchanged: 4, heads: 5 });
      expect(world.text("a/DRESS-1_front.jpg")).toBe(whole);
      expect(await verify()).toEqual({ total: 6, changed: 0, unchanged: 6, heads: 0 });
      // The index of an earlier version.
      const index = Buffer.from(world.index("a"));
      world.store.objects.set("a/catalogue.ndjson", { ...back, body: index });
      const state = JSON.parse(world.text("a/.catalogue/all/state.json"));
      const index_sha256 = createHash("sha256").update(index).digest("hex");
      world.store.write("a/.catalogue/all/state.json", { ...state, index_sha256 });
      expect(await verify()).toEqual({ total: 6, changed: 0, unchanged: 6, heads: 6 });
      expect(await verify()).toEqual({ total: 6, changed: 0, unchanged: 6, heads: 0 });
    },
  );

  longTest(
    "renames no object that another program has replaced, also by one of the same length",
    async () => {
      const world = await bucketWorld();
      await world.run("s3://shop/a --path-style");
      world.clock.advance(10 * minute);
      const front = world.store.objects.get("a/DRESS-1_front.jpg")!;
      const headers = { ...front.headers, "x-amz-meta-sha256": "other" };
      world.store.objects.set("a/DRESS-1_front.jpg", { ...front, headers });
      await world.send("PATCH", `/v1/products/${world.products()[0]!.id}`, { reference: "COAT-9" });
      expect(await world.run("s3://shop/a --path-style")).toMatchObject({
        exit: 8,
        stderr: expect.stringContaining(
          "DRESS-1_front.jpg was changed by another program and is not renamed",
        ),
      });
      expect(world.keys()).toContain("a/DRESS-1_front.jpg");
      expect(world.keys()).toContain("a/COAT-9_back.jpg");
    },
  );

  longTest("of two shards is joined by the one that ends last, if an index has changed", async () => {
    const world = await bucketWorld();
    await world.run("s3://shop/whole --path-style");
    await world.run("s3://shop/a --path-style --shard 1/2");
    expect(world.keys()).not.toContain("a/catalogue.ndjson");
    expect(world.keys()).toContain("a/.catalogue/lease-1-of-2");
    await world.run("s3://shop/a --path-style --shard 2/2");
    expect(world.text("a/catalogue.ndjson")).toBe(world.text("whole/catalogue.ndjson"));
    expect(await world.run("s3://shop/a --path-style --shard 1/3")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("s3://shop/a is another mirror: --shard I/2, not --shard I/3\n"),
    });
    // Nothing has changed.
    const sync = (shard: string) => world.run(`s3://shop/a --path-style --shard ${shard}/2 --quiet`);
    const before = world.store.requests.length;
    expect((await sync("2")).exit).toBe(0);
    const isOfJoin = (line: string) => line === "PUT a/catalogue.ndjson" || line.includes("lease-merge");
    expect(world.store.requests.slice(before).filter(isOfJoin)).toEqual([]);
    // The other shard swaps its index, which the join has read.
    world.store.objects.delete("a/catalogue.ndjson");
    const own = JSON.parse(world.text("a/.catalogue/1-of-2/state.json"));
    world.store.faults.instead = (method, key) => {
      if (method === "GET" && key === "a/catalogue.1-of-2.ndjson")
        world.store.write("a/.catalogue/1-of-2/state.json", { ...own, index_sha256: "new" });
      return null;
    };
    expect(await sync("2")).toEqual({ exit: 0, stdout: "", stderr: "" });
    expect(world.keys()).not.toContain("a/catalogue.ndjson");
    delete world.store.faults.instead;
    world.store.write("a/.catalogue/1-of-2/state.json", own);
    expect((await sync("1")).exit).toBe(0);
    expect(world.text("a/catalogue.ndjson")).toBe(world.text("whole/catalogue.ndjson"));
    // Another machine has taken the join over meanwhile.
    world.store.objects.delete("a/.catalogue/merge/joined.json");
    world.store.faults.instead = (method, key) => {
      if (method === "GET" && key === "a/catalogue.1-of-2.ndjson")
        world.store.write("a/catalogue.ndjson", {});
      return null;
    };
    expect((await sync("2")).exit).toBe(6);
    expect(world.text("a/catalogue.ndjson")).toBe("{}");
    expect(world.keys()).not.toContain("a/.catalogue/merge/joined.json");
  });

  test("keeps every object where the catalogue has lost most of them, until --max-delete allows it", async () => {
    const world = await bucketWorld();
    await world.run("s3://shop/a --path-style");
    world.clock.advance(10 * minute);
    for (const { id } of world.products().slice(1)) await world.send("DELETE", `/v1/products/${id}`);
    const images = () => world.keys().filter((key) => key.endsWith(".jpg"));
    const all = images();
    expect(await world.run("s3://shop/a --path-style --delete --full")).toMatchObject({
      exit: 8,
      stderr: expect.stringContaining(
        "error: 4 of 6 files are no longer in the catalogue; none was deleted\n" +
          "Check the API key and the catalogue. To delete the files, add --delete --max-delete 4.\n",
      ),
    });
    expect(images()).toEqual(all);
    expect((await world.run("s3://shop/a --path-style --delete --max-delete 4 --full")).exit).toBe(0);
    expect(images()).toEqual(["a/DRESS-1_back.jpg", "a/DRESS-1_front.jpg"]);
  });

  longTest("is resumed at once after an interrupt", async () => {
    const world = await bucketWorld();
    const running = world.run("s3://shop/a --path-style");
    world.store.faults.instead = (method, key) => {
      if (method === "PUT" && key.endsWith(".jpg")) running.interrupt();
      return null;
    };
    expect((await running).exit).toBe(130);
    delete world.store.faults.instead;
    expect((await world.run("s3://shop/a --path-style")).exit).toBe(0);
  });

  const stops: [what: string, count: number, flag?: string][] = [
    ["moves", 6],
    ["names", 6, "--unlocked"],
    ["moves", 2],
    ["moves", 8],
    ["names", 1],
    ["names", 6],
    ["copies", 6],
  ];
  longTest.each(stops)(
    "has every image once where names were exchanged, and the run was stopped: after %s, %s %s",
    async (what, count, flag = "") => {
      const world = await bucketWorld();
      await world.run("s3://shop/a --path-style");
      world.clock.advance(10 * minute);
      const [one, two] = world.products();
      const { reference: first } = one!;
      for (const [id, reference] of [
        [one!.id, "COAT"],
        [two!.id, first],
        [one!.id, two!.reference],
      ])
        await world.send("PATCH", `/v1/products/${id}`, { reference });
      const running = world.run("s3://shop/a --path-style");
      // A name is taken by an empty object before a copy.
      const isReached = what === "moves" ? /^DELETE a\/(DRESS|.*parked)/ : /^PUT a\/(DRESS|.*parked)/;
      let left = count;
      world.store.faults.instead = (method, key) => {
        const isEmpty = world.store.objects.get(key)?.body.length === 0;
        const isOther = what !== "moves" && isEmpty !== (what === "names");
        if (isReached.test(`${method} ${key}`) && !isOther && --left === 0) running.interrupt();
        return null;
      };
      expect((await running).exit).toBe(130);
      delete world.store.faults.instead;
      const ran = await world.run(`s3://shop/a --path-style --json ${flag}`.trim());
      expect(JSON.parse(ran.stdout)).toMatchObject({ total: 6, added: 0, changed: 0, failed: 0 });
      await world.cat("export sync folder");
      expect(world.keys().filter((key) => !hidden(key))).toEqual(
        world
          .names("folder")
          .map((name) => `a/${name}`)
          .sort(),
      );
      expect(world.keys().filter((key) => key.includes("parked"))).toEqual([]);
      expect(world.index("a")).toBe(world.read("folder/catalogue.ndjson"));
      expect((await world.run("s3://shop/a --path-style --verify")).stderr).toContain("6 unchanged");
    },
  );

  longTest.each([/^PUT a\/DRESS-2/, /^DELETE a\/DRESS-2/])(
    "has every image once where bytes and names have changed, and the run was stopped: at %s",
    async (isReached) => {
      const world = await bucketWorld();
      await world.run("s3://shop/a --path-style");
      const state = world.mock.state();
      for (const { images } of Object.values(state.organizations))
        for (const image of images) {
          const created_at = new Date(world.clock.now()).toISOString();
          Object.assign(image, { mime_type: "image/png", seed: `${image.seed} edited`, created_at });
        }
      await world.send("PUT", "/_mock/state", state);
      const running = world.run("s3://shop/a --path-style --full");
      world.store.faults.instead = (method, key) => {
        if (isReached.test(`${method} ${key}`)) running.interrupt();
        return null;
      };
      expect((await running).exit).toBe(130);
      delete world.store.faults.instead;
      expect((await world.run("s3://shop/a --path-style --full")).stderr).toContain("6 changed");
      await world.cat("export sync folder");
      expect(world.names("folder")).toContain("DRESS-1_back.png");
      expect(world.keys().filter((key) => !hidden(key))).toEqual(
        world.names("folder").map((name) => `a/${name}`),
      );
      expect(world.index("a")).toBe(world.read("folder/catalogue.ndjson"));
    },
  );

  longTest(
    "has no object left where a run was stopped whose names were those of images that are gone now",
    async () => {
      const world = await bucketWorld();
      await world.run("s3://shop/a --path-style");
      const [first] = world.products();
      await world.send("DELETE", `/v1/products/${first!.id}`, undefined);
      const images = first!.images.map(({ id, orientation }) => ({ image_id: id, orientation }));
      await world.send("POST", "/v1/products", { reference: first!.reference, name: "Again", images });
      const running = world.run("s3://shop/a --path-style --delete");
      world.store.faults.instead = (method, key) => {
        if (method === "PUT" && key.startsWith("a/DRESS-")) running.interrupt();
        return null;
      };
      expect((await running).exit).toBe(130);
      delete world.store.faults.instead;
      const left = world.keys().filter((key) => !hidden(key) && !names.includes(key.slice(2)));
      expect(left).toContainEqual(expect.stringMatching(/^a\/DRESS-\d_\w+-\w{26}\.jpg$/));
      expect((await world.run("s3://shop/a --path-style --delete")).exit).toBe(0);
      expect(world.keys().filter((key) => !hidden(key))).toEqual(
        [...names, "catalogue.ndjson"].map((name) => `a/${name}`).sort(),
      );
    },
  );

  longTest("is one machine's at a time; after a kill the others wait for a minute at most", async () => {
    const world = await bucketWorld();
    const holder = { pid: 4711, since: "2026-01-05T09:00:00.000Z" };
    world.store.write("a/.catalogue/lease-all", { holder, until: world.clock.now() + minute });
    expect(await world.run("s3://shop/a --path-style")).toEqual({
      exit: 6,
      stdout: "",
      stderr:
        "error: process 4711 has been mirroring the catalogue into s3://shop/a since 2026-01-05T09:00:00Z\n" +
        "Wait for it to finish. If it was killed, run the command again in a minute.\n",
    });
    world.clock.advance(minute);
    expect((await world.run("s3://shop/a --path-style")).exit).toBe(0);
  });
});

/** A mirror whose store is gone after so many requests, and what the same command makes of it later. */
async function goneAfter(requests: number) {
  const world = await bucketWorld();
  let left = requests;
  world.store.faults.instead = () => (left-- > 0 ? null : "cut");
  const stopped = await world.run("s3://shop/a --path-style");
  delete world.store.faults.instead;
  world.clock.advance(2 * minute);
  const before = world.store.requests.length;
  const resumed = await world.run("s3://shop/a --path-style");
  expect(resumed.exit, resumed.stderr).toBe(0);
  await world.cat("export sync folder");
  expect(world.index("a")).toBe(world.read("folder/catalogue.ndjson"));
  expect(world.keys().filter((key) => !hidden(key))).toEqual(
    world
      .names("folder")
      .map((name) => `a/${name}`)
      .sort(),
  );
  return { world, stopped, again: world.store.requests.slice(before) };
}

describe("a run that lost its store", () => {
  longTest("is resumed, and uploads nothing again", async () => {
    const { world, stopped, again } = await goneAfter(24);
    expect(stopped.exit).toBe(7);
    const uploads = again.filter((line) => /^PUT a\/DRESS/.test(line));
    expect(uploads.length).toBeLessThan(6);
    expect(new Set(world.store.requests.filter((line) => /^PUT a\/DRESS/.test(line))).size).toBe(6);
  });

  longTest("is resumed after any request", async () => {
    for (let requests = 1; requests < 60; requests++) await goneAfter(requests);
  });
});

describe("a bucket that cannot be used", () => {
  const unusable = [
    ["s3://other/a --path-style", {}, 5, "cannot list s3://other/a: the bucket other does not exist"],
    ["s3://shop/a --path-style", { AWS_ACCESS_KEY_ID: "" }, 4, "no credentials for the store"],
    ["s3://shop/a --path-style", { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" }, 7, "connection refused"],
    ["s3://shop/a", { AWS_ENDPOINT_URL_S3: "secret:9000" }, 2, "AWS_ENDPOINT_URL_S3 is not the address of a"],
    ["s3://shop/a", { AWS_REGION: "eu west" }, 2, "the region of the bucket has other characters"],
    [
      "s3://shop/a --path-style",
      { AWS_ACCESS_KEY_ID: "secret\n" },
      4,
      "has a line break or another character",
    ],
    ["s3://shop/a --path-style", { AWS_SESSION_TOKEN: "secret\r\nT" }, 4, "has a line break or another"],
    ["s3://shop/a --path-style", { AWS_SESSION_TOKEN: "secret日" }, 4, "another character that no key has"],
    ["s3://shop/a", { AWS_ENDPOINT_URL_S3: "" }, 5, "the region of the bucket is not known"],
    ["s3://other/a --path-style", { AWS_REGION: "" }, 5, "the bucket other does not exist"],
    ["s3://SHOP/a", {}, 2, "the address of the bucket has no valid bucket name"],
    ["s3://key:secret@shop/a", {}, 2, "the address of the bucket has more than a bucket and a prefix"],
    ["s3://shop/a/../b", {}, 2, "has a prefix with an empty part, a dot part or a control character"],
    ["s3://shop/a --merge", {}, 2, "--merge is for folders"],
    ["s3://shop/a --unlocked --shard 1/2", {}, 2, "--unlocked cannot be used with --shard"],
    ["images --endpoint http://localhost:1", {}, 2, "--endpoint is for buckets"],
    ["s3://shop/a --endpoint http://me:secret@h", {}, 2, "--endpoint is not the address of a store"],
  ] as const;
  const rejections = [
    [403, "AccessDenied", 4, "bucket_denied", "access to the bucket shop was denied"],
    [403, "InvalidAccessKeyId", 4, "bucket_key_invalid", "the store does not know the access key"],
    [403, "SignatureDoesNotMatch", 4, "bucket_key_invalid", "the secret of the access key is wrong"],
    [400, "ExpiredToken", 4, "bucket_key_expired", "the credentials for the store have expired"],
    [
      403,
      "RequestTimeTooSkewed",
      4,
      "clock_skew",
      "the clock of this machine differs from that of the store",
    ],
    [301, "PermanentRedirect", 5, "wrong_region", "the bucket shop is in another region"],
    [
      400,
      "AuthorizationHeaderMalformed",
      5,
      "wrong_region",
      "the bucket shop is in the region eu-west-3",
      "<Region>eu-west-3</Region>",
    ],
    [503, "SlowDown", 7, "store_failed", "the store responded with 503 (SlowDown)"],
    [307, "Found", 7, "not_a_store", "the response is not that of an object store"],
  ] as const;

  longTest("is one line and the way out", async () => {
    const world = await bucketWorld();
    // The SDK reads these from the environment of the process.
    vi.stubEnv("HOME", world.folder);
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("AWS_DEFAULTS_MODE", "odd");
    for (const [line, env, exit, message] of unusable) {
      const ran = await world.run(line, env);
      expect([ran.exit, ran.stdout], line).toEqual([exit, ""]);
      expect(ran.stderr).toContain(message);
      expect(ran.stderr).not.toContain("secret");
      expect(ran.stderr.trimEnd().split("\n"), line).toHaveLength(2);
    }
    vi.unstubAllEnvs();
    for (const [status, name, exit, code, message, more = ""] of rejections) {
      const body = `<Error><Code>${name}</Code><Message>AKIASECRET</Message>${more}</Error>`;
      world.store.faults.instead = () => ({ status, body });
      const line = "s3://shop/a --path-style";
      const ran = await world.run(line);
      expect([ran.exit, ran.stdout], name).toEqual([exit, ""]);
      expect(ran.stderr.trimEnd().split("\n"), name).toHaveLength(2);
      expect(ran.stderr).toContain(`error: cannot list s3://shop/a: ${message}\n`);
      expect(ran.stderr).not.toContain("AKIASECRET");
      const { stderr } = await world.run(`${line} --json`);
      expect(JSON.parse(stderr).error.code).toBe(code);
    }
    expect(world.keys()).toEqual([]);
  });

  longTest(
    "with a damaged or newer mirror.json, or with that of another organization, is not changed",
    async () => {
      const world = await bucketWorld();
      const line = "s3://shop/a --path-style --shard 1/2";
      await world.run(line);
      const made = JSON.parse(world.text("a/.catalogue/mirror.json"));
      const before = world.keys();
      for (const [content, exit, message] of [
        [[], 2, "the state of the mirror s3://shop/a is damaged"],
        [{ ...made, version: 2 }, 2, "s3://shop/a was written by a newer version of this program"],
        [
          { ...made, key: "another" },
          6,
          "s3://shop/a was mirrored with another API key, and this shard has no products yet to compare\n" +
            "If both keys belong to one organization, add --same-organization. If not, choose another prefix. " +
            "If it has no images yet, delete the objects below s3://shop/a/.catalogue/ and run the command again.\n",
        ],
      ] as const) {
        world.store.write("a/.catalogue/mirror.json", content);
        const ran = await world.run(line.replace("1/2", "2/2"));
        expect([ran.exit, ran.stderr]).toEqual([exit, expect.stringContaining(message)]);
      }
      expect(world.keys().filter((key) => !hidden(key))).toEqual(before.filter((key) => !hidden(key)));
      expect((await world.run(`${line.replace("1/2", "2/2")} --same-organization`)).exit).toBe(0);
    },
  );

  longTest("that rejects images for all of them ends the run", async () => {
    const world = await bucketWorld();
    for (const [status, name, message] of [
      [400, "ExpiredToken", "the credentials for the store have expired"],
      [403, "QuotaExceeded", "the store responded with 403 (QuotaExceeded)"],
    ] as const) {
      let uploads = 0;
      const body = `<Error><Code>${name}</Code></Error>`;
      world.store.faults.instead = (method, key) =>
        method === "PUT" && key.endsWith(".jpg") && ++uploads > 2 ? { status, body } : null;
      const ran = await world.run("s3://shop/a --path-style --concurrency 1");
      expect([ran.exit, ran.stderr]).toEqual([4, expect.stringContaining(message)]);
      // Once without the steps of the SDK, and once with them.
      expect(uploads).toBe(4);
    }
  });

  longTest("with a key that may not write is not changed, and no download is begun", async () => {
    const world = await bucketWorld();
    const body = "<Error><Code>AccessDenied</Code></Error>";
    world.store.faults.instead = (method) => (method === "PUT" ? { status: 403, body } : null);
    expect(await world.run("s3://shop/a --path-style")).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining("access to the bucket shop was denied"),
    });
    expect(world.requests().filter(({ path }) => path.startsWith("/v1/exports"))).toEqual([]);
  });

  /** A server that signs in by web identity, and the environment that names it, which the SDK reads from the process. */
  async function signInServer(world: Awaited<ReturnType<typeof bucketWorld>>, status: number, body: string) {
    const seen: string[] = [];
    const sts = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      request.resume().on("end", () => response.writeHead(status, { "content-type": "text/xml" }).end(body));
    });
    await new Promise<void>((resolve) => sts.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      sts.close();
    });
    const origin = `http://127.0.0.1:${(sts.address() as AddressInfo).port}`;
    world.write("token", "web-identity-token");
    for (const [name, value] of Object.entries({
      HOME: world.folder,
      AWS_WEB_IDENTITY_TOKEN_FILE: world.at("token"),
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/mirror",
      AWS_REGION: "us-east-1",
      AWS_ENDPOINT_URL_STS: origin,
    }))
      vi.stubEnv(name, value);
    return { seen, origin };
  }

  longTest("is signed in to by web identity, through the connections of all other requests", async () => {
    const world = await bucketWorld();
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const credentials =
      `<AccessKeyId>AK</AccessKeyId><SecretAccessKey>SK</SecretAccessKey><SessionToken>T</SessionToken>` +
      `<Expiration>${expires}</Expiration>`;
    const sts = await signInServer(
      world,
      200,
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>${credentials}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    );
    const ran = await world.run("s3://shop/a --path-style --verbose", { AWS_ACCESS_KEY_ID: "" });
    expect(ran.exit, ran.stderr).toBe(0);
    expect(sts.seen).toEqual(["POST /"]);
    // Only what our connections have sent is in the log.
    expect(ran.stderr).toContain(`POST ${sts.origin}/`);
    expect(ran.stderr).not.toContain("web-identity-token");
  });

  longTest("whose sign-in fails is one line with the code of the server", async () => {
    const world = await bucketWorld();
    const body =
      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>secret</Message></Error></ErrorResponse>";
    await signInServer(world, 403, body);
    const line = "s3://shop/a --path-style";
    const ran = await world.run(line, { AWS_ACCESS_KEY_ID: "" });
    vi.stubEnv("AWS_WEB_IDENTITY_TOKEN_FILE", world.at("missing"));
    const lost = await world.run(line, { AWS_ACCESS_KEY_ID: "" });
    const error = (code: string) =>
      `error: no credentials for the store: the sign-in failed (${code})\n` +
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or check AWS_PROFILE and sign in again (for example aws sso login).\n";
    expect(ran).toEqual({ exit: 4, stdout: "", stderr: error("AccessDenied") });
    expect(lost).toEqual({ exit: 4, stdout: "", stderr: error("ENOENT") });
  });

  longTest("with HTML in place of a list, or without conditions, is not written to", async () => {
    const world = await bucketWorld();
    world.store.faults.instead = () => ({ status: 200, body: "<html>Sign in</html>" });
    expect(await world.run("s3://shop/a --path-style")).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining("the response is not that of an object store"),
    });
    world.store.faults.instead = (method) => (method === "PUT" ? { status: 200, body: "<html>" } : null);
    expect(await world.run("s3://shop/a --path-style")).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining("the response is not that of an object store"),
    });
    delete world.store.faults.instead;
    world.store.objects.clear();
    world.store.faults.ignoresConditions = true;
    expect(await world.run("s3://shop/a --path-style")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("add --unlocked, without --shard"),
    });
    expect(world.keys()).toEqual([]);
    expect((await world.run("s3://shop/a --path-style --unlocked")).exit).toBe(0);
    expect(world.keys()).toContain("a/DRESS-1_front.jpg");
  });
});
