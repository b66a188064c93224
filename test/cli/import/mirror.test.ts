import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startMock } from "../../../src/mock/index.ts";
import { longTest } from "../../support/long-test.ts";
import { syncWorld } from "../export/sync-world.ts";

/** A mirror of three products with a generated image, and an empty organization in the profile `restored`. */
async function mirrored() {
  const world = await syncWorld();
  await world.cat("beautify --product DRESS-1 --subtype clothing --background white --angle front --yes");
  await world.cat("products update DRESS-2 --description Linen --sex kid");
  expect(await world.sync("mirror")).toMatchObject({ exit: 0, counts: { added: 7 } });
  const mock = await startMock({ seed: 2, rateLimit: false, clock: world.clock });
  onTestFinished(() => mock.stop());
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_HOME: world.at(".other") };
  const login = `login --profile restored --base-url ${mock.baseUrl} --with-key`;
  expect(await world.cat(login, { stdin: mock.apiKey })).toMatchObject({ exit: 0 });
  const uploads = () =>
    mock.requests().filter(({ method, path }) => `${method} ${path}` === "POST /v1/images");
  return { world, mock, env, uploads };
}

const notes =
  "Reading mirror/catalogue.ndjson: mirror is a mirror of the catalogue. Products that exist are skipped.\n" +
  "1 generated image cannot be restored: an import takes photos only.\n" +
  "A mirror has no descriptions: import a sheet of cat products export for them.\n";

test("restores products and photos in an empty organization, as parity shows", async () => {
  const { world, env, uploads } = await mirrored();
  await world.cat("products export sheet.csv");
  expect(await world.cat("import mirror", { env })).toEqual({
    exit: 0,
    stdout: "",
    stderr: expect.stringMatching(
      new RegExp(`^${notes}(.*\n)*Imported 3 rows from mirror in .*: 3 created\\.\n$`),
    ),
  });
  expect(uploads()).toHaveLength(6);
  expect(await world.cat("doctor --parity restored")).toEqual({
    exit: 8,
    stdout: "DRESS-2: another description\n",
    stderr: "1 difference: 3 products here, 3 in restored, 12 photos downloaded.\n",
  });
});

test("a second import sends nothing twice, and one into the same organization adds no photo", async () => {
  const { world, mock, env, uploads } = await mirrored();
  await world.cat("import mirror", { env });
  const restored = mock.state().organizations.main.products;
  expect(await world.cat("import mirror", { env })).toMatchObject({ exit: 0 });
  expect(mock.state().organizations.main.products).toEqual(restored);
  expect(uploads()).toHaveLength(6);
  const before = world.products();
  expect(await world.cat("import mirror")).toMatchObject({ exit: 0 });
  expect(world.products()).toEqual(before);
});

longTest(
  "cat import of a mirror resumes after an interrupt, without a second upload of a photo",
  async () => {
    const { world, mock, env, uploads } = await mirrored();
    mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, status: 402, times: 1 });
    expect(await world.cat("import mirror", { env })).toMatchObject({ exit: 4 });
    expect(uploads()).toHaveLength(6);
    expect(await world.cat("import mirror", { env })).toMatchObject({ exit: 0 });
    expect(uploads()).toHaveLength(6);
    expect(await world.cat("doctor --parity restored --json")).toMatchObject({
      stdout: expect.stringContaining('"differences":[{"reference":"DRESS-2","what":"description"}]'),
    });
  },
);

longTest("cat import of a mirror skips photos that the catalogue no longer had", async () => {
  const { world, env } = await mirrored();
  await world.cat("products delete DRESS-3 --yes");
  world.clock.advance(600_000);
  await world.sync("mirror");
  const ran = await world.cat("import mirror", { env });
  expect(ran.stderr).toContain("2 photos skipped: the catalogue no longer had them.\n");
  expect(ran.stderr).toContain(": 2 created.\n");
});

longTest("cat import of a mirror names a missing photo, and sends nothing", async () => {
  const { world, mock, env } = await mirrored();
  const [entry] = world.index("mirror/catalogue.ndjson").filter(({ role }) => role === "source");
  rmSync(world.at(`mirror/${entry!.path}`));
  const ran = await world.cat("import mirror", { env });
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain(entry!.path);
  expect(mock.requests().filter(({ method }) => method !== "GET")).toEqual([]);
});

test("cat import of a mirror rejects a photo that is not the one of the index, and a path that leads out of the mirror", async () => {
  const { world, mock, env } = await mirrored();
  const lines = world.index("mirror/catalogue.ndjson");
  const { path } = lines.find(({ role }) => role === "source")!;
  const whole = readFileSync(world.at(`mirror/${path}`));
  writeFileSync(world.at(`mirror/${path}`), whole.subarray(0, whole.length / 2));
  const ran = await world.cat("import mirror", { env });
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain(
    `photo_damaged  images[0].path: "mirror/${path}" is not the photo that was saved`,
  );
  writeFileSync(world.at("photo.jpg"), whole);
  const outside = lines.map((line) => (line.path === path ? { ...line, path: "../photo.jpg" } : line));
  writeFileSync(
    world.at("mirror/catalogue.ndjson"),
    outside.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  expect(await world.cat("import mirror", { env })).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: ../photo.jpg is not a path inside the mirror\nThe index was changed. Restore it, or mirror the catalogue into a new folder.\n",
  });
  expect(mock.requests().filter(({ method }) => method !== "GET")).toEqual([]);
});

longTest(
  "cat import of a mirror rejects a mirror without an index, a damaged one, and flags of other folders",
  async () => {
    const { world, env } = await mirrored();
    expect(await world.cat("import mirror --pattern '{reference}'", { env })).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: cannot use --pattern: mirror is a mirror of the catalogue\nRemove --pattern: catalogue.ndjson names the photos.\n",
    });
    writeFileSync(world.at("mirror/catalogue.ndjson"), "{}\n");
    expect(await world.cat("import mirror", { env })).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: line 1 of mirror/catalogue.ndjson is not a line of a mirror\nRestore the file from a backup, or write it again: cat export sync mirror\n",
    });
    rmSync(world.at("mirror/catalogue.ndjson"));
    expect(await world.cat("import mirror", { env })).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: mirror has no catalogue.ndjson\nCheck its name. To complete a mirror, run: cat export sync mirror (add --merge for one in shards)\n",
    });
  },
);
