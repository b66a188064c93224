import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";
import { serviceInFront } from "../every-command/service-in-front.ts";

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

describe("importing a file again", () => {
  test("sends nothing if the file is unchanged", async () => {
    const world = await worldWith();
    await world.cat(run);
    const ran = await world.cat(run);
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(ran.stderr).toBe("Nothing to do: both rows of products.csv are unchanged.\n");
    const json = await world.cat(`${run} --json`);
    expect(json.exit).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ total: 2, invalid: 0, submitted: 0, succeeded: 0, partial: 0, failed: 0, created: 0 },
      ...{ updated: 0, skipped: 0, unchanged: 2, imports: [], failed_file: null, results_file: null },
    });
    expect(writesOf(world)).toEqual(["POST /v1/imports"]);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });

  test("a week later sends only a changed field, a new photo and a new row", async () => {
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

  test("sends only changes from another machine, and doubles no photo without the --ledger", async () => {
    const world = await worldWith();
    const at = (home: string) => ({ env: { CAT_HOME: join(world.folder, home) } });
    await world.cat(`${run} --ledger shop.ledger`, at("one"));
    const ran = await world.cat(`${run} --ledger shop.ledger`, at("two"));
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringMatching(/^Nothing to do: /) });
    expect(readdirSync(world.folder).filter((name) => name.startsWith("shop"))).toEqual(["shop.ledger"]);
    // Without the ledger the photos would be compared, but cannot be fetched from here.
    expect(await world.cat(run, at("three"))).toMatchObject({ exit: 8 });
    expect(world.read("products.failed.csv")).toMatch(/^A-1,Dress,\S+\/1\.jpg,photo_unknown,/m);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });
});

test("an import with --ledger works if the state of the profile cannot be used", async () => {
  const world = await worldWith();
  const home = join(world.folder, "damaged");
  mkdirSync(home);
  writeFileSync(join(home, "state"), "");
  const env = { CAT_HOME: home };
  const ran = await world.cat(`${run} --ledger shop.ledger`, { env });
  expect(ran.exit).toBe(0);
  const path = join(home, "state", "default.db");
  expect(ran.stderr).toContain(
    `the state file ${path} cannot be written (part of its path is a file, not a folder): cat imports list will not show this import.\n`,
  );
  expect(await world.cat(`${run} --ledger shop.ledger`, { env })).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining("Nothing to do: "),
  });
  expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
});

describe("a stopped run", () => {
  test("resumes with the same command after a lost response", async () => {
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

  test("resumes with the same command after an interrupt", async () => {
    const world = await worldWith();
    world.clock.isIdle = () => false;
    const running = world.cat(run);
    await until(() => writesOf(world).length > 0);
    await until(() => world.requests().every(({ status }) => status !== null));
    running.interrupt();
    world.clock.isIdle = () => true;
    expect((await running).exit).toBe(130);
    const again = await world.cat(run);
    expect(again.exit).toBe(0);
    expect(writesOf(world)).toEqual(["POST /v1/imports"]);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });

  longTest("that times out while it waits for the import of another file prints a summary", async () => {
    const world = await worldWith();
    world.write("other.csv", `${head}B-1,Hat,${cdn}/3.jpg\n`);
    await world.cat("import other.csv --no-wait --no-progress");
    expect(await world.cat(`${run} --timeout 1s`)).toEqual({
      exit: 7,
      stdout: "",
      stderr: [
        "Stopped: sent 0 of 2 rows of products.csv.",
        "  2 rows not sent",
        "To resume, run the same command again (nothing is sent twice):",
        "  cat import products.csv --no-progress --timeout 1s",
        "error: the import did not finish within 1 s",
        "The service keeps processing what it accepted. To resume the rest, run the same command again.",
        "",
      ].join("\n"),
    });
    const again = await world.cat(run);
    expect(again).toMatchObject({ exit: 0, stderr: expect.stringMatching(/^Imported 2 rows /) });
    expect(productsOf(world).sort()).toEqual(["A-1 Dress 1", "A-2 Coat 1", "B-1 Hat 1"]);
  });

  longTest(
    "in mode create gets the response of its request where only this machine's clock shows a day more",
    async () => {
      const world = await worldWith();
      await fault(world, answersLost);
      await world.cat(`${run} --mode create`);
      await fault(world);
      const ahead = new TestClock({ frozenAt: world.clock.now() + 25 * hour });
      const again = await world.cat(`${run} --mode create --json --no-wait`, { context: { clock: ahead } });
      expect(JSON.parse(again.stdout)).toMatchObject({ submitted: 2, failed: 0 });
      world.clock.advance(60_000);
      expect(world.mock.state().organizations.main.imports).toHaveLength(1);
      expect(productsOf(world).sort()).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
    },
  );

  test.for(
    sampled(
      [
        ["imported", "import products.csv --no-progress", 1],
        ["imported", "import others.csv --no-progress", 1],
        ["resend", "import products.csv --no-progress", 2],
      ] as const,
      1,
    ),
  )(
    "whose key the service has had with another body follows --unknown %s of %s",
    async ([choice, line, images]) => {
      const world = await worldWith();
      world.write("others.csv", `${head}B-1,Hat,${cdn}/3.jpg\n`);
      const front = await serviceInFront(world.mock.baseUrl);
      const env = { CAT_BASE_URL: front.origin };
      const error = { type: "invalid_request", code: "idempotency_key_reused", message: "used before" };
      const seen: string[] = [];
      // The service carries out the first request, and rejects its key from then on.
      front.change = (passing) => {
        if (passing.method !== "POST") return;
        seen.push(passing.idempotencyKey!);
        if (passing.idempotencyKey === seen[0]) Object.assign(passing, { status: 422, json: { error } });
      };
      expect((await world.cat(run, { env })).exit).toBe(3);
      expect((await world.cat(run, { env })).exit).toBe(3);
      const [rejected] = seen.splice(1);
      // The import of the first request ends.
      world.clock.advance(60_000);
      expect(rejected).toBe(seen[0]);
      expect(await world.cat(`${line} --unknown ${choice}`, { env })).toMatchObject({ exit: 0 });
      expect(seen.slice(1)).not.toContain(seen[0]);
      expect(
        productsOf(world)
          .filter((text) => text.startsWith("A"))
          .sort(),
      ).toEqual([`A-1 Dress ${images}`, `A-2 Coat ${images}`]);
    },
  );

  longTest("whose key the service has had with another body sends nothing twice", async () => {
    const world = await worldWith();
    const front = await serviceInFront(world.mock.baseUrl);
    const env = { CAT_BASE_URL: front.origin };
    front.change = (passing) => {
      if (passing.method === "POST") front.isCut = true;
    };
    await fault(world, answersLost);
    await world.cat(run, { env });
    await fault(world);
    front.isCut = false;
    const error = { type: "invalid_request", code: "idempotency_key_reused", message: "used before" };
    front.change = (passing) => {
      if (passing.method === "POST") Object.assign(passing, { status: 422, json: { error } });
    };
    const rejected = await world.cat(run, { env });
    expect(rejected).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("If it fails again, add --unknown (see --help)."),
    });
    world.write("others.csv", `${head}B-1,Hat,${cdn}/3.jpg\n`);
    expect(await world.cat("import others.csv --no-progress", { env })).toMatchObject({
      exit: 6,
      stderr: [
        "error: no response for 2 rows of products.csv sent at 2026-01-05T09:00:00Z, and the service has had their idempotency key with another body",
        "Check a few of their products, then add --unknown imported, not-imported or resend (see --help).",
        "",
      ].join("\n"),
    });
    front.change = null;
    const decided = await world.cat("import others.csv --no-progress --unknown imported", { env });
    expect(decided).toMatchObject({ exit: 0 });
    expect((await world.cat(run, { env })).exit).toBe(0);
    expect(productsOf(world).sort()).toEqual(["A-1 Dress 1", "A-2 Coat 1", "B-1 Hat 1"]);
  });

  test.each(
    sampled(
      [
        ["not found by its ID", { match: { method: "GET", path: "/v1/products/" }, times: 1, status: 404 }],
        [
          "not found by its ID, before the search fails",
          { match: { method: "GET", path: "/v1/products" }, status: 503 },
        ],
      ],
      1,
    ),
  )("adds no photo to a product that is %s for once", async (_, order) => {
    const world = await worldWith();
    await world.cat(run);
    if (order.status === 503)
      await fault(world, { match: { method: "GET", path: "/v1/products/" }, times: 2, status: 404 });
    await fault(world, order);
    const ran = await world.cat(run);
    expect(ran.exit).toBe(order.status === 503 ? 7 : 0);
    await fault(world);
    expect(await world.cat(run)).toMatchObject({ exit: 0, stderr: expect.stringContaining("unchanged") });
    expect(productsOf(world).sort()).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });

  longTest(
    "in mode create sends a batch of the day before again that was sent while a clock was years ahead",
    async () => {
      const world = await worldWith();
      await fault(world, answersLost);
      const ahead = new TestClock({ frozenAt: world.clock.now() + 3 * 365 * 24 * hour });
      await world.cat(`${run} --mode create`, { context: { clock: ahead } });
      await fault(world);
      world.clock.advance(25 * hour);
      const again = await world.cat(`${run} --mode create --json`);
      expect(JSON.parse(again.stdout)).toMatchObject({ submitted: 2 });
      expect(productsOf(world).sort()).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
    },
  );

  test("in mode create says that rows may report their own product, also when another file sends them again", async () => {
    const world = await worldWith();
    await fault(world, answersLost);
    await world.cat(`${run} --mode create`);
    await fault(world);
    world.clock.advance(25 * hour);
    world.write("others.csv", `${head}B-1,Hat,${cdn}/3.jpg\n`);
    const others = await world.cat("import others.csv --mode create --no-progress");
    expect(others).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^No response for 2 rows sent at \S+Z: sending them again. If one fails because its reference exists, that request has created the product: keep its reference\.\n/,
      ),
    });
    expect(productsOf(world).sort()).toEqual(["A-1 Dress 1", "A-2 Coat 1", "B-1 Hat 1"]);
  });

  test("with a batch unconfirmed for over a day sends nothing without --unknown, and follows its choice", async () => {
    const world = await worldWith();
    await fault(world, answersLost);
    await world.cat(run);
    await fault(world);
    world.clock.advance(25 * hour);
    const writes = writesOf(world);
    const ran = await world.cat(`${run} --json`);
    expect(ran).toMatchObject({ exit: 6, stdout: "" });
    const { error } = JSON.parse(ran.stderr.trim().split("\n").at(-1)!);
    expect(error).toMatchObject({ type: "conflict", code: "unknown_outcome", exit: 6 });
    expect(error.message).toContain("2 rows of products.csv sent at 2026-01-05T09:0");
    expect(error.message).toContain("2 of their products exist");
    expect((await world.cat(`${run} --no-input`, { tty: true })).exit).toBe(6);
    expect((await world.cat(`${run} --unknown imported`)).exit).toBe(0);
    expect(writesOf(world)).toEqual(writes);
    expect(productsOf(world)).toEqual(["A-1 Dress 1", "A-2 Coat 1"]);
  });
});
