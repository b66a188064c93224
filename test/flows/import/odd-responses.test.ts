import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { cdn, fileOf, hour, once, worldWith } from "./import-fixtures.ts";
import { type By, importWorld } from "./run-import.ts";

type Json = { [field: string]: unknown };

/** Changes the JSON of a response, or each line of a results file; `path` is without its query. */
type Change = (json: Json, request: { method: string; path: string }) => void;

/** Changes the responses of the service on their way. */
const changing = (change: Change): By => ({
  judge: ({ method, path }) => ({
    change: (text) =>
      text
        .split("\n")
        .map((line) => {
          if (line === "") return line;
          const json = JSON.parse(line) as Json;
          change(json, { method, path });
          return JSON.stringify(json);
        })
        .join("\n"),
  }),
});

const isImport = (path: string) => /^\/v1\/imports(\/\w+)?$/.test(path);
const isResult = (json: Json) => "line" in json && "images" in json;
const rowsIn = (json: Json): Json[] =>
  isResult(json) ? [json] : ((json.data ?? []) as Json[]).filter(isResult);

describe("the time of the first import, where the first refresh starts", () => {
  const lookedAt = async (created_at: unknown) => {
    const world = await worldWith("A");
    const by = changing((json, { path }) => {
      if (isImport(path)) json.created_at = created_at;
    });
    const { summary } = await world.import("a.csv", {}, by);
    expect(summary).toMatchObject({ created: 1 });
    const looked = (await world.stateOf()).ledger.lookedAt(1);
    world.clock.advance(hour);
    expect((await world.import("a.csv", {}, by)).summary).toMatchObject({ unchanged: 1 });
    return looked;
  };

  test.each(sampled(["2026-01-05T09:00:00", "2026-01-05", "Jan 5 2026", "soon", null, 7], 1))(
    "is unknown if created_at is not a timestamp with an offset: %j",
    async (created_at) => {
      expect(await lookedAt(created_at)).toBeNull();
    },
  );

  longTest("can have an offset other than UTC", async () => {
    expect(await lookedAt("2026-01-05T10:30:00+02:00")).toBe(Date.parse("2026-01-05T08:30:00Z"));
  });

  test("is never later than the service's clock", async () => {
    const at = await lookedAt("2030-01-01T00:00:00Z");
    expect(at).toBeLessThan(Date.parse("2026-01-05T10:00:00Z"));
  });
});

test("an import reads export rows without deleted_at and lists without a last cursor as if both were null", async () => {
  const references = Array.from({ length: 101 }, (_, index) => `R${100 + index}`);
  const world = await worldWith(...references);
  let removed = 0;
  const by = changing((json) => {
    if (json.next_cursor === null) delete json.next_cursor;
    for (const { product } of (json.data ?? []) as { product?: Json }[]) {
      if (product?.deleted_at === null && delete product.deleted_at) removed++;
    }
  });
  await world.import("a.csv", {}, by);
  world.clock.advance(hour);
  const { stopped, summary } = await world.import("a.csv", {}, by);
  expect(stopped).toBeUndefined();
  expect(summary).toMatchObject({ unchanged: 101, submitted: 0 });
  expect(removed).toBeGreaterThan(0);
  expect((await world.products()).sort()).toEqual(once(...references));
});

describe("results that violate the specification", () => {
  /**
   * Imports rows through a service that changes their results, then without changes; returns both imports.
   */
  async function changed(text: string, change: (row: Json) => void) {
    const world = await importWorld();
    await world.write("a.csv", text);
    const by = changing((json) => {
      for (const row of rowsIn(json)) change(row);
    });
    const first = await world.import("a.csv", {}, by);
    const again = await world.import("a.csv");
    return { world, first, again };
  }
  const bad = `reference,name,images\nA,Dress,${cdn}/A.jpg|${cdn}/fail-timeout.jpg\n`;

  test.each(
    sampled(
      [
        ["attached", fileOf("A")],
        ["failed", bad],
      ],
      1,
    ),
  )("are rejected for an unsent image, %s: nothing is lost or sent twice", async (status, text) => {
    const { world, first, again } = await changed(text, (row) => {
      for (const image of row.images as Json[]) if (image.status === status) image.index = 7;
    });
    const sent = text === bad ? 2 : 1;
    expect(first.stopped).toMatchObject({
      ...{ type: "bad_response", code: "bad_results" },
      message: expect.stringMatching(
        new RegExp(
          `^the import \\w+ has a result for image 7 of line 1, which was sent with ${sent} images?$`,
        ),
      ),
    });
    expect(again.stopped).toBeUndefined();
    expect(world.writes().filter((write) => write === "POST /v1/imports 202")).toHaveLength(1);
    expect(await world.products()).toEqual(once("A"));
  });

  test("are rejected for an unsent image of a row whose photos all failed", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    world.clock.advance(hour);
    await world.write("a.csv", `reference,name,images\nA,Coat,${cdn}/A.jpg|${cdn}/fail-timeout.jpg\n`);
    const by = changing((json) => {
      for (const row of rowsIn(json)) for (const image of row.images as Json[]) image.index = 7;
    });
    const { stopped } = await world.import("a.csv", {}, by);
    expect(stopped).toMatchObject({ type: "bad_response", code: "bad_results" });
  });

  test.each(
    sampled([
      ["an action", "action", null],
      ["an action", "action", undefined],
      ["a product", "product_id", null],
      ["a product", "product_id", undefined],
    ]),
  )("are rejected for an imported row without %s (%s: %j)", async (what, field, value) => {
    const { world, first, again } = await changed(fileOf("A"), (row) => {
      row[field] = value;
    });
    expect(first.stopped).toMatchObject({
      ...{ type: "bad_response", code: "bad_results" },
      message: expect.stringMatching(
        new RegExp(`^the import \\w+ has a result without ${what} for line 1, which was imported$`),
      ),
    });
    expect(again.stopped).toBeUndefined();
    expect(await world.products()).toEqual(once("A"));
  });
});
