import { createHash } from "node:crypto";
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LocalFolder } from "../../../src/flows/export/sync/local-folder.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { syncWorld } from "./sync-world.ts";

const allNames = [
  "DRESS-1_back.jpg",
  "DRESS-1_front.jpg",
  "DRESS-2_back.jpg",
  "DRESS-2_front.jpg",
  "DRESS-3_back.jpg",
  "DRESS-3_front.jpg",
];
const day = 24 * 3_600_000;

describe("the first run", () => {
  longTest(
    "writes nothing through links in the hidden folder of an earlier mirror, and closes it",
    async () => {
      const world = await syncWorld();
      await world.cat("export sync images");
      const hidden = world.at("images/.catalogue-sync");
      // As earlier versions made it where the umask is 0.
      for (const name of ["", "all", "all/parts"]) chmodSync(join(hidden, name), 0o777);
      const planted = [
        ...["put-0", "put-1", "put-2", "put-3"].map((name) => `all/parts/${name}`),
        "all/holder.json",
        "all/journal.ndjson",
      ];
      for (const [number, name] of planted.entries()) {
        writeFileSync(world.at(`private-${number}`), "private");
        symlinkSync(world.at(`private-${number}`), join(hidden, name));
      }
      rmSync(world.at("images/DRESS-1_back.jpg"));
      // The journal of a stopped run is read, but a link is none.
      const ran = await world.cat("export sync images --verify");
      expect(planted.map((_, number) => readFileSync(world.at(`private-${number}`), "utf8"))).toEqual(
        planted.map(() => "private"),
      );
      expect([0, 2]).toContain(ran.exit);
      expect(["", "all", "all/parts"].map((name) => statSync(join(hidden, name)).mode & 0o777)).toEqual([
        0o700, 0o700, 0o700,
      ]);
    },
  );

  test("downloads every image, and writes the index", async () => {
    const world = await syncWorld();
    const ran = await world.cat("export sync images");
    const size = allNames.reduce((sum, name) => sum + readFileSync(world.at(`images/${name}`)).length, 0);
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr: `Mirrored 6 images in images in 0.0 s: 6 added (${(size / 1000).toFixed(1)} kB downloaded).\n`,
    });
    expect(world.names("images")).toEqual([...allNames, "catalogue.ndjson"]);
    const index = world.index("images/catalogue.ndjson");
    const keys = index.map(({ product_id, asset_id }) => `${product_id} ${asset_id}`);
    expect(keys).toEqual([...keys].sort());
    const entry = index.find(({ path }) => path === "DRESS-2_front.jpg")!;
    const product = world.products().find(({ reference }) => reference === "DRESS-2")!;
    const bytes = readFileSync(world.at("images/DRESS-2_front.jpg"));
    expect(entry).toEqual({
      product_id: product.id,
      asset_id: product.images.find(({ orientation }) => orientation === "front")!.id,
      reference: "DRESS-2",
      name: "Dress 2",
      sex: null,
      role: "source",
      path: "DRESS-2_front.jpg",
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      mime_type: "image/jpeg",
      width: expect.any(Number),
      height: expect.any(Number),
      ai_generated: false,
      watermarked: false,
      derived: false,
      created_at: expect.stringMatching(/^2026-01-05T/),
      task_id: null,
      attributes: { orientation: "front" },
      also_features: [],
      suggested_filename: "DRESS-2_front.jpg",
    });
  });

  longTest("writes byte for byte what another first run does", async () => {
    const world = await syncWorld();
    await world.cat("export sync one");
    world.clock.advance(day);
    await world.cat("export sync other --concurrency 1");
    expect(world.tree("one")).toEqual(world.tree("other"));
  });

  longTest("prints one summary object with --json", async () => {
    const world = await syncWorld();
    const ran = await world.cat("export sync images/ --json");
    expect(JSON.parse(ran.stdout)).toEqual({
      ...{ run_id: expect.any(String), total: 6, added: 6, changed: 0, renamed: 0, removed: 0 },
      ...{ unchanged: 0, failed: 0, bytes: expect.any(Number), duration_ms: 0 },
      index_file: "images/catalogue.ndjson",
    });
    expect(ran.stderr).toBe("");
  });

  longTest("of an empty catalogue has an empty index", async () => {
    const world = await syncWorld();
    expect((await world.sync("images --role tryon")).counts).toEqual({});
    expect(world.tree("images")).toEqual({ "catalogue.ndjson": "" });
  });

  longTest("needs an API key before it creates the folder", async () => {
    const world = await syncWorld();
    const ran = await world.cat("export sync images", { env: { CAT_API_KEY: undefined } });
    expect(ran.exit).toBe(4);
    expect(world.names(".")).not.toContain("images");
    expect(() => readFileSync(world.at("images"))).toThrow("ENOENT");
  });
});

describe("a later run", () => {
  test("without changes reads one page, and downloads nothing", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    const before = world.tree("images");
    world.traffic();
    world.clock.advance(day);
    expect((await world.cat("export sync images")).stderr).toBe(
      "Mirrored 6 images in images in 0.0 s: 6 unchanged.\n",
    );
    expect(world.traffic()).toEqual({ pages: 1, images: 0 });
    expect(world.tree("images")).toEqual(before);
  });

  test("downloads a new photo alone", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    world.clock.advance(day);
    await world.add("DRESS-1", ["side"]);
    world.traffic();
    expect(await world.sync("images")).toMatchObject({
      exit: 0,
      counts: { total: 7, added: 1, unchanged: 6 },
    });
    expect(world.traffic()).toEqual({ pages: 1, images: 1 });
    await world.cat("export sync fresh");
    expect(world.tree("images")).toEqual(world.tree("fresh"));
  });

  test("renames files of a product with another reference, without a download", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    world.clock.advance(day);
    await world.send("PATCH", `/v1/products/${world.idOf("DRESS-1")}`, { reference: "SHIRT-9" });
    world.traffic();
    expect(await world.sync("images")).toMatchObject({
      exit: 0,
      counts: { total: 6, renamed: 2, unchanged: 4 },
    });
    expect(world.traffic()).toEqual({ pages: 1, images: 0 });
    expect(world.names("images")).toContain("SHIRT-9_front.jpg");
    await world.cat("export sync fresh");
    expect(world.tree("images")).toEqual(world.tree("fresh"));
  });

  longTest("exchanges the names of two products", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    world.clock.advance(day);
    const [one, other] = [world.idOf("DRESS-1"), world.idOf("DRESS-2")];
    await world.send("PATCH", `/v1/products/${one}`, { reference: "X" });
    await world.send("PATCH", `/v1/products/${other}`, { reference: "DRESS-1" });
    await world.send("PATCH", `/v1/products/${one}`, { reference: "DRESS-2" });
    expect((await world.sync("images")).counts).toEqual({ total: 6, renamed: 4, unchanged: 2 });
    await world.cat("export sync fresh");
    expect(world.tree("images")).toEqual(world.tree("fresh"));
  });

  longTest("finds detached photos when everything is read: with --full, and after --full-every", async () => {
    const world = await syncWorld();
    const detach = async (reference: string) => {
      const product = world.products().find((one) => one.reference === reference)!;
      await world.send("DELETE", `/v1/products/${product.id}/images/${product.images[1]!.id}`);
    };
    await world.cat("export sync images");
    world.clock.advance(day);
    await detach("DRESS-1");
    expect((await world.sync("images --delete")).counts).toEqual({ total: 6, unchanged: 6 });
    expect((await world.sync("images --delete --full")).counts).toEqual({
      total: 5,
      removed: 1,
      unchanged: 5,
    });
    // After a removal, everything is read once more.
    expect((await world.sync("images --delete")).counts).toEqual({ total: 5, unchanged: 5 });
    await detach("DRESS-2");
    world.clock.advance(6 * day);
    expect((await world.sync("images --delete")).counts).toEqual({ total: 5, unchanged: 5 });
    world.clock.advance(day);
    expect((await world.sync("images --delete --full-every 0")).counts).toEqual({ total: 5, unchanged: 5 });
    expect((await world.sync("images --delete --full-every 30d")).counts).toEqual({ total: 5, unchanged: 5 });
    expect((await world.sync("images --delete")).counts).toEqual({ total: 4, removed: 1, unchanged: 4 });
  });
});

describe("a deleted product", () => {
  const deleted = async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    world.clock.advance(day);
    await world.send("DELETE", `/v1/products/${world.idOf("DRESS-2")}`);
    return world;
  };

  test("keeps its files, and the index says so", async () => {
    const world = await deleted();
    expect((await world.cat("export sync images")).stderr).toBe(
      "Mirrored 4 images in images in 0.0 s: 2 removed, 4 unchanged.\n" +
        "  Files of removed images were kept. To delete them, add --delete.\n",
    );
    expect(world.names("images")).toEqual([...allNames, "catalogue.ndjson"]);
    const removed = world.index("images/catalogue.ndjson").filter((entry) => entry.removed);
    expect(removed.map(({ path }) => path).sort()).toEqual(["DRESS-2_back.jpg", "DRESS-2_front.jpg"]);
    expect((await world.sync("images")).counts).toEqual({ total: 4, unchanged: 4 });
  });

  longTest("loses its files with --delete, also if they were kept before", async () => {
    const world = await deleted();
    await world.cat("export sync images");
    expect((await world.sync("images --delete")).counts).toEqual({ total: 4, removed: 2, unchanged: 4 });
    await world.cat("export sync fresh");
    expect(world.tree("images")).toEqual(world.tree("fresh"));
  });

  test("keeps a file of the user in the place of an image: it is named, and not counted as removed", async () => {
    const world = await deleted();
    world.write("images/DRESS-2_back.jpg", "my own file");
    const note =
      "1 file of removed images is kept, because its content is not what this mirror saved: DRESS-2_back.jpg\n";
    expect(await world.cat("export sync images --delete --dry-run")).toMatchObject({
      exit: 0,
      stderr: `${note}images would have 4 images: 1 removed, 4 unchanged. Nothing was written (--dry-run).\n`,
    });
    expect(world.names("images")).toEqual([...allNames, "catalogue.ndjson"]);
    expect(await world.cat("export sync images --delete")).toMatchObject({
      exit: 0,
      stderr: `${note}Mirrored 4 images in images in 0.0 s: 1 removed, 4 unchanged.\n`,
    });
    const names = [...allNames.filter((name) => name !== "DRESS-2_front.jpg"), "catalogue.ndjson"];
    expect(world.names("images")).toEqual(names);
    expect(world.read("images/DRESS-2_back.jpg")).toBe("my own file");
  });

  test("keeps its files with --delete if there are more than --max-delete: exit 8", async () => {
    const world = await deleted();
    const ran = await world.cat("export sync images --delete --max-delete 1");
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toBe(
      "Mirrored 6 images in images in 0.0 s: 6 unchanged.\n" +
        "error: 2 of 6 files are no longer in the catalogue; none was deleted\n" +
        "Check the API key and the catalogue. To delete the files, add --delete --max-delete 2.\n",
    );
    expect(world.names("images")).toEqual([...allNames, "catalogue.ndjson"]);
    expect((await world.sync("images --delete --max-delete 2")).exit).toBe(0);
    expect(world.names("images")).toHaveLength(5);
  });

  test("all products: --delete never deletes everything without --max-delete", async () => {
    const world = await deleted();
    for (const reference of ["DRESS-1", "DRESS-3"])
      await world.send("DELETE", `/v1/products/${world.idOf(reference)}`);
    expect((await world.sync("images --delete")).exit).toBe(8);
    expect((await world.sync("images --delete --full")).exit).toBe(8);
    expect(world.names("images")).toHaveLength(7);
    expect((await world.sync("images --delete --max-delete 6")).counts).toEqual({ removed: 6 });
    expect(world.tree("images")).toEqual({ "catalogue.ndjson": "" });
  });
});

describe("--dry-run", () => {
  test("of a first run writes nothing at all", async () => {
    const world = await syncWorld();
    world.traffic();
    const ran = await world.cat("export sync images --dry-run");
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr: "images would have 6 images: 6 added. Nothing was written (--dry-run).\n",
    });
    expect(() => readFileSync(world.at("images"))).toThrow("ENOENT");
    expect(world.traffic().images).toBe(0);
  });

  longTest("counts what the next run does", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    world.clock.advance(day);
    await world.send("DELETE", `/v1/products/${world.idOf("DRESS-2")}`);
    await world.send("PATCH", `/v1/products/${world.idOf("DRESS-1")}`, { reference: "SHIRT-9" });
    const before = [world.tree("images"), readFileSync(world.at("images/.catalogue-sync/all/state.json"))];
    const { stdout } = await world.cat("export sync images --delete --dry-run --json");
    const counts = { total: 4, added: 0, changed: 0, renamed: 2, removed: 2, unchanged: 2, failed: 0 };
    expect(JSON.parse(stdout)).toMatchObject({ ...counts, bytes: null });
    expect([world.tree("images"), readFileSync(world.at("images/.catalogue-sync/all/state.json"))]).toEqual(
      before,
    );
    const { stdout: real } = await world.cat("export sync images --delete --json");
    expect(JSON.parse(real)).toMatchObject({ ...counts, bytes: 0 });
  });
});

describe("files that the user changes", () => {
  test("--verify repairs damaged and missing files, and leaves the others", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    const before = world.tree("images");
    const cut = readFileSync(world.at("images/DRESS-1_back.jpg"));
    cut[100]! ^= 1;
    writeFileSync(world.at("images/DRESS-1_back.jpg"), cut);
    rmSync(world.at("images/DRESS-3_front.jpg"));
    expect((await world.sync("images")).counts).toEqual({ total: 6, unchanged: 6 });
    world.traffic();
    expect((await world.sync("images --verify")).counts).toEqual({ total: 6, changed: 2, unchanged: 4 });
    expect(world.traffic().images).toBe(2);
    expect(world.tree("images")).toEqual(before);
    expect((await world.sync("images --verify")).counts).toEqual({ total: 6, unchanged: 6 });
  });

  test("files that the index does not know are never touched, also if an image wants their name", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    world.write("images/notes.txt", "mine");
    world.write("images/SHIRT-9_front.jpg", "mine");
    world.clock.advance(day);
    await world.send("PATCH", `/v1/products/${world.idOf("DRESS-1")}`, { reference: "SHIRT-9" });
    await world.send("DELETE", `/v1/products/${world.idOf("DRESS-2")}`);
    expect((await world.sync("images --delete --full --verify")).exit).toBe(0);
    expect(world.read("images/notes.txt")).toBe("mine");
    expect(world.read("images/SHIRT-9_front.jpg")).toBe("mine");
    const index = world.index("images/catalogue.ndjson");
    const front = index.find(
      ({ reference, attributes }) => reference === "SHIRT-9" && attributes.orientation === "front",
    )!;
    expect(front.path).toBe(`SHIRT-9_front-${front.asset_id}.jpg`);
    expect(world.names("images")).toContain(front.path);
  });

  test("a missing file that is to be renamed is reported, also by the dry run: exit 8", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    rmSync(world.at("images/DRESS-1_front.jpg"));
    world.clock.advance(day);
    await world.send("PATCH", `/v1/products/${world.idOf("DRESS-1")}`, { reference: "SHIRT-9" });
    const planned = await world.sync("images --dry-run");
    const { exit, counts } = await world.sync("images");
    expect([planned.exit, exit]).toEqual([8, 8]);
    expect(counts).toMatchObject({ total: 6, renamed: 1, failed: 1, unchanged: 4 });
    const { run_id, bytes, duration_ms, ...sums } = counts;
    expect(planned.counts).toMatchObject(sums);
    expect(counts.failures).toMatchObject([{ code: "missing_file" }]);
    expect((await world.sync("images --verify")).counts).toMatchObject({ changed: 1, unchanged: 5 });
    await world.cat("export sync fresh");
    expect(world.tree("images")).toEqual(world.tree("fresh"));
  });

  test("a link out of the mirror is not followed: exit 8, and nothing is written there", async () => {
    const world = await syncWorld();
    const line = "images --template '{reference}/{id}{ext}'";
    await world.sync(line);
    world.mkdir("outside");
    symlinkSync(world.at("outside"), world.at("images/SHIRT-9"));
    world.clock.advance(day);
    await world.add("SHIRT-9", ["front"]);
    const { exit, counts } = await world.sync(line);
    expect({ exit, failed: counts.failed }).toEqual({ exit: 8, failed: 1 });
    expect(counts.failures![0]!.message).toBe(
      `${world.at("images/SHIRT-9")} is a link that leads out of the mirror`,
    );
    expect(world.names("outside")).toEqual([]);
    rmSync(world.at("images/SHIRT-9"));
    expect((await world.sync(line)).counts).toEqual({ total: 7, added: 1, unchanged: 6 });
  });

  longTest("hostile references stay in the folder", async () => {
    const world = await syncWorld();
    for (const reference of ["../up", "a/../../b", "/etc/x", "CON", "c:\\x"])
      await world.add(reference, ["front"]);
    expect((await world.sync("images --template '{reference}/{reference}{ext}'")).counts).toEqual({
      total: 11,
      added: 11,
    });
    const outside = world
      .names(".")
      .filter((name) => !name.startsWith("images/") && !name.startsWith(".home/"));
    expect(outside).toEqual(["more.ndjson", "products.ndjson"]);
    expect(world.names("images")).toContain("_CON/_CON.jpg");
  });
});

describe("a folder that cannot be used", () => {
  test("is not empty, and not a mirror: exit 2, unchanged", async () => {
    const world = await syncWorld();
    world.write("images/a.jpg", "mine");
    expect(await world.cat("export sync images")).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: images is not empty, and not a mirror of the catalogue\n" +
        "Choose a new or empty folder, for example images/catalogue.\n",
    });
    expect(world.tree("images")).toEqual({ "a.jpg": "mine" });
  });

  longTest("mirrors something else: exit 2, with what differs", async () => {
    const world = await syncWorld();
    await world.cat("export sync images --role source,tryon");
    const ran = await world.cat("export sync images --template '{id}{ext}' --shard 1/2");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toBe(
      "error: images is another mirror: --role source,tryon, not all roles; no --template, not " +
        '--template "{id}{ext}"; no --shard, not --shard I/2\n' +
        "Use the flags of the first run, or choose another folder.\n",
    );
    const other = await world.cat("export sync images --role source,tryon --mock");
    expect(other.exit).toBe(2);
    expect(other.stderr).toContain(
      `images is another mirror: the service ${world.mock.baseUrl}, not the service --mock`,
    );
    expect((await world.sync("images --role tryon --role source")).exit).toBe(0);
  });

  longTest("is a file, or its state is damaged or of a newer version: exit 2", async () => {
    const world = await syncWorld();
    expect(await world.cat("export sync products.ndjson")).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/^error: products\.ndjson is not a folder\n/),
    });
    await world.cat("export sync images");
    const state = "images/.catalogue-sync/all/state.json";
    world.write(state, world.read(state).replace('"version": 1', '"version": 2'));
    expect(await world.cat("export sync images")).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/^error: images was written by a newer version of this program\n/),
    });
    world.write(state, "{");
    expect(await world.cat("export sync images")).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/^error: the state of the mirror images is damaged\n/),
    });
  });

  test("lacks its index, or the index is damaged: nothing is changed", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    const index = world.read("images/catalogue.ndjson");
    rmSync(world.at("images/catalogue.ndjson"));
    rmSync(world.at("images/.catalogue-sync/all/index.db"));
    expect(await world.cat("export sync images")).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/^error: the mirror images lacks its index catalogue\.ndjson\n/),
    });
    world.write("images/catalogue.ndjson", `x${index}`);
    expect(await world.cat("export sync images")).toMatchObject({
      exit: 3,
      stderr: expect.stringMatching(/^error: images\/catalogue\.ndjson:1 is not a line of an index\n/),
    });
  });

  longTest("is in use by another process: exit 6", async () => {
    const world = await syncWorld();
    await world.cat("export sync images");
    const holder = { pid: 17, since: "2026-01-05T09:00:00.000Z" };
    const lock = await new LocalFolder(world.at("images"), ".catalogue-sync/all").lock(holder);
    const ran = await world.cat("export sync images");
    expect(ran.exit).toBe(6);
    expect(ran.stderr).toBe(
      "error: process 17 has been mirroring the catalogue into images since 2026-01-05T09:00:00Z\n" +
        "Wait for it to finish, or stop it and run the command again.\n",
    );
    expect((await world.sync("images --dry-run")).exit).toBe(0);
    if ("release" in lock) await lock.release();
    expect((await world.sync("images")).exit).toBe(0);
  });

  test.skipIf(process.getuid?.() === 0)("is read-only: exit 2", async () => {
    const world = await syncWorld();
    world.mkdir("images");
    chmodSync(world.at("images"), 0o500);
    expect((await world.cat("export sync images")).exit).toBe(2);
  });
});

describe("downloads that fail", () => {
  test("are listed, keep the mark, and are tried again: exit 8", async () => {
    const world = await syncWorld();
    const first = await world.sync("probe");
    expect(first.exit).toBe(0);
    const signed = world
      .requests()
      .findLast(({ path }) => !path.startsWith("/v1/"))!
      .path.split("?")[0]!;
    await world.fault({ match: { method: "GET", path: signed }, status: 404 });
    const ran = await world.cat("export sync images");
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toMatch(
      /^DRESS-\d {2}\w{26} {2}http:\S+ is no longer valid \(404\): .*\nMirrored 6 images in images in 0\.0 s: 5 added, 1 failed \(.* downloaded\)\.\nTo try failed images again, run the same command again\.\n$/,
    );
    expect(world.names("images")).toHaveLength(6);
    await world.calm();
    world.traffic();
    expect(await world.sync("images")).toMatchObject({
      exit: 0,
      counts: { total: 6, added: 1, unchanged: 5 },
    });
    expect(world.traffic().images).toBe(1);
    expect(world.tree("images")).toEqual(world.tree("probe"));
  });

  test("because they are cut short are resumed, and never placed incomplete", async () => {
    const world = await syncWorld();
    await world.cat("export sync probe");
    const signed = world
      .requests()
      .findLast(({ path }) => !path.startsWith("/v1/"))!
      .path.split("?")[0]!;
    await world.fault({ match: { method: "GET", path: signed }, truncate: 50, times: 2 });
    expect((await world.sync("images")).exit).toBe(0);
    expect(world.tree("images")).toEqual(world.tree("probe"));
  });
});

describe("a stopped run", () => {
  test("is resumed by the same command, and downloads nothing twice", async () => {
    const world = await syncWorld();
    await world.cat("export sync probe");
    const signed = world
      .requests()
      .findLast(({ path }) => !path.startsWith("/v1/"))!
      .path.split("?")[0]!;
    await world.fault({ match: { method: "GET", path: signed }, delay_ms: 60_000 });
    world.traffic();
    const running = world.cat("export sync images --concurrency 2");
    // They wait 200 ms for the one that does not come.
    const named = () => {
      world.clock.advance(10);
      return world.names("images").length;
    };
    await expect.poll(named, { interval: 5 }).toBe(5);
    running.interrupt();
    const ended = await running;
    expect(ended.exit).toBe(130);
    expect(ended.stderr).toContain(
      "Stopped: 5 images downloaded. To resume, run the same command again (nothing is downloaded twice).\n",
    );
    await world.calm();
    world.traffic();
    expect((await world.sync("images")).counts).toEqual({ total: 6, added: 1, unchanged: 5 });
    expect(world.traffic().images).toBe(1);
    expect(world.tree("images")).toEqual(world.tree("probe"));
  });
});

describe("shards", () => {
  test("have the products once each, and --merge joins their indexes without a request", async () => {
    const world = await syncWorld();
    await world.cat("export sync complete");
    for (const number of [1, 2, 3]) expect((await world.sync(`images --shard ${number}/3`)).exit).toBe(0);
    const before = world.requests().length;
    const ran = await world.cat("export sync images --merge", { env: { CAT_API_KEY: undefined } });
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr: "Merged the indexes of 6 images into images/catalogue.ndjson.\n",
    });
    expect(world.requests()).toHaveLength(before);
    const { "catalogue.1-of-3.ndjson": _, "catalogue.2-of-3.ndjson": __, ...rest } = world.tree("images");
    const { "catalogue.3-of-3.ndjson": ___, ...merged } = rest;
    expect(merged).toEqual(world.tree("complete"));
  });

  longTest("in folders of their own are merged once their files are in one folder", async () => {
    const world = await syncWorld();
    for (const number of [1, 2]) await world.cat(`export sync part-${number} --shard ${number}/2`);
    for (const number of [1, 2])
      for (const [name, content] of Object.entries(world.tree(`part-${number}`)))
        world.write(`all/${name}`, Buffer.from(content, "latin1"));
    expect((await world.sync("all --merge")).counts).toEqual({ total: 6, unchanged: 6 });
    rmSync(world.at(join("all", "DRESS-1_front.jpg")));
    expect(await world.cat("export sync all --merge")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("1 file of the indexes is missing: DRESS-1_front.jpg"),
    });
  });

  longTest(
    "of which one was complete and has lost its index are not merged: exit 3, and nothing is written",
    async () => {
      const world = await syncWorld();
      for (const number of [1, 2]) await world.cat(`export sync images --shard ${number}/2`);
      rmSync(world.at("images/catalogue.2-of-2.ndjson"));
      const before = world.tree("images");
      expect(await world.cat("export sync images --merge")).toEqual({
        exit: 3,
        stdout: "",
        stderr:
          "error: cannot merge the shards in images: catalogue.2-of-2.ndjson is missing\n" +
          "Run the command of that shard again, which writes it.\n",
      });
      expect(world.tree("images")).toEqual(before);
    },
  );

  longTest("of which one has a cut index are not merged: exit 3, and nothing is written", async () => {
    const world = await syncWorld();
    for (const number of [1, 2]) await world.cat(`export sync images --shard ${number}/2`);
    const index = "images/catalogue.2-of-2.ndjson";
    const content = world.read(index);
    world.write(index, content.slice(0, content.trimEnd().lastIndexOf("\n") + 1));
    const before = world.tree("images");
    expect(await world.cat("export sync images --merge")).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: cannot merge the shards in images: catalogue.2-of-2.ndjson is not the index that shard 2-of-2 wrote\n" +
        "Copy it again, or run the shard again.\n",
    });
    expect(world.tree("images")).toEqual(before);
    await world.cat("export sync images --shard 2/2");
    expect((await world.sync("images --merge")).counts).toEqual({ total: 6, unchanged: 6 });
  });

  longTest("that are missing, stopped or of another number are not merged: exit 3", async () => {
    const world = await syncWorld();
    world.mkdir("images");
    const merge = async () => {
      const { exit, stderr } = await world.cat("export sync images --merge");
      return `${exit} ${stderr.split("\n")[0]}`;
    };
    const failed = "3 error: cannot merge the shards in images:";
    expect(await merge()).toBe(`${failed} it has no index of a shard`);
    await world.cat("export sync images --shard 1/2");
    expect(await merge()).toBe(`${failed} catalogue.2-of-2.ndjson is missing`);
    await world.cat("export sync images --shard 2/2");
    world.write("images/.catalogue-sync/2-of-2/journal.ndjson", "");
    expect(await merge()).toBe(`${failed} shard 2-of-2 was stopped, or is still running`);
    rmSync(world.at("images/.catalogue-sync/2-of-2/journal.ndjson"));
    const [one, two] = ["images/catalogue.1-of-2.ndjson", "images/catalogue.2-of-2.ndjson"].map(world.read);
    world.write("images/catalogue.1-of-2.ndjson", two!);
    expect(await merge()).toMatch(
      /cannot merge .*: product \w{26} of catalogue\.1-of-2\.ndjson belongs to another shard$/,
    );
    world.write("images/catalogue.1-of-2.ndjson", one!);
    world.write("images/catalogue.1-of-3.ndjson", "");
    expect(await merge()).toBe(`${failed} it has indexes of 2 and 3 shards`);
    expect((await world.cat("export sync missing --merge")).exit).toBe(2);
  });
});

test.for(
  sampled(
    [
      ["images --max-delete 3", "--max-delete needs --delete"],
      ["images --shard 3/2", "use I/N with I from 1 to N, such as 1/3"],
      ["images --shard 0/2", "use I/N with I from 1 to N, such as 1/3"],
      ["images --merge --full", "--merge cannot be used with --full"],
      ["images --full-every week", "use a duration such as 12h or 7d, or 0 for never"],
      ["images --template '{refrence}{ext}'", "unknown placeholder {refrence}"],
      ["images --role source,", "a role is empty"],
      ["''", "DIR is empty"],
      ["images --delete --max-delete 0", "use a whole number of at least 1"],
      ["", "DIR"],
    ] as const,
    5,
  ),
)("a wrong command line exits with 2: cat export sync %s", async ([line, message]) => {
  const world = await createWorld();
  const ran = await world.cat(`export sync ${line}`);
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toContain(message);
});
