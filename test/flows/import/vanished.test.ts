import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Client, createClient } from "../../../src/client/client.ts";
import { openState } from "../../../src/state/open-state.ts";
import { scriptedServer } from "../../http/scripted-server.ts";
import { photo } from "../photos/photo-folder.ts";
import { cdn, fileOf, hour, once } from "./import-fixtures.ts";
import { importWorld, withCreate } from "./run-import.ts";

type World = Awaited<ReturnType<typeof importWorld>>;

const note =
  "The newest product of the last import is missing and was not reported as deleted: checking all products. If the service was restored to an earlier state, products may lack photos. To send all photos again, add --photos all.";
const many = (count: number) => Array.from({ length: count }, (_, at) => `R${String(at).padStart(4, "0")}`);

/**
 * A test environment with one file per entry. It has no seed, so that new products do not reuse the IDs of
 * lost ones.
 */
async function worldOf(files: Record<string, string[]>) {
  const world = await importWorld({ seed: undefined });
  for (const [file, references] of Object.entries(files)) await world.write(file, fileOf(...references));
  return world;
}

/** The requests of an import before its first write: method and path, without the query. */
async function asked(world: World, file: string): Promise<string[]> {
  const before = world.mock.requests().length;
  await world.import(file);
  const requests = world.mock.requests().slice(before);
  const write = requests.findIndex(({ method }) => method !== "GET");
  return requests
    .slice(0, write === -1 ? undefined : write)
    .map(({ method, path, status }) => `${method} ${path.split("?")[0]} ${status}`);
}

describe("the delta", () => {
  test.each([1, 310])("takes one more request, for the newest product, with %i rows", async (count) => {
    const world = await worldOf({ "a.csv": many(count) });
    await world.import("a.csv");
    // The next import refreshes the ledger, so that later deltas do not include the products.
    world.clock.advance(hour);
    await world.import("a.csv");
    const newest = world.state.ledger.last(1);
    for (let time = 0; time < 2; time++) {
      world.clock.advance(hour);
      const requests = await asked(world, "a.csv");
      expect(requests).toEqual([
        "GET /v1/exports 200",
        "GET /v1/exports 200",
        `GET /v1/products/${newest} 200`,
      ]);
    }
  });

  test("leads to a request for the second newest product if it reports the newest as deleted, without a list", async () => {
    const world = await worldOf({ "a.csv": ["A", "B"], "b.csv": ["A"] });
    await world.import("b.csv");
    await world.import("a.csv");
    world.clock.advance(hour);
    await world.import("a.csv");
    world.clock.advance(hour);
    const [left, deleted] = [world.state.ledger.first(1)!, world.state.ledger.last(1)!];
    await world.client.products.delete({ product_id: deleted });
    const requests = await asked(world, "b.csv");
    expect(requests).toEqual(["GET /v1/exports 200", "GET /v1/exports 200", `GET /v1/products/${left} 200`]);
    expect(await world.products()).toEqual(once("A"));
  });
});

/**
 * `old.csv` was imported, and `new.csv` twice, an hour apart. `state` is the service between the two files, `blank` before
 * both.
 */
async function importedInTurn(old: string[], later: string[]) {
  const world = await worldOf({ "old.csv": old, "new.csv": later });
  const blank = world.mock.state();
  await world.import("old.csv");
  const state = world.mock.state();
  for (const file of ["new.csv", "new.csv"]) {
    world.clock.advance(hour);
    await world.import(file);
  }
  return { world, state, blank };
}

/** A client whose list of all products ends with one from the dashboard; the changes report it as well. */
async function withDashboardProduct(world: World): Promise<Client> {
  const id = "01JGZZ0000000000000000000C";
  const odd = { id, name: null, reference: null, images: null, created_at: null };
  const server = await scriptedServer(async (response, { method, path, headers, body }) => {
    const sent = Object.entries(headers).filter(([name]) =>
      /^(authorization|content-type|x-|idem)/.test(name),
    );
    const init = { method, headers: Object.fromEntries(sent) as Record<string, string> };
    const answer = await fetch(world.mock.baseUrl + path, method === "GET" ? init : { ...init, body });
    const text = await answer.text();
    const isList = /^\/v1\/(products|exports)\?/.test(path);
    const page = isList ? JSON.parse(text) : null;
    if (page?.has_more === false) {
      const row = path.startsWith("/v1/products")
        ? odd
        : { product: { ...odd, deleted_at: null }, assets: [] };
      page.data.push(row);
    }
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(page === null ? text.replaceAll(server.origin, world.mock.baseUrl) : JSON.stringify(page));
  });
  const client = createClient({ baseUrl: server.origin, apiKey: world.mock.apiKey, clock: world.clock });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return client;
}

test("skips a product without a reference, from the dashboard, when all products are checked", async () => {
  const { world, state } = await importedInTurn(["A", "B"], ["A", ...many(310)]);
  await world.putBack(state);
  const client = await withDashboardProduct(world);
  const { summary, notes } = await world.import("new.csv", { machine: { client } });
  expect(summary).toMatchObject({ created: 310, unchanged: 1, failed: 0, partial: 0 });
  expect(notes).toEqual([note]);
  expect((await world.products()).sort()).toEqual(once("A", "B", ...many(310)).sort());
});

describe("a service that was restarted or restored", () => {
  test.each([
    ["restarted", 3],
    ["restarted", 310],
    ["restored", 3],
    ["restored", 310],
  ] as const)("(%s) gets %i rows again after a check against a list", async (how, count) => {
    const { world, state, blank } = await importedInTurn(["A", "B"], ["A", ...many(count)]);
    const newest = world.state.ledger.last(1);
    await world.putBack(how === "restarted" ? blank : state);
    // One of them has a new photo: its first photo is sent again as well.
    const text = (await world.read("new.csv")).replace(
      `${cdn}/R0001.jpg`,
      `${cdn}/R0001.jpg|${cdn}/more.jpg`,
    );
    await world.write("new.csv", text);
    const before = world.mock.requests().length;
    const { summary, notes } = await world.import("new.csv");
    const gone = how === "restarted" ? 1 : 0;
    expect(summary).toMatchObject({ created: count + gone, unchanged: 1 - gone, failed: 0, partial: 0 });
    expect(notes).toEqual([note]);
    const requests = world.mock.requests().slice(before);
    const lists = requests.filter(({ path }) => path.startsWith("/v1/products?limit"));
    const gets = requests.filter(({ path }) => path === `/v1/products/${newest}`);
    expect([lists.length, gets.length]).toEqual([1, 1]);
    const all = once("A", ...(how === "restarted" ? [] : ["B"]), ...many(count));
    const two = all.map((one) => one.replace("R0001 Dress 1", "R0001 Dress 2"));
    expect((await world.products()).sort()).toEqual(two.sort());
    const again = await world.import("new.csv");
    expect([again.summary!.submitted, again.summary!.unchanged, again.notes]).toEqual([0, count + 1, []]);
  });

  test.each(["all", "create", "skip_existing"] as const)(
    "is detected after a file without a refresh, too: %s",
    async (how) => {
      const { world, state } = await importedInTurn(["A"], ["A", "B", "C"]);
      await world.write("other.csv", fileOf("D"));
      await world.putBack(state);
      world.clock.advance(hour);
      const flags = how === "all" ? { photos: how } : { mode: how };
      expect((await world.import("other.csv", flags)).summary).toMatchObject({ created: 1 });
      const { summary, notes } = await world.import("new.csv");
      expect(summary).toMatchObject({ created: 2, unchanged: 1 });
      expect(notes).toEqual([note]);
      expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
    },
  );

  test("is detected by product if it was restarted before the first refresh", async () => {
    const world = await worldOf({ "old.csv": ["A"], "new.csv": ["B", "C"], "other.csv": ["D"] });
    await world.import("old.csv");
    const state = world.mock.state();
    await world.import("new.csv", { photos: "all" });
    await world.putBack(state);
    await world.import("other.csv", { photos: "all" });
    const { summary, notes } = await world.import("new.csv");
    expect(summary).toMatchObject({ created: 2, unchanged: 0 });
    expect(notes).toEqual([]);
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
  });

  test("is detected by the next import if it was restarted during one", async () => {
    const world = await worldOf({ "old.csv": ["A"], "lost.csv": ["B", "C"], "new.csv": ["D"] });
    await world.import("old.csv");
    const state = world.mock.state();
    world.clock.advance(60_000);
    await world.import("lost.csv");
    world.clock.advance(60_000);
    const meanwhile = (client: Client) =>
      withCreate(client, async (...args) => {
        await world.putBack(state);
        return client.imports.create(...args);
      });
    expect((await world.import("new.csv", {}, meanwhile)).summary).toMatchObject({ created: 1 });
    expect((await world.import("lost.csv")).summary).toMatchObject({ created: 2, unchanged: 0 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C", "D"));
  });

  test("has its references checked as well: a rename may be undone", async () => {
    const world = await worldOf({ "a.csv": ["X", "Z"], "c.csv": ["X", "Z", "Q"] });
    await world.import("a.csv");
    const state = world.mock.state();
    const product_id = world.state.ledger.get(1, "X")!.productId;
    await world.client.products.update({ product_id, body: { reference: "Y" } });
    await world.write("b.csv", fileOf("X", "Z", "Q").replace("X,", "Y,"));
    await world.import("b.csv");
    world.clock.advance(hour);
    await world.import("b.csv");
    await world.putBack(state);
    expect((await world.import("c.csv")).summary).toMatchObject({ created: 1, unchanged: 2 });
    expect((await world.products()).sort()).toEqual(once("Q", "X", "Z"));
  });

  test("needs a choice for rows that were in progress", async () => {
    const world = await worldOf({ "a.csv": ["A"], "b.csv": ["B"] });
    const blank = world.mock.state();
    await world.import("b.csv");
    await world.import("a.csv", { wait: false });
    await world.putBack(blank);
    const ran = world.import("a.csv");
    await expect(ran).rejects.toMatchObject({ type: "conflict", code: "unknown_outcome" });
    expect((await world.import("a.csv", { unknown: "not-imported" })).summary).toMatchObject({ created: 1 });
    expect((await world.import("b.csv")).summary).toMatchObject({ created: 1 });
    expect((await world.products()).sort()).toEqual(once("A", "B"));
  });

  test.each(["by product", "by the newest"])("gets local photos uploaded again: %s", async (how) => {
    const world = await worldOf({ "old.csv": ["A"] });
    await world.import("old.csv");
    const state = world.mock.state();
    for (const name of ["b", "c"]) writeFileSync(join(world.folder, `${name}.png`), photo(name));
    await world.write("b.csv", "reference,name,images\nB,Dress,b.png\n");
    await world.write("c.csv", "reference,name,images\nB,Dress,b.png\nC,Dress,b.png\n");
    await world.import("b.csv");
    world.clock.advance(hour);
    if (how === "by the newest") await world.import("b.csv");
    await world.putBack(state);
    const { summary } = await world.import("c.csv");
    expect(summary).toMatchObject({ created: 2, failed: 0, partial: 0 });
    expect((await world.products()).sort()).toEqual(once("A", "B", "C"));
    const uploads = world.writes().filter((write) => write.startsWith("POST /v1/images"));
    expect(uploads).toEqual(["POST /v1/images 201", "POST /v1/images 201"]);
  });
});

test("uploads no photo again for a product that another client deleted", async () => {
  const world = await worldOf({});
  for (const name of ["a", "b"]) writeFileSync(join(world.folder, `${name}.png`), photo(name));
  await world.write("a.csv", "reference,name,images\nA,Dress,a.png\nB,Dress,b.png\n");
  await world.import("a.csv");
  world.clock.advance(hour);
  await world.client.products.delete({ product_id: world.state.ledger.get(1, "A")!.productId });
  expect((await world.import("a.csv")).summary).toMatchObject({ created: 1, unchanged: 1 });
  const uploads = world.writes().filter((write) => write.startsWith("POST /v1/images"));
  expect(uploads).toHaveLength(2);
});

test("uploads photos of a small file again to a restarted service with many newer imports", async () => {
  const world = await worldOf({ "others.csv": many(310) });
  const row = (reference: string) => `reference,name,images\n${reference},Dress,a.png\n`;
  writeFileSync(join(world.folder, "a.png"), photo("a"));
  await world.write("first.csv", row("FIRST"));
  await world.write("second.csv", row("SECOND"));
  await world.import("first.csv");
  world.mock.reset();
  world.clock.advance(hour);
  const others = { state: await openState(null, { clock: world.clock }) };
  await world.import("others.csv", { machine: others });
  others.state.close();
  const { summary } = await world.import("second.csv");
  expect(summary).toMatchObject({ created: 1, failed: 0 });
});

test("checks a restored service with many newer imports once for several small files, and uploads their photos once", async () => {
  const world = await worldOf({ "old.csv": ["A", "B"], "new.csv": ["N"], "others.csv": many(310) });
  await world.import("old.csv");
  const state = world.mock.state();
  world.clock.advance(hour);
  await world.import("new.csv");
  world.clock.advance(hour);
  await world.import("new.csv");
  await world.putBack(state);
  const others = { state: await openState(null, { clock: world.clock }) };
  await world.import("others.csv", { machine: others });
  others.state.close();
  writeFileSync(join(world.folder, "a.png"), photo("a"));
  const notes: string[][] = [];
  for (const reference of ["A", "B"]) {
    await world.write("a.csv", `reference,name,images\n${reference},Dress,${cdn}/${reference}.jpg|a.png\n`);
    notes.push((await world.import("a.csv")).notes);
  }
  expect(notes).toEqual([[note], []]);
  expect(world.writes().filter((write) => write.startsWith("POST /v1/images"))).toHaveLength(1);
});
