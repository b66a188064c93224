import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { byteSize } from "../../src/cli/flags/values.ts";
import { bytes, type Step } from "../http/scripted-server.ts";
import { filesElsewhere } from "../support/files-elsewhere.ts";
import { rawZip } from "../support/raw-zip.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xda]),
  Buffer.alloc(900),
  Buffer.from([0xff, 0xd9]),
]);
const headers = { "content-type": "image/jpeg", etag: '"v1"' };
const small: Step = bytes(200, jpeg, { ...headers, "content-length": jpeg.length });
const farTooMuch = 200_000_000;
const hint = "To accept larger images, add --max-bytes, for example --max-bytes 200MB.\n";

/** Sends an image until the client goes away, or has far more than any limit; `sent` counts its bytes. */
function endless(): { serve: Step; sent: () => number } {
  const chunk = Buffer.alloc(64 * 1024, 0x7f);
  let sent = 0;
  const serve: Step = (response) => {
    response.writeHead(200, headers);
    response.write(jpeg.subarray(0, 100));
    const more = (): void => {
      while (!response.destroyed && sent < farTooMuch && response.write(chunk)) sent += chunk.length;
      if (sent >= farTooMuch) response.end();
    };
    response.on("drain", more);
    more();
  };
  return { serve, sent: () => sent };
}

/** A world whose files come from a server; the first request of each is for a photo of the product. */
async function withFiles(serve: Step) {
  const world = await createWorld({ mock: { demo: 1, rateLimit: false } });
  const { baseUrl, asked } = await filesElsewhere(world.mock, serve);
  const { reference, images } = world.products()[0]!;
  const env = { CAT_BASE_URL: baseUrl };
  const files = (): string[] =>
    readdirSync(world.folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && !join(one.parentPath, one.name).includes("/.home"))
      .map(({ name }) => name)
      .sort();
  return {
    world,
    env,
    reference,
    imageId: images[0]!.id,
    cat: (line: string) => world.cat(line, { env }),
    files,
    asked,
  };
}

const announced: Step = (response) => {
  response.writeHead(200, { ...headers, "content-length": 60_000_000 });
  response.write(jpeg);
};

test("cat images get ends with 8 at an image that never ends, and leaves no file", async () => {
  const { serve, sent } = endless();
  const { cat, imageId, files } = await withFiles(serve);
  const ran = await cat(`images get ${imageId} --save a.jpg --max-bytes 3MB`);
  expect(ran).toEqual({
    exit: 8,
    stdout: "",
    stderr: expect.stringMatching(new RegExp(`^error: http://\\S+ is larger than 3 MB\n${hint}$`)),
  });
  expect(files()).toEqual([]);
  // What the sockets hold comes on top.
  expect(sent()).toBeLessThan(20_000_000);
});

test("an image that announces more than 50 MB is rejected before its first byte", async () => {
  const { cat, imageId, files } = await withFiles(announced);
  const ran = await cat(`images get ${imageId} --save a.jpg`);
  expect(ran).toMatchObject({ exit: 8, stderr: expect.stringContaining(" is larger than 50 MB\n") });
  expect(files()).toEqual([]);
});

test.for(
  sampled(
    [
      ["an endless one", endless().serve],
      ["one that announces 60 MB", announced],
    ] as const,
    1,
  ),
)("cat export sync saves the other images next to %s, with 8", async ([, large]) => {
  const { cat, files, imageId, world } = await withFiles((response, seen) =>
    (seen.path.includes(imageId) ? large : small)(response, seen),
  );
  const ran = await cat("export sync images --role source --max-bytes 3MB");
  expect(ran).toMatchObject({
    exit: 8,
    stderr: expect.stringMatching(
      new RegExp(`is larger than 3 MB\nMirrored .*: 1 added, 1 failed .*\n${hint}$`),
    ),
  });
  const again = await cat("export sync images --role source --max-bytes 3MB --json");
  expect(JSON.parse(again.stderr).error.message).toBe(`1 of 2 images failed. ${hint.trim()}`);
  expect(files().filter((name) => name.endsWith(".jpg"))).toHaveLength(1);
  expect(files().filter((name) => /part|large-/.test(name))).toEqual([]);
  expect(world.read("images/catalogue.ndjson").trim().split("\n")).toHaveLength(1);
});

test.for(sampled(["tryon", "tasks save", "tasks watch"], 1))(
  "cat %s saves the other images next to an endless one, with 8",
  async (command) => {
    const { serve } = endless();
    let first: string | null = null;
    const { cat, files, reference, world } = await withFiles((response, seen) => {
      first ??= seen.path;
      (seen.path === first ? serve : small)(response, seen);
    });
    const model = JSON.parse((await world.cat("models list --json")).stdout.split("\n")[0]!).id;
    const look = `--product ${reference} --model ${model} --background studio|white --angle full-front --matrix`;
    const save = "--save images --max-bytes 3MB";
    let ran = await cat(`tryon ${look} --yes ${command === "tryon" ? save : "--no-wait"}`);
    if (command !== "tryon") {
      world.clock.advance(600_000);
      const ids = (await world.cat("tasks list --json")).stdout.trim().split("\n");
      ran = await cat(`${command} ${ids.map((line) => JSON.parse(line).id).join(" ")} ${save}`);
    }
    expect(ran).toMatchObject({ exit: 8, stderr: expect.stringContaining(` is larger than 3 MB\n${hint}`) });
    expect(files().filter((name) => name.endsWith(".jpg"))).toHaveLength(1);
    expect(files().filter((name) => name.includes("part") || name.endsWith(".image"))).toEqual([]);
  },
);

test.for(sampled(["--zip --max-bytes 1MB", "--manifest"], 1))(
  "cat export %s ends a file that never ends",
  async (mode) => {
    const { serve, sent } = endless();
    const { cat, files } = await withFiles(serve);
    const ran = await cat(`export ${mode} --yes`);
    expect(ran).toMatchObject({ exit: 7, stderr: expect.stringMatching(/ is larger than \d+ (MB|bytes)\n/) });
    expect(files()).toEqual([]);
    expect(sent()).toBeLessThan(150_000_000);
  },
);

test("cat export --extract rejects a ZIP with an image over --max-bytes", async () => {
  const zip = rawZip([
    { name: "a.jpg", data: Buffer.alloc(3_000_001), deflate: true },
    { name: "b.jpg", data: "photo" },
  ]);
  const { cat, files } = await withFiles(bytes(200, zip, { "content-length": zip.length, etag: '"v1"' }));
  const ran = await cat("export --zip --extract images --max-bytes 3MB --no-label --yes");
  expect(ran).toMatchObject({
    exit: 7,
    stderr: expect.stringContaining('is not safe to extract: "a.jpg" is larger than 3.0 MB (--max-bytes)\n'),
  });
  expect(files()).toEqual([]);
});

test.each([
  ["50MB", 50_000_000],
  ["2GB", 2_000_000_000],
  ["1.5 mb", 1_500_000],
  ["700kB", 700_000],
  ["12B", 12],
  ["50000000", 50_000_000],
])("--max-bytes %s is %i bytes", (text, size) => {
  expect(byteSize(text)).toBe(size);
});

test.each(sampled(["0", "", "-1", "MB", "50M", "50MiB", "1e9", "9999999GB", "0.1B"], 3))(
  "the program exits with 2 for --max-bytes %j",
  async (text) => {
    const world = await createWorld();
    const ran = await world.cat(["export", "sync", "images", `--max-bytes=${text}`]);
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("use a size such as 50MB, 2GB or 50000000"),
    });
  },
);

test.each([
  ["images get 01HN1H1W000000000000000000", "--max-bytes needs --save"],
  ["tasks watch", "--max-bytes needs --save"],
  ["tryon looks.csv", "--max-bytes needs --save"],
  ["export", "--max-bytes needs --zip"],
  ["export --manifest", "--max-bytes cannot be used with --manifest"],
  ["export sync images --merge", "--merge cannot be used with --max-bytes"],
])("the program exits with 2 for cat %s --max-bytes", async (line, message) => {
  const world = await createWorld();
  const ran = await world.cat(`${line} --max-bytes 1MB`);
  expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining(`error: ${message}\n`) });
});
