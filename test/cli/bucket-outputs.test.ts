import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { s3Server } from "../support/s3-server.ts";
import { syncWorld } from "./export/sync-world.ts";
import { generateWorld } from "./generate/generate-world.ts";

/** Adds an object store with a bucket `shop` to a test environment. */
async function withStore<
  World extends { clock: { now(): number }; cat: Awaited<ReturnType<typeof syncWorld>>["cat"] },
>(world: World) {
  const store = await s3Server(() => world.clock.now());
  return {
    ...world,
    store,
    run: (line: string) => world.cat(`${line} --path-style`, { env: store.env(store.origin) }),
    keys: () => [...store.objects.keys()].sort(),
    body: (key: string) => store.objects.get(key)?.body,
  };
}

const exportWorld = async () => withStore(await syncWorld());

describe("cat export --out s3://", () => {
  longTest("writes the rows that a file would have, and replaces no object without --yes", async () => {
    const world = await exportWorld();
    await world.cat("export --out rows.csv");
    expect(await world.run("export --out s3://shop/a/rows.csv")).toEqual({
      exit: 0,
      stdout: "",
      stderr: expect.stringMatching(
        /^Exported 3 products with 6 images to s3:\/\/shop\/a\/rows\.csv in 0\.\d s\.\n$/,
      ),
    });
    const unsigned = (text: string) => text.replace(/https:[^,"]*/g, "URL");
    expect(unsigned(String(world.body("a/rows.csv")))).toBe(unsigned(world.read("rows.csv")));
    expect(world.store.objects.get("a/rows.csv")!.headers["content-type"]).toBe("text/csv");
    world.store.write("a/rows.csv", { old: true });
    const before = world.requests().length;
    expect(await world.run("export --out s3://shop/a/rows.csv")).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: s3://shop/a/rows.csv exists; nothing was exported\n" +
        "Add --yes to replace it, or choose another file with --out.\n",
    });
    expect(world.requests()).toHaveLength(before);
    expect(String(world.body("a/rows.csv"))).toBe('{"old":true}');
    const replaced = await world.run("export --out s3://shop/a/rows.csv --yes --json");
    const bytes = world.body("a/rows.csv")!.length;
    expect(JSON.parse(replaced.stdout)).toMatchObject({
      products: 3,
      files: [{ path: "s3://shop/a/rows.csv", bytes }],
    });
  });

  longTest("writes the ZIP that a file would be", async () => {
    const world = await exportWorld();
    const ran = await world.run("export --zip --out s3://shop/all.zip --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({ assets: 6, files: [{ path: "s3://shop/all.zip" }] });
    expect(world.keys()).toEqual(["all.zip"]);
    expect(world.store.objects.get("all.zip")!.headers["content-type"]).toBe("application/zip");
    await world.cat("export --zip --out all.zip");
    const file = readFileSync(world.at("all.zip"));
    expect(JSON.parse(ran.stdout).files[0].bytes).toBe(file.length);
    expect(world.body("all.zip")!.length).toBe(file.length);
    expect((await world.run("export --manifest --out s3://shop/all.jsonl")).stderr).toContain(
      "to s3://shop/all.jsonl (",
    );
    expect(String(world.body("all.jsonl")).trimEnd().split("\n")).toHaveLength(3);
  });

  longTest("sends nothing to the service if the bucket cannot be used", async () => {
    const world = await exportWorld();
    const before = world.requests().length;
    for (const flags of ["", "--manifest "]) {
      const ran = await world.run(`export ${flags}--out s3://other/a`);
      expect([ran.exit, ran.stderr]).toEqual([5, expect.stringContaining("the bucket other does not exist")]);
    }
    const body = "<Error><Code>SignatureDoesNotMatch</Code></Error>";
    world.store.faults.instead = (method) =>
      method === "HEAD" ? { status: 403, body: "" } : { status: 403, body };
    expect(await world.run("export --out s3://shop/a.csv")).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining("the secret of the access key is wrong"),
    });
    expect(world.requests()).toHaveLength(before);
  });

  longTest("resumes an export whose store was gone, without another job", async () => {
    const world = await exportWorld();
    world.store.faults.instead = (method) => (method === "PUT" ? { status: 403, body: denied } : null);
    const stopped = await world.run("export --zip --out s3://shop/all.zip");
    expect(stopped.exit).toBe(4);
    expect(stopped.stderr).toContain("access to the bucket shop was denied");
    world.store.objects.clear();
    delete world.store.faults.instead;
    expect((await world.run("export --zip --out s3://shop/all.zip")).exit).toBe(0);
    expect(world.mock.state().organizations.main.exports).toHaveLength(1);
    expect(world.keys()).toEqual(["all.zip"]);
  });

  longTest.each([
    ["--out gs://shop/a.csv", "--out must be a path on this computer, not an address (gs://)"],
    ["--out s3://shop", "--out is a bucket without the name of an object"],
    ["--out s3://shop/a/", "--out is a bucket without the name of an object"],
    ["--out a.csv --endpoint http://127.0.0.1:1", "--endpoint is for buckets, such as s3://shop/images"],
    ["--zip --extract s3://shop/a", "--extract must be a path on this computer, not an address (s3://)"],
    ["--out s3://SHOP/a.csv", "the address of the bucket has no valid bucket name"],
  ])("exits with 2 for %s", async (flags, message) => {
    const world = await exportWorld();
    const ran = await world.cat(`export ${flags}`, { env: world.store.env(world.store.origin) });
    expect([ran.exit, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toContain(message);
    expect(ran.stderr.trimEnd().split("\n")).toHaveLength(2);
  });
});

const denied = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>";

/** A catalogue, an object store, and three looks. */
async function lookWorld() {
  const world = await withStore(await generateWorld());
  world.looks(...[1, 2, 3].map((number) => `DRESS-${number},mdl_001,loft,full-front`));
  return world;
}

describe("cat tryon --save s3://", () => {
  longTest("saves the images that a folder gets, with the same lists", async () => {
    const world = await lookWorld();
    const ran = await world.run("tryon looks.csv --save s3://shop/looks --yes");
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(ran.stderr).toContain("Saved 3 images in s3://shop/looks (listed in results.csv).\n");
    const ids = world.tasks().map(({ id }) => id);
    expect(await world.cat(`tasks save ${ids.join(" ")} --save folder`)).toMatchObject({ exit: 0 });
    const names = readdirSync(join(world.folder, "folder")).sort();
    expect(names).toHaveLength(5);
    expect(world.keys()).toEqual(names.map((name) => `looks/${name}`));
    for (const name of names.filter((name) => name.endsWith(".png")))
      expect(world.body(`looks/${name}`)).toEqual(readFileSync(join(world.folder, "folder", name)));
    const csv = String(world.body("looks/results.csv")).trimEnd().split("\n");
    expect(csv).toHaveLength(4);
    const [image] = world.keys().filter((key) => key.endsWith(".png"));
    expect(world.store.objects.get(image!)!.headers).toMatchObject({
      "content-type": "image/png",
      "x-amz-meta-ai-generated": "true",
      "x-amz-meta-label": "true",
    });
  });

  longTest("saves no image twice, and keeps the rows of earlier commands", async () => {
    const world = await lookWorld();
    await world.run("tryon looks.csv --save s3://shop/looks --yes");
    world.looks("DRESS-4,mdl_001,loft,full-front");
    await world.run("tryon looks.csv --save s3://shop/looks --yes");
    const before = world.store.requests.length;
    const saved = await world.run(
      `tasks save ${world
        .tasks()
        .map(({ id }) => id)
        .join(" ")} --save s3://shop/looks --json`,
    );
    expect(JSON.parse(saved.stdout.split("\n")[0]!).output_file).toMatch(
      /^s3:\/\/shop\/looks\/DRESS-.*\.png$/,
    );
    const again = world.store.requests.slice(before).filter((line) => /^PUT .*png$/.test(line));
    expect(again).toEqual([]);
    expect(String(world.body("looks/results.ndjson")).trimEnd().split("\n")).toHaveLength(4);
  });

  longTest("loses no row when another command writes the lists meanwhile", async () => {
    const world = await lookWorld();
    await world.run("tryon looks.csv --save s3://shop/looks --yes");
    const { body, ...rest } = world.store.objects.get("looks/results.ndjson")!;
    const other = `${JSON.stringify({ ...JSON.parse(String(body).split("\n")[0]!), task_id: "01OTHER" })}\n`;
    world.looks("DRESS-4,mdl_001,loft,full-front");
    let times = 1;
    world.store.faults.instead = (method, key) => {
      if (method !== "GET" || key !== "looks/results.ndjson" || times === 3) return null;
      if (times++ < 2) return null;
      // After the second look at the list, before it is written.
      world.store.objects.set(key, {
        ...rest,
        etag: '"other"',
        headers: { etag: '"other"' },
        body: Buffer.concat([body, Buffer.from(other)]),
      });
      return null;
    };
    expect(await world.run("tryon looks.csv --save s3://shop/looks --yes")).toMatchObject({ exit: 0 });
    const rows = String(world.body("looks/results.ndjson")).trimEnd().split("\n");
    expect(rows).toHaveLength(5);
    expect(String(world.body("looks/results.csv"))).toContain("01OTHER");
  });

  longTest("queues nothing if the bucket cannot be used", async () => {
    const world = await lookWorld();
    world.store.objects.set("looks/results.csv", {
      body: Buffer.from("my,own\n1,2\n"),
      etag: '"1"',
      at: 0,
      headers: { etag: '"1"' },
    });
    expect(await world.run("tryon looks.csv --save s3://shop/looks --yes")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(
        "error: cannot save in s3://shop/looks: results.csv in it was not written by this program, and would be replaced\n",
      ),
    });
    expect((await world.run("tryon looks.csv --save s3://other/looks --yes")).exit).toBe(5);
    expect(await world.run("tryon looks.csv --save s3://shop/looks --approved looks.csv")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--approved moves files, which --save with a bucket does not have\n"),
    });
    expect(world.tasks()).toEqual([]);
  });

  longTest("has the gallery show images that are in the bucket", async () => {
    const world = await lookWorld();
    const ran = await world.run("tryon looks.csv --save s3://shop/looks --gallery review.html --yes");
    expect(ran).toMatchObject({ exit: 0 });
    expect(world.read("review.html")).toContain("data:image/");
  });
});
