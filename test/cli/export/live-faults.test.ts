import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { catalogueServer, idOf, rowOf } from "../../flows/export/live/catalogue-server.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { serviceInFront } from "../every-command/service-in-front.ts";
import { exportWorld, idsOf } from "./export-world.ts";

/** Requests for the second page and those after it. */
const next = { path: "/v1/exports?limit=100&cursor=" };

describe("a page that fails is requested again, and no row comes twice", () => {
  test.for(
    sampled([
      ["a 500 three times", { times: 3, status: 500 }, ["next 500", "next 500", "next 500"]],
      ["a 503 after all retries of the client", { times: 6, status: 503 }, Array(6).fill("next 503")],
      ["a 429", { times: 1, status: 429 }, ["next 429"]],
      ["a connection that drops before the response", { times: 2, drop: "before" }, null],
      ["a connection that drops after the work", { times: 2, drop: "after" }, null],
      ["a response that is cut", { times: 2, truncate: 5_000 }, null],
    ] as const),
  )("%s", async ([, fault, failed]) => {
    const world = await exportWorld();
    await world.fault({ match: next, ...fault });
    const ran = await world.cat("export --out a.ndjson");
    expect(ran.exit).toBe(0);
    expect(idsOf(world.read("a.ndjson"))).toEqual(world.newestFirst());
    if (failed !== null) expect(world.reads()).toEqual(["first 200", ...failed, "next 200", "next 200"]);
  });
});

test("a page that is cut off, though HTTP says it is complete, is requested again", async () => {
  const world = await exportWorld();
  const front = await serviceInFront(world.mock.baseUrl);
  let cuts = 3;
  front.change = (passing) => {
    if (passing.path.includes("cursor=") && cuts-- > 0) passing.cutAt = 5_000;
  };
  const ran = await world.cat("export --out a.ndjson", { env: { CAT_BASE_URL: front.origin } });
  expect(ran.exit).toBe(0);
  expect(idsOf(world.read("a.ndjson"))).toEqual(world.newestFirst());
});

test("a first page that stays cut off ends with 7 and names what to check", async () => {
  const world = await exportWorld({ demo: 1 });
  const front = await serviceInFront(world.mock.baseUrl);
  front.change = (passing) => {
    passing.cutAt = 40;
  };
  const { exit, stdout, stderr } = await world.cat("export", { env: { CAT_BASE_URL: front.origin } });
  expect([exit, stdout]).toEqual([7, ""]);
  expect(
    stderr
      .replace(/, request [0-9a-f-]+/, "")
      .split("\n")
      .slice(-3),
  ).toEqual([
    `error: ${front.origin} sent an incomplete response (GET /v1/exports, status 200)`,
    "Run the command again. If it fails again, check the gateway or proxy in front of the service.",
    "",
  ]);
});

longTest("an outage of several minutes is survived, one of hours is not", async () => {
  const world = await exportWorld();
  await world.fault({ match: next, times: 40, status: 503 });
  const survived = await world.cat("export --out a.ndjson");
  expect(survived.exit).toBe(0);
  expect(survived.stderr).toMatch(/No response from the service for|The service failed/);
  expect(idsOf(world.read("a.ndjson"))).toEqual(world.newestFirst());

  await world.fault({ match: next, status: 503 });
  const ended = await world.cat("export --out b.ndjson");
  expect(ended.exit).toBe(7);
  expect(readdirSync(world.folder).filter((name) => name !== ".home")).toEqual(["a.ndjson"]);
});

test("the first page is not requested for minutes", async () => {
  const world = await exportWorld({ demo: 1 });
  await world.fault({ match: { path: "/v1/exports" }, status: 503 });
  expect((await world.cat("export")).exit).toBe(7);
  expect(world.reads()).toEqual(Array(6).fill("first 503"));
});

longTest("the read limit is kept", async () => {
  const world = await exportWorld({ demo: 620, mock: { rateLimit: { reads: 3, writes: 60 } } });
  const ran = await world.cat("export");
  expect(ran.exit).toBe(0);
  expect(idsOf(ran.stdout)).toEqual(world.newestFirst());
  expect(world.reads()).not.toContain("next 429");
  expect(ran.stderr).toContain("Rate limit reached; continuing in");
});

describe("a page that cannot be continued exits with 7, and no file appears:", () => {
  test.for([
    [
      "a rejected cursor",
      {
        status: 400,
        body: { error: { type: "invalid_request", code: "invalid_cursor", message: "expired" } },
      },
      "error: the service no longer accepts the cursor of the next page\nRun the command again; it reads all pages from the start.\n",
    ],
    [
      "a cursor that repeats",
      { status: 200, body: { data: [], next_cursor: idOf(2), has_more: true } },
      "error: the list of GET /v1/exports contradicts itself: its next_cursor repeats an earlier one\nRun the command again. If it fails again, report this message to the service.\n",
    ],
    [
      "a missing cursor",
      { status: 200, body: { data: [], next_cursor: null, has_more: true } },
      "error: the list of GET /v1/exports contradicts itself: has_more is true, but next_cursor is missing\nRun the command again. If it fails again, report this message to the service.\n",
    ],
  ] as const)("%s", async ([, second, stderr]) => {
    const world = await exportWorld({ demo: 0 });
    const service = await catalogueServer([rowOf(2), rowOf(1)], {
      pageSize: 1,
      respond: (request) => (request.searchParams.has("cursor") ? second : undefined),
    });
    const ran = await world.cat("export --out a.ndjson", { env: { CAT_BASE_URL: service.baseUrl } });
    expect(ran).toEqual({ exit: 7, stdout: "", stderr });
    expect(readdirSync(world.folder)).not.toContain("a.ndjson");
  });
});

test("cat export exits with 4 for a key without the scope", async () => {
  const world = await exportWorld({ demo: 1 });
  const ran = await world.cat("export --out a.ndjson", { env: { CAT_API_KEY: "ak_mock_revoked" } });
  expect(ran.exit).toBe(4);
  expect(readdirSync(world.folder)).not.toContain("a.ndjson");
});
