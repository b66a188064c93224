import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { until } from "../support/until.ts";
import { createWorld, type TestWorld } from "../support/world.ts";

const unknownId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

const demoWorld = (demo: number) => createWorld({ mock: { demo, rateLimit: false } });

/** The deletions that the service carried out or rejected. */
const deletions = (world: TestWorld): string[] =>
  world
    .requests()
    .filter(({ method }) => method === "DELETE")
    .map(({ path, status }) => `${path.replace("/v1/products/", "")} ${status}`);

const fault = (world: TestWorld, body: object) =>
  fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(body) });

/** A change by another client. */
const send = (world: TestWorld, method: string, path: string, body?: object) =>
  fetch(`${world.mock.baseUrl}/v1/products${path}`, {
    method,
    headers: {
      authorization: `Bearer ${world.mock.apiKey}`,
      "idempotency-key": crypto.randomUUID(),
      "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Holds the clock, and with it the wait of a request, until `change` is done after the first DELETE of the path. */
async function whileWaiting(world: TestWorld, path: string, change: () => Promise<unknown>): Promise<void> {
  let isDone = false;
  world.clock.isIdle = () => isDone;
  await until(() => world.requests().some((sent) => sent.method === "DELETE" && sent.path.endsWith(path)));
  await change();
  isDone = true;
}

describe("cat products delete --from", () => {
  test.for<[title: string, file: string, content: (ids: string[], refs: string[]) => string]>(
    sampled([
      ["a column reference", "a.csv", (_, [a, b]) => `Reference;note\n${a};x\n${b};y\n${a};again\n`],
      ["a column id", "a.csv", ([a, b]) => `id\n${a}\n${b}\n`],
      ["a column product_id", "a.csv", ([a, b]) => `x,product_id\n1,${a}\n2,${b}\n`],
      ["a list of IDs and references", "a.txt", ([a], [, b]) => `${a}\n\n${b}\n`],
      ["objects", "a.ndjson", ([a], [, b]) => `{"id":"${a}"}\n{"reference":"${b}"}\n`],
      ["a mapped column", "a.csv", (_, [a, b]) => `SKU\n${a}\n${b}\n`],
    ]),
  )("deletes the products of %s", async ([title, file, content]) => {
    const world = await demoWorld(4);
    const [a, b, ...others] = world.products();
    world.write(file, content([a!.id, b!.id], [a!.reference!, b!.reference!]));
    const map = title === "a mapped column" ? " --map SKU=reference" : "";
    expect(await world.cat(`products delete --from ${file} --yes${map}`)).toEqual({
      exit: 0,
      stdout: "",
      stderr: `Deleted 2 of 2 products of ${file}.\n`,
    });
    expect(world.products()).toEqual(others);
  });

  test("lists what it would delete with --dry-run, by reading alone", async () => {
    const world = await demoWorld(3);
    const [a, b] = world.products();
    world.write("a.csv", `reference\n${a!.reference}\n${b!.reference}\n`);
    const shown = await world.cat("products delete --from a.csv --dry-run");
    expect([shown.exit, shown.stderr]).toEqual([
      0,
      "Would delete 2 of 2 products of a.csv. Nothing was sent.\n",
    ]);
    expect(shown.stdout).toMatch(
      new RegExp(`^line .*\n2 +${a!.reference} .* remaining\n3 +${b!.reference} .*\n$`),
    );
    const { exit, stdout } = await world.cat("products delete --from a.csv --dry-run --json");
    const row = ({ id, reference, name }: typeof a & object, line: number) => ({
      ...{ line, id, reference, name },
      result: "remaining",
    });
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      {
        ...{
          file: "a.csv",
          dry_run: true,
          total: 2,
          deleted: 0,
          gone: 0,
          kept: 0,
          remaining: 2,
          not_found: 0,
        },
        products: [row(a!, 2), row(b!, 3)],
        problems: [],
      },
    ]);
    expect(world.requests().every(({ method }) => method === "GET")).toBe(true);
  });

  longTest("names rows without a product, deletes the others, and exits with 5", async () => {
    const world = await demoWorld(3);
    const [a, b] = world.products();
    world.write("a.csv", `reference\nNONE\n${a!.reference}\n${b!.reference}\n`);
    const ran = await world.cat("products delete --from a.csv --yes");
    expect(ran).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        'a.csv:2  reference  product_not_found  no product "NONE" in this organization\n' +
        "Deleted 2 of 3 products of a.csv.\n" +
        "  1 product not found, listed above\n" +
        "error: 1 of 3 products of a.csv not found\n" +
        "They may be deleted already. If not, fix the lines above.\n",
    });
    const again = JSON.parse((await world.cat("products delete --from a.csv --yes --json")).stdout);
    expect(again).toMatchObject({ total: 3, deleted: 0, not_found: 3, products: [] });
    expect(again.problems.map(({ line }: { line: number }) => line)).toEqual([2, 3, 4]);
  });

  test("lists problems of the file at their lines, and deletes nothing", async () => {
    const world = await demoWorld(2);
    world.write("a.csv", `reference,name\n${world.products()[0]!.reference},x\n,y\n`);
    expect(await world.cat("products delete --from a.csv --yes")).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "a.csv:3  -  invalid_row  names no product: fill in the ID or the reference, or remove the row\n" +
        "error: a.csv has 1 problem; nothing was deleted\n" +
        "Fix the file and run the command again.\n",
    });
    expect(world.requests()).toEqual([]);
  });

  test("needs --yes without a terminal, and asks on one", async () => {
    const world = await demoWorld(2);
    const [a] = world.products();
    world.write("a.csv", `reference\n${a!.reference}\n`);
    expect(await world.cat("products delete --from a.csv")).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: deleting 1 product (${a!.reference} (${a!.name})) needs a confirmation; nothing was deleted\nAdd --yes to confirm.\n`,
    });
    const stdin = new PassThrough();
    const running = world.cat("products delete --from a.csv", { tty: true, stdin });
    await until(() => running.stderr.includes("Delete 1 product?"));
    setImmediate(() => stdin.write("n\n"));
    expect(await running).toMatchObject({ exit: 0 });
    expect(stripVTControlCharacters(running.stderr)).toContain("Nothing was deleted.");
    expect(world.products()).toHaveLength(2);
  });

  test.for<[demo: number, named: number, flag: string, exit: number]>(
    sampled(
      [
        [22, 20, "", 0],
        [22, 21, "", 3],
        [210, 21, "", 0],
        [209, 21, "", 3],
        [22, 21, "--max-delete 21", 0],
        [22, 21, "--max-delete 20", 3],
        [22, 2, "--max-delete 1", 3],
        [22, 2, "--max-delete 10%", 0],
        [22, 3, "--max-delete 10%", 3],
        [22, 22, "--max-delete 100%", 0],
        [22, 1, "--max-delete 0", 3],
        [22, 1, "--max-delete 0%", 3],
      ],
      5,
    ),
  )("of %i products, %i with %j exit with %i", async ([demo, named, flag, exit]) => {
    const world = await demoWorld(demo);
    const products = world.products().slice(0, named);
    world.write("a.txt", products.map(({ id }) => `${id}\n`).join(""));
    const dry = await world.cat(`products delete --from a.txt --dry-run ${flag}`);
    expect(dry.exit).toBe(exit);
    const ran = await world.cat(`products delete --from a.txt --yes ${flag}`);
    expect(ran.exit).toBe(exit);
    expect(world.products()).toHaveLength(exit === 0 ? demo - named : demo);
    if (exit === 0) return;
    const most = flag === "" ? "20 and more than a tenth of the products in the catalogue" : flag;
    const things = named === 1 ? "1 product" : `${named} products`;
    expect(ran.stderr).toBe(
      `error: ${things} would be deleted, more than ${most}; nothing was deleted\n` +
        `Check them with --dry-run. If they are right, use --max-delete ${named}.\n`,
    );
  });

  test("keeps and names a product that another client changed while the question was open", async () => {
    const world = await demoWorld(4);
    const [a, b, c, d] = world.products();
    world.write("a.csv", `reference\n${[a, b, c, d].map((one) => one!.reference).join("\n")}\n`);
    const stdin = new PassThrough();
    const running = world.cat("products delete --from a.csv", { tty: { stdin: true, stderr: true }, stdin });
    await until(() => running.stderr.includes("Delete 4 products?"));
    await send(world, "PATCH", `/${a!.id}`, { name: "Other" });
    // The reference moves to another product.
    await send(world, "PATCH", `/${b!.id}`, { reference: "MOVED" });
    await send(world, "PATCH", `/${d!.id}`, { reference: b!.reference });
    await send(world, "DELETE", `/${c!.id}`);
    world.clock.advance(60_000);
    setImmediate(() => stdin.write("y\n"));
    const ran = await running;
    expect(ran.exit).toBe(8);
    expect(ran.stdout).toMatch(
      /name changed meanwhile\n.*reference changed meanwhile\n.*reference changed meanwhile\n$/,
    );
    expect(stripVTControlCharacters(ran.stderr)).toMatch(
      /Deleted 0 of 4 products of a\.csv\.\n {2}1 product already deleted by another client\n {2}3 products kept, with the reason above\n$/,
    );
    expect(world.products().map(({ id }) => id)).toEqual([a!.id, b!.id, d!.id]);
  });

  test.for(sampled([429, 503], 1))("looks again before a deletion that waits after a %i", async (status) => {
    const world = await demoWorld(3);
    const [a, b, c] = world.products();
    world.write("a.txt", `${a!.reference}\n${b!.reference}\n${c!.reference}\n`);
    // Four times: the first waits are shorter than a second.
    await fault(world, {
      match: { path: `/v1/products/${b!.id}`, method: "DELETE" },
      times: 4,
      status,
    });
    const running = world.cat("products delete --from a.txt --yes --json");
    await whileWaiting(world, b!.id, () => send(world, "PATCH", `/${b!.id}`, { name: "Other" }));
    const ran = await running;
    expect(JSON.parse(ran.stdout)).toMatchObject({ deleted: 2, kept: 1, remaining: 0 });
    expect(JSON.parse(ran.stdout).products[1]).toMatchObject({
      result: "kept",
      reason: "name changed meanwhile",
    });
    expect(ran.exit).toBe(8);
    expect(world.products()).toMatchObject([{ id: b!.id, name: "Other" }]);
    expect(deletions(world).filter((line) => line === `${b!.id} 204`)).toEqual([]);
  });

  test("counts a deletion as done whose response was lost", async () => {
    const world = await demoWorld(2);
    const [a] = world.products();
    world.write("a.txt", `${a!.reference}\n`);
    await fault(world, {
      match: { path: `/v1/products/${a!.id}`, method: "DELETE" },
      times: 1,
      drop: "after",
    });
    const ran = await world.cat("products delete --from a.txt --yes");
    expect(ran).toEqual({ exit: 0, stdout: "", stderr: "Deleted 1 of 1 product of a.txt.\n" });
  });

  longTest("says what was deleted after Ctrl-C, and the same command deletes the rest", async () => {
    const world = await demoWorld(4);
    const [a, b, c, d] = world.products();
    world.write("a.txt", [a, b, c].map((one) => `${one!.reference}\n`).join(""));
    await fault(world, { match: { path: `/v1/products/${b!.id}`, method: "DELETE" }, times: 1, status: 429 });
    const running = world.cat("products delete --from a.txt --yes");
    await whileWaiting(world, b!.id, async () => running.interrupt());
    const ran = await running;
    expect(ran.exit).toBe(130);
    expect(ran.stderr).toContain(
      `Stopped: deleted 1 of 3 products of a.txt: ${a!.reference} (${a!.name}).\n  2 products remaining\n`,
    );
    expect(ran.stderr).toContain("To resume, run the same command again.");
    const again = await world.cat("products delete --from a.txt --yes");
    expect(again.exit).toBe(5);
    expect(again.stderr).toContain(
      "Deleted 2 of 3 products of a.txt.\n  1 product not found, listed above\n",
    );
    expect(world.products()).toEqual([d]);
  });

  test("says what was deleted before an error", async () => {
    const world = await demoWorld(3);
    const [a, b] = world.products();
    world.write("a.txt", `${a!.reference}\n${b!.reference}\n`);
    await fault(world, { match: { path: `/v1/products/${b!.id}`, method: "DELETE" }, times: 1, status: 403 });
    const ran = await world.cat("products delete --from a.txt --yes --json");
    expect(ran.exit).toBe(4);
    expect(JSON.parse(ran.stdout)).toMatchObject({ total: 2, deleted: 1, remaining: 1 });
    expect(JSON.parse(ran.stderr).error.message).toContain("To resume, run the same command again.");
  });

  test.each([
    ["A --from a.txt", "--from cannot be used with products on the command line"],
    ["", "missing argument: ID|REFERENCE"],
    ["A --dry-run", "--dry-run needs --from"],
    ["A --max-delete 3", "--max-delete needs --from"],
    ["A --sheet X", "--sheet needs --from"],
    ["--from ''", "--from is empty"],
    ["--from a.txt --max-delete many", "invalid --max-delete"],
  ])("exits with 2 for: %s", async (line, message) => {
    const world = await demoWorld(1);
    const ran = await world.cat(`products delete ${line}`);
    expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(world.requests()).toEqual([]);
  });
});

/** A product with so many photos, which another client attached. */
async function withPhotos(world: TestWorld, count: number) {
  const [product, ...others] = world.products();
  const images = others.slice(0, count - product!.images.length).map(({ images }) => ({
    image_id: images[0]!.id,
    orientation: "detail",
  }));
  if (images.length > 0)
    expect((await send(world, "POST", `/${product!.id}/images`, { images })).status).toBeLessThan(300);
  return world.products()[0]!;
}

describe("cat products detach --from", () => {
  const rows = (reference: string | null, images: readonly { id: string }[]) =>
    `reference,image_id\n${images.map(({ id }) => `${reference},${id}\n`).join("")}`;

  test("detaches the photos, and never the last one of a product", async () => {
    const world = await demoWorld(4);
    const { id, reference, images } = await withPhotos(world, 3);
    world.write("a.csv", rows(reference, images));
    const dry = await world.cat("products detach --from a.csv --dry-run");
    expect([dry.exit, dry.stderr]).toEqual([
      8,
      "Would detach 2 of 3 photos of a.csv. Nothing was sent.\n  1 photo kept, with the reason above\n",
    ]);
    const ran = await world.cat("products detach --from a.csv --yes --json");
    expect(ran.exit).toBe(8);
    const row = { product_id: id, reference };
    expect(JSON.parse(ran.stdout)).toEqual({
      ...{
        file: "a.csv",
        dry_run: false,
        total: 3,
        detached: 2,
        gone: 0,
        kept: 1,
        remaining: 0,
        not_found: 0,
      },
      photos: [
        { line: 2, ...row, image_id: images[0]!.id, result: "detached" },
        { line: 3, ...row, image_id: images[1]!.id, result: "detached" },
        {
          ...{ line: 4, ...row, image_id: images[2]!.id, result: "kept" },
          reason: "the last photo of a product is never removed",
        },
      ],
      problems: [],
    });
    expect(world.products()[0]!.images).toEqual([images[2]]);
  });

  test("by product_id, and names a photo that the product does not have", async () => {
    const world = await demoWorld(3);
    const { id, images } = await withPhotos(world, 2);
    world.write("a.csv", `product_id,image_id\n${id},${images[0]!.id}\n${id},${unknownId}\n`);
    const ran = await world.cat("products detach --from a.csv --yes");
    expect(ran).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        `a.csv:3  image_id  image_not_found  the product ${id} has no photo ${unknownId}\n` +
        "Detached 1 of 2 photos of a.csv.\n  1 photo not found, listed above\n" +
        "error: 1 of 2 photos of a.csv not found\nThey may be detached already. If not, fix the lines above.\n",
    });
  });

  test("keeps the last photo where another client has removed the others meanwhile", async () => {
    const world = await demoWorld(4);
    const { id, reference, images } = await withPhotos(world, 3);
    const [a, b, c] = images;
    world.write("a.csv", rows(reference, [a!, b!]));
    await fault(world, {
      match: { path: `/v1/products/${id}/images/${a!.id}`, method: "DELETE" },
      times: 1,
      status: 429,
    });
    const running = world.cat("products detach --from a.csv --yes --json");
    await whileWaiting(world, a!.id, async () => {
      await send(world, "DELETE", `/${id}/images/${b!.id}`);
      await send(world, "DELETE", `/${id}/images/${c!.id}`);
    });
    const ran = await running;
    expect(JSON.parse(ran.stdout)).toMatchObject({ detached: 0, kept: 1, gone: 1 });
    expect(ran.exit).toBe(8);
    expect(world.products()[0]!.images).toEqual([a]);
  });

  test.for<[flag: string, exit: number]>(
    sampled([
      ["", 3],
      ["--max-removals 21", 0],
      ["--max-removals 20", 3],
      ["--max-removals 90%", 3],
      ["--max-removals 96%", 0],
    ]),
  )("of 22 photos, 21 with %j exit with %i", async ([flag, exit]) => {
    const world = await demoWorld(30);
    const { reference, images } = await withPhotos(world, 22);
    expect(images).toHaveLength(22);
    world.write("a.csv", rows(reference, images.slice(0, 21)));
    const ran = await world.cat(`products detach --from a.csv --yes ${flag}`);
    expect(ran.exit).toBe(exit);
    expect(world.products()[0]!.images).toHaveLength(exit === 0 ? 1 : 22);
    if (exit === 0) return;
    const most = flag === "" ? "20 and more than a tenth of the photos of these products" : flag;
    expect(ran.stderr).toBe(
      `error: 21 photos would be detached, more than ${most}; nothing was detached\n` +
        "Check them with --dry-run. If they are right, use --max-removals 21.\n",
    );
  });

  test.each(
    sampled([
      [
        "reference\nA\n",
        'a.csv:1  image_id  missing_column  missing column "image_id": add it, with an ID of a photo in each row',
      ],
      [
        `image_id\n${unknownId}\n`,
        'a.csv:1  reference  missing_column  missing column "reference", "product_id" or "id": add one of them as a header above the products',
      ],
      [
        "reference,image_id\nA,\n",
        "a.csv:2  image_id  invalid_row  names no photo: use an ID of cat products get",
      ],
      [
        "reference,image_id\nA,front.jpg\n",
        'a.csv:2  image_id  invalid_row  "front.jpg" is not an image ID: use an ID of cat products get',
      ],
      ["reference,image_id\n", "a.csv:1  -  empty_file  the file names no photos"],
    ]),
  )("lists the problem of %j at its line", async (content, problem) => {
    const world = await demoWorld(1);
    world.write("a.csv", content);
    expect(await world.cat("products detach --from a.csv --yes")).toEqual({
      exit: 3,
      stdout: "",
      stderr: `${problem}\nerror: a.csv has 1 problem; nothing was detached\nFix the file and run the command again.\n`,
    });
    expect(world.requests()).toEqual([]);
  });
});
