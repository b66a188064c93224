import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastMoment, MovableClock } from "../../src/clock.ts";
import { type MockState, readState, startMock } from "../../src/mock/index.ts";
import { repetitions } from "../support/repetitions.ts";
import { startReceiver } from "./receiver.ts";
import { monday, row, startWorld } from "./world.ts";
import { day } from "./world-with-hook.ts";

type Path = readonly (string | number)[];

/**
 * A state with records of every kind: products with photos and generations, jobs finished and in progress, a
 * key, deliveries.
 */
async function richState(): Promise<MockState> {
  const { url } = await startReceiver(500);
  const { mock, send, createProduct, importRows } = await startWorld({ speed: 10 });
  const events = ["task.succeeded", "export.completed", "import.completed"];
  await send("/v1/webhooks", { json: { url, events } });
  const product_id = (await createProduct()).body.id;
  const gone = (await createProduct({ reference: "GONE" })).body.id;
  await send(`/v1/products/${gone}`, { method: "DELETE", headers: { "idempotency-key": "k" } });
  const inputs = { product_id, background: "white", angle_shot: "front" };
  const task = await send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } });
  await send("/v1/exports", { json: { format: "zip" } });
  await importRows([row("I1"), row("I2", { images: [{ url: "https://cdn.example.com/fail-timeout.jpg" }] })]);
  mock.clock.advance(30_000);
  await mock.settled();
  const made = (await send(`/v1/tasks/${task.body.id}`)).body.output_image.id;
  const other = (await createProduct({ reference: "OTHER" })).body.id;
  await send(`/v1/products/${other}/images`, { json: { images: [{ image_id: made, orientation: "back" }] } });
  await send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } });
  await send("/v1/exports", { json: { format: "zip" } });
  await importRows([row("I3"), row("I4")]);
  return JSON.parse(JSON.stringify(mock.state()));
}

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (path.length === 2 && path[1] === "other") continue;
    yield* pathsIn(item, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a state edited by hand has no type.
const at = (state: unknown, path: Path): any => path.reduce((value: any, step) => value[step], state);

/** The field at a path, without list positions and organizations. */
const kindOf = (path: Path): string =>
  path
    .filter((step, depth) => typeof step === "string" && !(path[0] === "organizations" && depth < 2))
    .join(".");

function changed(state: MockState, path: Path, value: unknown): unknown {
  const copy = structuredClone(state);
  at(copy, path.slice(0, -1))[path.at(-1)!] = value;
  return copy;
}

/** Replacements that a person might enter for a value. */
function othersFor(value: unknown): unknown[] {
  if (typeof value === "number") {
    return [0, 1, 5, 1e12, 1e14, 253_402_214_399_999, 8.64e15, 2 ** 53 - 1, 0.5, 1e-300, 1e300, -1];
  }
  if (typeof value === "string") {
    const times = ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "2026-01-05T11:00:00+02:00"];
    return ["", " ", "x".repeat(1_000), "/../../x", "<svg>", "\ud800", "__proto__", null, ...times];
  }
  if (Array.isArray(value)) return [[], [...value, ...value], value.slice(1), null];
  return [null, 0, "", {}, "2026-01-01T00:00:00Z"];
}

/**
 * Loads a state into a mock and uses it for a while; returns the mock's next state and its 5xx responses.
 */
async function livedWith(state: MockState) {
  const { mock, send, createProduct, importRows } = await startWorld({
    state,
    speed: 10,
    clock: new MovableClock({ frozenAt: monday + day }),
  });
  const answers = [
    await createProduct({ reference: "NEW" }),
    await importRows([row("NEWER")], {}, { headers: { "idempotency-key": "new" } }),
    await send("/v1/exports", { json: { format: "zip" } }),
    await send("/v1/webhooks", { json: { url: "http://127.0.0.1:1/", events: ["export.completed"] } }),
  ];
  for (const { id } of (await send("/v1/webhooks")).body.data) {
    answers.push(await send(`/v1/webhooks/${id}`, { method: "PATCH", json: { rotate_secret: true } }));
  }
  mock.clock.advance(Math.min(60_000, lastMoment - mock.clock.now()));
  await mock.settled();
  for (const path of [
    "products?limit=100",
    "exports?limit=100",
    "tasks",
    "exports?since=2000-01-01T00:00:00Z",
  ]) {
    answers.push(await send(`/v1/${path}`));
  }
  const printed = JSON.parse(JSON.stringify(mock.state()));
  await mock.stop();
  return { printed, faults: answers.filter(({ status }) => status >= 500) };
}

const someTime = "2026-01-05T09:00:00.000Z";
/** The highest possible ID. */
const lastId = `7${"Z".repeat(25)}`;
const main = ["organizations", "main"] as const;

describe("an edited state", () => {
  test("is rejected with the field, or stays valid in use", async () => {
    const state = await richState();
    const paths = [...pathsIn(state)];
    const change = fc
      .constantFrom(...paths)
      .chain((path) =>
        fc.record({ path: fc.constant(path), value: fc.constantFrom(...othersFor(at(state, path))) }),
      );
    await fc.assert(
      fc.asyncProperty(change, async ({ path, value }) => {
        let taken: MockState;
        try {
          taken = readState(changed(state, path, value));
        } catch (error) {
          expect((error as Error).constructor.name).toBe("Refusal");
          return;
        }
        const { printed, faults } = await livedWith(taken);
        expect(faults).toEqual([]);
        expect(() => readState(printed)).not.toThrow();
      }),
      { numRuns: repetitions(10, 1_500) },
    );
  });

  test.each<[string, Path, (was: never, state: MockState) => unknown, string]>([
    [
      "an unknown orientation",
      [...main, "products", 0, "images", 0, "orientation"],
      () => "/../../x",
      "orientation",
    ],
    ["an unknown origin", [...main, "products", 0, "images", 0, "origin"], () => "zzz", "origin"],
    ["a duplicate photo", [...main, "products", 0, "images"], (was: unknown[]) => [...was, ...was], "once"],
    ["no photo", [...main, "products", 0, "images"], () => [], "at least 1"],
    [
      "a duplicate generation",
      [...main, "products", 0, "generations"],
      (was: unknown[]) => [...was, ...was],
      "once",
    ],
    [
      "a photo as a generation",
      [...main, "products", 0, "generations"],
      (_was, state) => [state.organizations.main.images[0]!.id],
      "generation",
    ],
    ["a blank reference", [...main, "products", 0, "reference"], () => " ", "reference"],
    [
      "a reference with surrounding whitespace",
      [...main, "products", 0, "reference"],
      () => " A",
      "whitespace",
    ],
    [
      "a reference of 1,000 characters",
      [...main, "products", 0, "reference"],
      () => "r".repeat(1_000),
      "100",
    ],
    ["too many tries", ["deliveries", 0, "tries"], () => 1e14, "tries"],
    ["more successful rows than rows", [...main, "imports", 0, "succeeded"], () => 2 ** 53 - 1, "counts"],
    ["an invalid row", [...main, "imports", 1, "rows", 0, "row", "name"], () => "", "not a valid row"],
    ["too many abandoned events", [...main, "webhooks", 0, "abandoned"], () => 5, "disabled"],
    ["no events", [...main, "webhooks", 0, "events"], () => [], "events"],
    ["a completed import with a failed row", [...main, "imports", 0, "status"], () => "completed", "counts"],
    ["a finished import without an end", [...main, "imports", 0, "finished_at"], () => null, "stamps"],
    ["a finished import without a start", [...main, "imports", 0, "started_at"], () => null, "stamps"],
    ["an unfinished import with an end", [...main, "imports", 1, "finished_at"], () => someTime, "stamps"],
    ["an import without rows", [...main, "imports", 1, "rows"], () => [], "at least 1"],
    ["rows out of order", [...main, "imports", 1, "rows", 1, "result", "line"], () => 1, "order"],
    [
      "a row with the reference of another",
      [...main, "imports", 0, "rows", 1, "result", "reference"],
      () => "I1",
      "same reference",
    ],
    [
      "a finished row without a product",
      [...main, "imports", 0, "rows", 0, "result", "product_id"],
      () => null,
      "result",
    ],
    [
      "a failed row without an error",
      [...main, "imports", 0, "rows", 1, "result", "error"],
      () => null,
      "result",
    ],
    [
      "a successful row without images",
      [...main, "imports", 0, "rows", 0, "result", "images"],
      () => [],
      "result",
    ],
    [
      "a pending row with a result for another reference",
      [...main, "imports", 1, "rows", 0, "result", "reference"],
      () => "I9",
      "result",
    ],
    ["an import ID with too high a time", [...main, "imports", 1, "id"], () => lastId, "too close"],
    ["a task ID with too high a time", [...main, "tasks", 0, "id"], () => lastId, "too close"],
    ["a finished export without an end", [...main, "exports", 0, "finished_at"], () => null, "status"],
    ["an export in progress with an end", [...main, "exports", 1, "finished_at"], () => someTime, "status"],
    ["a failed export without an error", [...main, "exports", 0, "status"], () => "failed", "status"],
    ["a manifest in progress", [...main, "exports", 1, "format"], () => "manifest", "status"],
    [
      "a duplicate product in an export",
      [...main, "exports", 1, "products"],
      (was: unknown[]) => [...was, was[0]],
      "once",
    ],
    [
      "an export of a missing photo",
      [...main, "exports", 1, "products", 0, "images", 0, "id"],
      () => lastId,
      "is missing",
    ],
    ["a duplicate model", [...main, "models"], (was: unknown[]) => [...was, was[0]], "duplicate id"],
    ["a model with an empty ID", [...main, "models", 0, "id"], () => "", "26 characters"],
    ["a model with a path as its ID", [...main, "models", 0, "id"], () => "a/../b?x#", "26 characters"],
    ["a model with an unknown sex", [...main, "models", 0, "sex"], () => "zzz", "one of"],
    [
      "a photo that is an HTML page",
      [...main, "images", 0, "bytes"],
      () => btoa("<h1>"),
      "do not match the mime_type",
    ],
    [
      "a photo with the wrong type",
      [...main, "images", 0, "mime_type"],
      () => "image/jpeg",
      "do not match the mime_type",
    ],
  ] as [string, Path, (was: never, state: MockState) => unknown, string][])(
    "is rejected with %s",
    async (_what, path, to, word) => {
      const state = await richState();
      expect(() => readState(changed(state, path, to(at(state, path) as never, state)))).toThrow(word);
    },
  );

  test("is rejected if any timestamp is not in UTC with a four-digit year", async () => {
    let state = await richState();
    for (const path of [
      [...main, "products", 0, "deleted_at"],
      [...main, "webhooks", 0, "last_delivery_at"],
    ]) {
      state = changed(state, path, someTime) as MockState;
    }
    const isTime = (path: Path) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(at(state, path)));
    const fields = new Map([...pathsIn(state)].filter(isTime).map((path) => [kindOf(path), path]));
    expect([...fields.keys()].sort()).toEqual(
      [
        "now",
        "deliveries.attempts.at",
        "deliveries.event.created_at",
        ...["exports", "imports", "tasks"].flatMap((jobs) => [
          `${jobs}.created_at`,
          `${jobs}.finished_at`,
          ...(jobs === "exports" ? [] : [`${jobs}.started_at`]),
        ]),
        "images.created_at",
        ...["changed_at", "created_at", "deleted_at", "updated_at"].map((field) => `products.${field}`),
        "webhooks.created_at",
        "webhooks.last_delivery_at",
      ].sort(),
    );
    for (const [field, path] of fields) {
      for (const time of [
        "2026-01-05T11:00:00+02:00",
        "2026-01-05T09:00:00+00:00",
        "9999-12-31T23:59:59-23:59",
        "0000-01-01T00:00:00+23:59",
        "+010000-01-01T00:00:00Z",
        "2026-01-05t09:00:00z",
      ]) {
        expect(() => readState(changed(state, path, time)), `${field} ${time}`).toThrow(
          "must be a time in UTC such as 2026-01-05T09:00:00Z",
        );
      }
    }
  });

  test.each([
    ["0000-01-01T00:00:00Z", "Sat, 01 Jan 0000 00:00:00 GMT", "0000-01-01T01:00:00.000Z"],
    ["9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59.999Z"],
  ])("with an export created at %s has valid times in headers and URLs", async (time, modified, expires) => {
    const world = await startWorld({ demo: 1 });
    const { id } = (await world.send("/v1/exports", { json: {} })).body;
    const made = changed(world.mock.state(), [...main, "exports", 0, "created_at"], time);
    expect((await world.send("/_mock/state", { method: "PUT", json: made, key: null })).status).toBe(200);
    const { url } = (await world.send(`/v1/exports/${id}`)).body;
    const file = await fetch(url);
    expect(file.headers.get("last-modified")).toBe(modified);
    const [row] = (await file.text()).split("\n");
    expect(JSON.parse(row!).assets[0].url_expires_at).toBe(expires);
  });

  test("with the highest numbers keeps new records in order", async () => {
    let state: unknown = await richState();
    for (const place of [
      [...main, "products", 1, "order"],
      [...main, "webhooks", 0, "order"],
      [...main, "webhooks", 0, "rotations"],
    ]) {
      state = changed(state as MockState, place, 1e14);
    }
    const taken = readState(changed(state as MockState, ["ids", "time"], Date.UTC(9999, 11, 30)));
    const { printed } = await livedWith(taken);
    const again = readState(printed);
    const names = again.organizations.main.products.map(({ reference }) => reference);
    expect(names.slice(0, 2)).not.toContain("NEW");
    expect(names.at(-1)).toBe("NEWER");
    expect((await livedWith(again)).faults).toEqual([]);
  });
});

test("an idempotency key from the future expires after 24 hours, like the keys after it", async () => {
  const { mock, send } = await startWorld();
  const claim = (key: string) => send("/v1/exports", { json: {}, headers: { "idempotency-key": key } });
  await claim("future");
  const state = mock.state();
  const [key] = state.organizations.main.idempotency_keys;
  key!.at += 3_650 * day;
  await mock.stop();
  const later = await startMock({ state, clock: new MovableClock({ frozenAt: monday }), rateLimit: false });
  try {
    const ask = async (name: string) => {
      const headers = {
        authorization: "Bearer ak_mock",
        "idempotency-key": name,
        "content-type": "application/json",
      };
      const answer = await fetch(`${later.baseUrl}/v1/exports`, { method: "POST", headers, body: "{}" });
      return answer.headers.get("idempotent-replayed");
    };
    expect([await ask("future"), await ask("new"), await ask("new")]).toEqual(["true", null, "true"]);
    later.clock.advance(day);
    expect([await ask("future"), await ask("new")]).toEqual([null, null]);
  } finally {
    await later.stop();
  }
});
