import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { frozenWorld, idsOf, summaryOf } from "./frozen-world.ts";

/** A role that no demo product has: ZIPs of many products are then made at once. */
const noImages = "--role recoloring";

describe("a manifest", () => {
  test("has every product in the order of the catalogue, and says how long its URLs are valid", async () => {
    const world = await frozenWorld();
    expect(await world.cat("export --manifest")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Exported 6 products with 11 images to catalogue.jsonl (6.7 kB) in 0.0 s.\n" +
        "The image URLs in it are valid until 2026-01-05T10:00Z; image IDs are permanent.\n",
    });
    expect(idsOf(world.read("catalogue.jsonl"))).toEqual(world.newestFirst());
    expect(world.files()).toEqual(["catalogue.jsonl"]);
  });

  longTest("of 1,200 products is made by three jobs of up to 500", async () => {
    const world = await frozenWorld({ demo: 1200 });
    const ran = await world.cat("export --manifest --out all.jsonl --json");
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    const bytes = statSync(join(world.folder, "all.jsonl")).size;
    const jobs = world.jobs().map(({ id }) => ({ id, status: "completed" }));
    expect(summaryOf(ran.stdout)).toEqual({
      run_id: expect.stringMatching(/^run_/),
      products: 1200,
      assets: world.jobs().reduce((sum, { total_assets }) => sum + total_assets, 0),
      files: [{ path: "all.jsonl", bytes }],
      jobs,
      duration_ms: 0,
    });
    expect(world.jobs().map(({ products }) => products.length)).toEqual([500, 500, 200]);
    expect(idsOf(world.read("all.jsonl"))).toEqual(world.newestFirst());
    expect(world.created()).toEqual([202, 202, 202]);
  });

  test("has only images of the roles that were asked for", async () => {
    const world = await frozenWorld();
    const { stderr } = await world.cat(`export --manifest ${noImages}`);
    expect(stderr).toMatch(/^Exported 6 products with 0 images to catalogue\.jsonl/);
    expect(world.jobs()[0]!.roles).toEqual(["recoloring"]);
  });

  test("of an empty catalogue is an empty file", async () => {
    const world = await frozenWorld({ demo: 0 });
    const { exit, stderr } = await world.cat("export --manifest");
    expect([exit, stderr]).toEqual([
      0,
      "Exported 0 products with 0 images to catalogue.jsonl (0 B) in 0.0 s.\n",
    ]);
    expect([world.read("catalogue.jsonl"), world.created()]).toEqual(["", []]);
  });
});

describe("a ZIP", () => {
  test("is saved byte for byte", async () => {
    const world = await frozenWorld();
    const { exit, stderr } = await world.cat("export --zip");
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^Exported 6 products with 11 images to catalogue\.zip \(\d+\.\d kB\) in 5\.0 s\.\n$/,
      ),
    ]);
    const { url } = JSON.parse((await world.cat(`exports get ${world.jobs()[0]!.id} --json`)).stdout);
    const original = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(readFileSync(join(world.folder, "catalogue.zip")).equals(original)).toBe(true);
    expect(world.files()).toEqual(["catalogue.zip"]);
  });

  longTest(
    "of 1,200 products is three numbered files, and files of an earlier export are named",
    async () => {
      const world = await frozenWorld({ demo: 1200 });
      for (const name of ["all-004.zip", "all-extra.zip", "all-003.txt"]) world.write(name, "old");
      const { exit, stderr } = await world.cat(`export --zip --out all.zip ${noImages}`);
      expect([exit, stderr]).toEqual([
        0,
        "Exported 1,200 products with 0 images to 3 files in 5.0 s:\n" +
          "  all-001.zip  22 B\n  all-002.zip  22 B\n  all-003.zip  22 B\n" +
          "From an earlier export, and not part of this one: all-004.zip\n",
      ]);
      expect(world.files()).toEqual([
        ...["all-001.zip", "all-002.zip", "all-003.txt", "all-003.zip", "all-004.zip", "all-extra.zip"],
      ]);
    },
  );

  test("is extracted into a new folder", async () => {
    const world = await frozenWorld();
    const { exit, stderr } = await world.cat("export --zip --extract images");
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^Exported 6 products with 11 images to images \(11 files, \d+\.\d kB\) in 5\.0 s\.\n$/,
      ),
    ]);
    await world.cat("export --manifest");
    const names = world
      .read("catalogue.jsonl")
      .trimEnd()
      .split("\n")
      .flatMap((line) => (JSON.parse(line) as { assets: { suggested_filename: string }[] }).assets)
      .map(({ suggested_filename }) => suggested_filename);
    expect(readdirSync(join(world.folder, "images")).sort()).toEqual(names.sort());
    expect(world.files()).toEqual(["catalogue.jsonl", "images"]);
  });

  test("of an empty catalogue is not written", async () => {
    const world = await frozenWorld({ demo: 0 });
    expect(await world.cat("export --zip")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "The catalogue has no products; nothing was written.\n",
    });
    expect([world.files(), world.created()]).toEqual([[], []]);
  });
});

describe("an existing file", () => {
  test("is not replaced without --yes, and no export is created", async () => {
    const world = await frozenWorld({ demo: 1200 });
    world.write("catalogue.jsonl", "old");
    expect(await world.cat("export --manifest")).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: catalogue.jsonl exists; nothing was exported\n" +
        "Add --yes to replace it, or choose another file with --out.\n",
    });
    for (const number of ["001", "002"]) world.write(`catalogue-${number}.zip`, "old");
    expect((await world.cat("export --zip")).stderr).toBe(
      "error: catalogue-001.zip and 1 other file exist; nothing was exported\n" +
        "Add --yes to replace them, or choose another file with --out.\n",
    );
    expect([world.read("catalogue.jsonl"), world.created()]).toEqual(["old", []]);
  });

  test("is replaced with --yes, and keeps its permissions", async () => {
    const world = await frozenWorld();
    chmodSync(world.write("catalogue.jsonl", "old"), 0o640);
    expect((await world.cat("export --manifest --yes")).exit).toBe(0);
    expect(idsOf(world.read("catalogue.jsonl"))).toHaveLength(6);
    expect(statSync(join(world.folder, "catalogue.jsonl")).mode & 0o777).toBe(0o640);
  });

  test("in the folder of --extract exits with 2 before anything is created", async () => {
    const world = await frozenWorld();
    world.write("images/a.txt", "mine");
    const { exit, stderr } = await world.cat("export --zip --extract images");
    expect([exit, stderr.replaceAll(world.folder, "FOLDER")]).toEqual([
      2,
      "error: FOLDER/images is not empty\nChoose a new folder with --extract, or empty this one.\n",
    ]);
    expect([world.created(), world.read("images/a.txt")]).toEqual([[], "mine"]);
  });

  test.each(
    sampled([
      ["a file", "FOLDER/images is not a folder", (images: string) => writeFileSync(images, "")],
      [
        "a link to nothing",
        "cannot write FOLDER/images: no such file or folder",
        (images: string) => symlinkSync("missing", images),
      ],
      [
        "a link to itself",
        "cannot write FOLDER/images: too many symbolic links",
        (images: string) => symlinkSync("images", images),
      ],
      [
        "the current folder",
        "FOLDER/images is the current folder or a disk, which the files cannot replace",
        (images: string) => {
          mkdirSync(images);
          const before = process.cwd();
          process.chdir(images);
          onTestFinished(() => process.chdir(before));
        },
      ],
    ]),
  )("that is %s exits with 2 for --extract before anything is created", async (_, message, make) => {
    const world = await frozenWorld();
    make(join(world.folder, "images"));
    const { exit, stderr } = await world.cat("export --zip --extract images");
    expect([exit, stderr.replaceAll(world.folder, "FOLDER").split("\n")[0]]).toEqual([
      2,
      `error: ${message}`,
    ]);
    expect(world.created()).toEqual([]);
  });

  test("of --extract is an empty folder at the end of a link, which keeps its permissions", async () => {
    const world = await frozenWorld();
    mkdirSync(join(world.folder, "real"));
    chmodSync(join(world.folder, "real"), 0o750);
    symlinkSync("real", join(world.folder, "images"));
    expect((await world.cat("export --zip --extract images")).exit).toBe(0);
    expect(realpathSync(join(world.folder, "images"))).toBe(join(world.folder, "real"));
    expect(readdirSync(join(world.folder, "real"))).toHaveLength(11);
    expect(statSync(join(world.folder, "real")).mode & 0o777).toBe(0o750);
  });

  test.skipIf(process.getuid?.() === 0)("cannot be written in a read-only folder: exits with 2", async () => {
    const world = await frozenWorld();
    world.write("closed/keep", "");
    chmodSync(join(world.folder, "closed"), 0o500);
    const { exit, stderr } = await world.cat("export --zip --out closed/a.zip");
    chmodSync(join(world.folder, "closed"), 0o700);
    expect([exit, stderr, world.created()]).toEqual([
      2,
      "error: cannot write --out closed/a.zip: permission denied for its folder\nChoose a file with --out.\n",
      [],
    ]);
  });
});

describe("a wrong command line exits with 2:", () => {
  test.each([
    ["--manifest --zip", "--zip cannot be used with --manifest"],
    ["--manifest --format csv", "--format cannot be used with --manifest"],
    ["--manifest --extract images", "--extract cannot be used with --manifest"],
    ["--zip --extract images --out a.zip", "--extract cannot be used with --out"],
    ["--zip --product A --products-from a.csv", "--product cannot be used with --products-from"],
    ["--zip --out -", "--zip cannot write to standard output"],
    ["--zip --product ''", "--product is empty"],
    ["--zip --extract ' '", "--extract is empty"],
    ["--product A", "--product needs --manifest or --zip"],
    ["--extract images", "--extract needs --zip"],
    ["--timeout 3s", "--timeout needs --manifest or --zip"],
  ])("%s", async (flags, message) => {
    const world = await frozenWorld({ demo: 0 });
    const { exit, stderr } = await world.cat(`export ${flags}`);
    expect([exit, stderr.split("\n")[0]]).toEqual([2, `error: ${message}`]);
    expect(world.requests()).toEqual([]);
  });
});
