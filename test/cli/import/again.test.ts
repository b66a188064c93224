import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, type TestWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const tidy = `${head}A-1,Dress,${cdn}/1.jpg\nA-2,Coat,${cdn}/2.jpg\n`;
const hour = 3_600_000;

async function worldWith(text = tidy): Promise<TestWorld> {
  const world = await createWorld();
  world.write("products.csv", text);
  return world;
}

async function fault(world: TestWorld, order?: object): Promise<void> {
  const body = order === undefined ? {} : { body: JSON.stringify(order) };
  const headers = { "content-type": "application/json" };
  const method = order === undefined ? "DELETE" : "POST";
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method, headers, ...body });
}

const answersLost = { match: { method: "POST", path: "/v1/imports" }, drop: "after" };
const productsOf = (world: TestWorld) =>
  world.products().map(({ reference, name, images }) => `${reference} ${name} ${images.length}`);
const writesOf = (world: TestWorld) =>
  world
    .requests()
    .filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/"))
    .map(({ method, path }) => `${method} ${path.split(/[?]|(?<=products\/)/)[0]}`);
const run = "import products.csv --no-progress";

describe("a file that is imported again", () => {
  test("as it was sends nothing and adds no photo", async () => {
    const world = await worldWith();
    await world.cat(run);
    const ran = await world.cat(run);
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(ran.stderr).toBe(
      "Nothing to do: both rows of products.csv are unchanged since the last import.\n",
    );
    const json = await world.cat(`${run} --json`);
    expect(json.exit).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ total: 2, invalid: 0, submitted: 0, succeeded: 0, partial: 0, failed: 0, created: 0 },
      ...{ updated: 0, skipped: 0, unchanged: 2, imports: [], failed_file: null, results_file: null },
    });
    expect(writesOf(world)).toEqual(["POST /v1/imports"]);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });

  test("next week with a change, a new photo and a new row writes just these", async () => {
    const world = await worldWith();
    await world.cat(run);
    world.clock.advance(7 * 24 * hour);
    world.write(
      "products.csv",
      `${head}A-1,Gown,${cdn}/1.jpg\nA-2,Coat,${cdn}/2.jpg|${cdn}/3.jpg\nA-3,Hat,${cdn}/4.jpg\n`,
    );
    const ran = await world.cat(`${run} --json`);
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      submitted: 3,
      succeeded: 3,
      created: 1,
      updated: 2,
      unchanged: 0,
    });
    expect(writesOf(world).slice(1)).toEqual(["POST /v1/imports", "PATCH /v1/products/"]);
    expect(productsOf(world)).toEqual(["A-1 Gown 1", "A-2 Coat 2", "A-3 Hat 1"]);
  });

  test("with --photos all, or in another mode, goes as it stands", async () => {
    const world = await worldWith();
    await world.cat(run);
    const all = await world.cat(`${run} --photos all --json`);
    expect(JSON.parse(all.stdout)).toMatchObject({ submitted: 2, updated: 2, unchanged: 0 });
    expect(productsOf(world)).toEqual(["A-1 Dress 2", "A-2 Coat 2"]);
    const skip = await world.cat(`${run} --mode skip_existing --json`);
    expect(JSON.parse(skip.stdout)).toMatchObject({ submitted: 2, skipped: 2, unchanged: 0 });
  });

  test("with its --ledger in a file does so on another machine", async () => {
    const world = await worldWith();
    const at = (home: string) => ({ env: { CAT_HOME: join(world.folder, home) } });
    await world.cat(`${run} --ledger shop.ledger`, at("one"));
    const ran = await world.cat(`${run} --ledger shop.ledger`, at("two"));
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringMatching(/^Nothing to do: /) });
    expect(readdirSync(world.folder).filter((name) => name.startsWith("shop"))).toEqual(["shop.ledger"]);
    // A machine that has none of it adds the photos again.
    await world.cat(run, at("three"));
    expect(productsOf(world)).toEqual(["A-1 Dress 2", "A-2 Coat 2"]);
  });
});

test("a ledger is enough where the profile's own state cannot be used", async () => {
  const world = await worldWith();
  writeFileSync(join(world.folder, "file"), "");
  const env = { CAT_HOME: join(world.folder, "file") };
  const ran = await world.cat(`${run} --ledger shop.ledger`, { env });
  expect(ran.exit).toBe(0);
  const path = join(world.folder, "file", "state", "default.db");
  expect(ran.stderr).toContain(
    `the state file ${path} cannot be written (what should be its folder is a file): cat imports list will not tell of this import.\n`,
  );
  expect(await world.cat(`${run} --ledger shop.ledger`, { env })).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining("Nothing to do: "),
  });
  expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
});

describe("a run that was stopped", () => {
  test("by a lost answer goes on with the same command", async () => {
    const world = await worldWith();
    await fault(world, answersLost);
    const first = await world.cat(`${run} --json`);
    expect(first.exit).toBe(7);
    const stopped = JSON.parse(first.stdout);
    expect(stopped).toMatchObject({ submitted: 0, unknown: [{ first_line: 2, last_line: 3, rows: 2 }] });
    expect(stopped.failed_file).toBeNull();
    await fault(world);
    const second = await world.cat(`${run} --json`);
    expect(second.exit).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({
      run_id: stopped.run_id,
      submitted: 2,
      succeeded: 2,
      created: 2,
    });
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
    expect(Object.keys(world.mock.state().organizations.main!.imports)).toHaveLength(1);
  });

  test("by an interrupt goes on with the same command", async () => {
    const world = await worldWith();
    world.clock.isIdle = () => false;
    const running = world.cat(run);
    while (writesOf(world).length === 0) await new Promise((resolve) => setImmediate(resolve));
    while (world.requests().some(({ status }) => status === null))
      await new Promise((resolve) => setImmediate(resolve));
    running.interrupt();
    world.clock.isIdle = () => true;
    expect((await running).exit).toBe(130);
    const again = await world.cat(run);
    expect(again.exit).toBe(0);
    expect(writesOf(world)).toEqual(["POST /v1/imports"]);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });

  test("with --no-wait is followed by the same command without it", async () => {
    const world = await worldWith();
    expect((await world.cat(`${run} --no-wait`)).exit).toBe(0);
    const ran = await world.cat(`${run} --json`);
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      submitted: 2,
      created: 2,
      imports: [{ status: "completed" }],
    });
    expect(writesOf(world)).toEqual(["POST /v1/imports"]);
  });

  test("with a call in doubt for more than a day asks what to do, and sends nothing", async () => {
    const world = await worldWith();
    await fault(world, answersLost);
    await world.cat(run);
    await fault(world);
    world.clock.advance(25 * hour);
    const ran = await world.cat(`${run} --json`);
    expect(ran).toMatchObject({ exit: 6, stdout: "" });
    const { error } = JSON.parse(ran.stderr.trim().split("\n").at(-1)!);
    expect(error).toMatchObject({ type: "conflict", code: "unknown_outcome", exit: 6 });
    expect(error.message).toContain("2 rows of products.csv sent at 2026-01-05T09:0");
    expect(error.message).toContain("of their products 2 exist");
    const writes = writesOf(world).length;
    const decided = await world.cat(`${run} --unknown imported`);
    expect(decided.exit).toBe(0);
    expect(writesOf(world)).toHaveLength(writes);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });

  test("asks nobody with --no-input, and does what --unknown says", async () => {
    const world = await worldWith();
    await fault(world, { ...answersLost, drop: "before" });
    await world.cat(run);
    await fault(world);
    world.clock.advance(25 * hour);
    const refused = await world.cat(`${run} --no-input`, { tty: true });
    expect(refused.exit).toBe(6);
    const decided = await world.cat(`${run} --unknown not-imported`);
    expect(decided.exit).toBe(0);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });
});

test("a service that was started anew at the same address gets every row", async () => {
  const world = await worldWith();
  await world.cat(run);
  world.mock.reset();
  const ran = await world.cat(`${run} --json`);
  expect(JSON.parse(ran.stdout)).toMatchObject({ submitted: 2, created: 2, unchanged: 0 });
  expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
});
