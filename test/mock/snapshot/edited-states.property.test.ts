import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastMoment, MovableClock } from "../../../src/clock.ts";
import { type MockState, readState, startMock } from "../../../src/mock/index.ts";
import { repetitions } from "../../support/repetitions.ts";
import { startReceiver } from "../receiver.ts";
import { monday, row, startWorld } from "../world.ts";
import { day } from "../world-with-hook.ts";

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

/** A path as messages show it. */
const textOf = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");

/** Loads a state into a mock and uses it for a while; returns its 5xx responses. */
async function faultsOf(state: MockState) {
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
  await mock.stop();
  return answers.filter(({ status }) => status >= 500);
}

const someTime = "2026-01-05T09:00:00.000Z";
/** The highest possible ID. */
const lastId = `7${"Z".repeat(25)}`;
const main = ["organizations", "main"] as const;

describe("an edited state", () => {
  test("is rejected with the path of its first mistake, or keeps the mock responding", async () => {
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
          expect((error as Error).message).toContain(textOf(path));
          return;
        }
        expect(await faultsOf(taken)).toEqual([]);
      }),
      { numRuns: repetitions(5, 1_500) },
    );
  });

  test.each<[string, Path, unknown, string]>([
    [
      "an unknown orientation",
      [...main, "products", 0, "images", 0, "orientation"],
      "/../../x",
      "organizations.main.products[0].images[0].orientation: must be one of front, back, left, right, top, bottom, three-quarter-left, three-quarter-right, detail, unlabeled, side",
    ],
    [
      "no photo",
      [...main, "products", 0, "images"],
      [],
      "organizations.main.products[0].images: must have at least 1 entry",
    ],
    [
      "a blank reference",
      [...main, "products", 0, "reference"],
      " ",
      "organizations.main.products[0].reference: must not be empty",
    ],
    [
      "an unknown field",
      [...main, "products", 0, "color"],
      "red",
      "unknown field organizations.main.products[0].color",
    ],
    [
      "an invalid row",
      [...main, "imports", 1, "rows", 0, "row", "name"],
      "",
      "organizations.main.imports[1].rows[0].row.name: must not be empty",
    ],
    ["too many tries", ["deliveries", 0, "tries"], 1e14, "deliveries[0].tries: must be at most 6"],
    [
      "no events",
      [...main, "webhooks", 0, "events"],
      [],
      "organizations.main.webhooks[0].events: must have at least 1 entry",
    ],
    [
      "an import without rows",
      [...main, "imports", 1, "rows"],
      [],
      "organizations.main.imports[1].rows: must have at least 1 entry",
    ],
    [
      "an import ID with too high a time",
      [...main, "imports", 1, "id"],
      lastId,
      "organizations.main.imports[1].id: has a time too close to the maximum of a ULID",
    ],
    [
      "a task ID with too high a time",
      [...main, "tasks", 0, "id"],
      lastId,
      "organizations.main.tasks[0].id: has a time too close to the maximum of a ULID",
    ],
    [
      "a model with a path as its ID",
      [...main, "models", 0, "id"],
      "a/../b?x#",
      "organizations.main.models[0].id: must have 1 to 64 letters, digits, - and _",
    ],
  ])("is rejected with %s", async (_what, path, value, message) => {
    const state = await richState();
    expect(() => readState(changed(state, path, value))).toThrow(expect.objectContaining({ message }));
  });

  test("whose records contradict each other is loaded as is, and its jobs end", async () => {
    let state = await richState();
    const pending = state.organizations.main.imports[1]!;
    for (const [path, value] of [
      [["images"], []],
      [["imports", 0, "succeeded"], 900],
      [["imports", 1, "rows", 1, "row"], null],
      [["imports", 1, "status"], "processing"],
      [["exports", 0, "status"], "failed"],
      [["products", 1, "order"], 0],
      [["tasks", 1, "product_id"], lastId],
      [["webhooks", 0, "abandoned"], 900],
    ] as [Path, unknown][]) {
      state = changed(state, [...main, ...path], value) as MockState;
    }
    const { mock, send } = await startWorld({ state: readState(state) });
    const { counts } = (await send(`/v1/imports/${state.organizations.main.imports[0]!.id}`)).body;
    expect(counts).toEqual({ total: 2, pending: 0, succeeded: 900, partial: 0, failed: 1 });
    mock.clock.advance(60_000);
    await mock.settled();
    expect((await send(`/v1/imports/${pending.id}`)).body.status).toBe("failed");
    expect((await send("/v1/tasks?status=running")).body.data).toEqual([]);
  });

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
});

test("every state that the mock saves can be loaded, with products of any length too", async () => {
  const { mock, createProduct } = await startWorld({ strictSlugs: false });
  const long = "x".repeat(3_000);
  expect((await createProduct({ reference: long, name: long, description: long })).status).toBe(201);
  expect(readState(JSON.parse(JSON.stringify(mock.state())))).toEqual(mock.state());
});

test("a state with the stored rejection for too few credits can be loaded", async () => {
  const { mock, createProduct, send } = await startWorld();
  const { id } = (await createProduct({ reference: "A" })).body;
  await send("/_mock/account", { key: null, json: { credits: 0 } });
  const input = { product_id: id, model_id: "mdl_001", background: "studio", angle_shot: "full-front" };
  const rejected = await send("/v1/tasks/tryon", {
    json: { inputs: [input] },
    headers: { "idempotency-key": "paid" },
  });
  expect(rejected.status).toBe(402);
  const { headers } = mock.state().organizations.main.idempotency_keys[0]!.answer!;
  expect(headers).toEqual({ "X-Credits-Needed": "1", "X-Credits-Left": "0" });
  expect(readState(JSON.parse(JSON.stringify(mock.state())))).toEqual(mock.state());
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
