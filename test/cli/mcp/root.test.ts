import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { Root } from "../../../src/cli/commands/mcp/root.ts";
import { limits } from "../../../src/contract/limits.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";
import { type Agent, openAgent } from "./agent.ts";

const sheet = "reference,name,image_front\nCOAT-1,Coat,https://cdn.example.com/a.jpg\n";
let world: TestWorld;
let outside: string;
let agent: Agent;

beforeEach(async () => {
  world = await createWorld({ mock: { demo: 1 } });
  outside = temporaryFolder();
  writeFileSync(join(outside, "secret.csv"), sheet);
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  writeFileSync(join(outside, "secret.png"), png);
  world.write("shop/a.csv", sheet);
  agent = await openAgent(world, { words: ["--root", "shop", "--allow", "writes,generations"] });
});

const at = (name: string): string => join(world.folder, "shop", name);

/** Paths to a file outside of the root, by their kind. */
const ways: readonly (readonly [string, (to: string) => string])[] = [
  ["an absolute path", (to) => to],
  [
    "..",
    (to) =>
      `../..${to
        .split("/")
        .map(() => "/..")
        .join("")}${to}`,
  ],
  [
    "a link",
    (to) => {
      symlinkSync(to, at("link"));
      return "link";
    },
  ],
  [
    "a link to a link",
    (to) => {
      symlinkSync(to, at("one"));
      symlinkSync("one", at("two"));
      return "two";
    },
  ],
  [
    "a linked folder",
    (to) => {
      symlinkSync(outside, at("folder"));
      return `folder/${to.slice(outside.length + 1)}`;
    },
  ],
  [
    "a linked folder and ..",
    (to) => {
      mkdirSync(join(outside, "deep"));
      symlinkSync(join(outside, "deep"), at("deep"));
      return `deep/../${to.slice(outside.length + 1)}`;
    },
  ],
  ["/proc", (to) => `/proc/self/root${to}`],
];

test.each(ways)("%s out of the root is denied for files, photos and folders", async (_, lead) => {
  const denied = {
    isError: true,
    error: { code: expect.stringMatching(/outside_root|file_not_found/), exit: 2 },
  };
  const before = world.requests().length;
  const csv = lead(join(outside, "secret.csv"));
  expect(await agent.call("import_check", { file: csv })).toMatchObject(denied);
  expect(await agent.call("import_start", { file: csv })).toMatchObject(denied);
  expect(await agent.call("generate_start", { kind: "tryon", file: csv })).toMatchObject(denied);
  const photos = [{ file: csv.replace("csv", "png") }];
  expect(await agent.call("products_change", { action: "attach", product: "A", photos })).toMatchObject(
    denied,
  );
  expect(world.requests().slice(before)).toEqual([]);
});

test("folders to write to are denied outside of the root, and files of theirs untouched", async () => {
  symlinkSync(outside, at("out"));
  symlinkSync(join(outside, "new"), at("dangling"));
  for (const folder of ["../images", "out", "out/images", "dangling", outside, "/"])
    expect([folder, await agent.call("sync_start", { folder })]).toMatchObject([
      folder,
      { isError: true, error: { code: "outside_root" } },
    ]);
  expect(await agent.call("sync_start", { folder: "s3://bucket/images" })).toMatchObject({ isError: true });
  expect(existsSync(join(outside, "new"))).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "a pipe, a folder and a device are no files, and block nothing",
  async () => {
    execFileSync("mkfifo", [at("pipe.csv")]);
    for (const [file, code] of [
      ["pipe.csv", "not_a_file"],
      [".", "not_a_file"],
      ["/dev/zero", "outside_root"],
      ["a\0b", "not_a_path"],
    ])
      expect([file, await agent.call("import_check", { file })]).toMatchObject([
        file,
        { isError: true, error: { code } },
      ]);
  },
);

test("results are not written through links", async () => {
  world.write(
    "shop/bad.csv",
    "reference,name,image_front\nX,Coat,https://cdn.example.com/fail-timeout.jpg\n",
  );
  writeFileSync(join(outside, "profile"), "mine");
  symlinkSync(join(outside, "profile"), at("bad.failed.csv"));
  expect(await agent.call("import_start", { file: "bad.csv" })).toMatchObject({
    error: { code: "link_denied" },
  });
  mkdirSync(at("images"));
  symlinkSync(join(outside, "profile"), at("images/results.csv"));
  const look = { products: ["A"], models: ["M"], backgrounds: ["studio"], angles: ["full-front"] };
  expect(await agent.call("generate_start", { kind: "tryon", ...look, save: "images" })).toMatchObject({
    error: { code: "link_denied" },
  });
  expect(readFileSync(join(outside, "profile"), "utf8")).toBe("mine");
});

test("the mapping next to a sheet and that of the root are not read through links out of it", async () => {
  writeFileSync(join(outside, "secret.json"), '{"columns":{"hunter2":"x"}}');
  world.write("shop/deep/a.csv", sheet);
  for (const map of ["catalogue.map.json", "deep/catalogue.map.json"]) {
    symlinkSync(join(outside, "secret.json"), at(map));
    const { error } = await agent.call("import_check", { file: "deep/a.csv" });
    expect([error.code, error.message]).toEqual([
      "outside_root",
      `${JSON.stringify(map)} is outside of --root. Use a path inside the folder of --root, for example products.csv.`,
    ]);
    rmSync(at(map));
  }
  const checked = await new Root(join(world.folder, "shop")).input("deep/a.csv");
  symlinkSync(join(outside, "secret.json"), at("deep/catalogue.map.json"));
  expect(() => checked.recheck()).toThrow("is outside of --root");
});

test("a photo that a sheet names outside of the root is not uploaded", async () => {
  symlinkSync(join(outside, "secret.png"), at("link.png"));
  for (const path of [join(outside, "secret.png"), "link.png", "../../secret.png"]) {
    world.write("shop/photos.csv", `reference,name,image_front\nCOAT-1,Coat,${path}\n`);
    const result = await agent.call("import_start", { file: "photos.csv" });
    expect([path, result.isError, result.exit]).toEqual([path, true, 3]);
  }
  expect(world.requests().filter(({ path }) => path === "/v1/images")).toEqual([]);
});

test("a file that is replaced by a link after the check is not imported", async () => {
  const checked = await new Root(join(world.folder, "shop")).input("a.csv");
  checked.recheck();
  renameSync(at("a.csv"), at("old.csv"));
  symlinkSync(join(outside, "secret.csv"), at("a.csv"));
  expect(() => checked.recheck()).toThrow('"a.csv" was replaced after it was checked');
});

test("a name that starts with a hyphen is no flag", async () => {
  world.write("shop/--yes.csv", sheet);
  const started = await agent.call("import_start", { file: "--yes.csv" });
  expect(await agent.call("run_status", { run: started.run, wait_seconds: 45 })).toMatchObject({ exit: 0 });
  expect(
    await agent.call("products_change", { action: "update", product: "--verbose", name: "x" }),
  ).toMatchObject({
    error: { code: "product_not_found" },
  });
  expect(
    await agent.call("products_change", { action: "update", product: "COAT-1", name: "--help" }),
  ).toMatchObject({
    name: "--help",
  });
});

test("a photo that is replaced by a link after the call is uploaded as it was", async () => {
  const { default: sharp } = await import("sharp");
  const image = { width: 3, height: 3, channels: 3, background: "#123456" } as const;
  writeFileSync(at("mine.png"), await sharp({ create: image }).png().toBuffer());
  const product = world.products()[0]!.id;
  const before = world.requests().length;
  const photos = [{ file: "mine.png" }];
  const attaching = agent.call("products_change", { action: "attach", product, photos });
  await until(() => world.requests().length > before);
  rmSync(at("mine.png"));
  symlinkSync(join(outside, "secret.png"), at("mine.png"));
  const { bytes } = await agent.call("images_show", { image_id: (await attaching).id });
  expect(await sharp(bytes).metadata()).toMatchObject({ width: 3 });
});

test("copies of photos are removed, and large ones are not made", async () => {
  const temporary = temporaryFolder();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(at("large.png"), Buffer.alloc(limits.imageBytes + 1));
  writeFileSync(at("no.png"), "text");
  for (const [file, code] of [
    ["large.png", "too_large"],
    ["no.png", "not_an_image"],
    ["none.png", "file_not_found"],
  ])
    expect(
      await agent.call("products_change", { action: "attach", product: "A", photos: [{ file }] }),
    ).toMatchObject({ isError: true, error: { code } });
  expect(readdirSync(temporary)).toEqual([]);
});

test("images are not saved where the folder became a link while a person was asked", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  mkdirSync(join(world.folder, "images"));
  const asking = await openAgent(world, {
    answer: async () => {
      rmdirSync(join(world.folder, "images"));
      symlinkSync(outside, join(world.folder, "images"));
      return "yes";
    },
  });
  const look = { subtypes: ["clothing"], backgrounds: ["white"], angles: ["front"], save: "images" };
  const products = [world.products()[0]!.reference];
  expect(await asking.call("generate_start", { kind: "beautify", products, ...look })).toMatchObject({
    isError: true,
    error: { code: "path_changed" },
  });
  expect([readdirSync(outside), asking.questions.length]).toEqual([["secret.csv", "secret.png"], 1]);
  expect(world.mock.state().organizations.main.tasks).toEqual([]);
});
