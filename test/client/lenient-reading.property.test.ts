import * as fc from "fast-check";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { readResponse } from "../../src/client/read-response.ts";
import { type ClientOperation, operations } from "../../src/contract/client-operations.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import type { Import } from "../../src/contract/resources/imports.ts";
import type { Product } from "../../src/contract/resources/products.ts";
import { exactly } from "../conformance/exact-schema.ts";
import { validInputs } from "../conformance/inputs.ts";
import { startWorld } from "../mock/world.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions } from "../support/repetitions.ts";

interface Found {
  operation: Operation;
  body: unknown;
  /** The path of every value of a set. */
  values: Place[];
  /** Every field that the program does not rely on. */
  unchecked: Place[];
}

interface Place {
  path: readonly (string | number)[];
  /** The path without list indexes: `data.images.origin`. */
  field: string;
}

type Schema = { [key: string]: unknown };

const found = new Map<string, Found>();

// One response of the mock to each operation that has a body. Jobs have ended by then, so their fields are
// filled.
beforeAll(async () => {
  for (const { name, operation } of everyOperation) {
    if (operation.reply === null) continue;
    const world = await startWorld({ demo: 3 });
    // List entries are created by the input of another operation.
    if (name === "tasks.list" || name === "webhooks.list") {
      await validInputs[name.replace("list", "get")]!(world);
    }
    const [path, send] = await validInputs[name]!(world);
    const isRead = operation.method === "GET";
    if (isRead) world.clock.advance(60_000);
    const { status, body } = await world.send(isRead ? path.split("?")[0]! : path, send);
    expect([name, status]).toEqual([name, operation.status]);
    const values = [...valuesIn(z.toJSONSchema(operation.reply) as Schema, body, [])];
    found.set(name, { operation, body, values, unchecked: [...uncheckedIn(name, body, [])] });
  }
});

function* valuesIn(schema: Schema, value: unknown, path: Place["path"]): Generator<Place> {
  if (value === null || value === undefined) return;
  if (schema.enum !== undefined && typeof value === "string") {
    yield { path, field: path.filter((part) => typeof part === "string").join(".") };
  }
  for (const branch of (schema.anyOf ?? []) as Schema[]) yield* valuesIn(branch, value, path);
  if (Array.isArray(value)) {
    for (const [at, entry] of value.entries()) {
      yield* valuesIn((schema.items ?? {}) as Schema, entry, [...path, at]);
    }
  }
  for (const [name, inner] of Object.entries((schema.properties ?? {}) as Record<string, Schema>)) {
    yield* valuesIn(inner, (value as Record<string, unknown>)[name], [...path, name]);
  }
}

/** Fields that the program relies on, by name in any response; it relies on nothing inside any other field. */
const checkedFields = new Set([
  ...["id", "product_id", "task_id", "image_id", "data", "next_cursor", "has_more", "tasks", "product"],
  ...["counts", "total", "pending", "succeeded", "partial", "failed", "total_assets"],
  ...["output_image", "deleted_at", "signing_secret"],
]);
/** Fields checked in some responses only. */
const checkedIn: Readonly<Record<string, (name: string) => boolean>> = {
  status: (name) => !name.startsWith("webhooks."),
  url: (name) => /^(tasks\.|exports\.(get|create))/.test(name),
};
/** Lists whose entries are passed on unchecked. */
const passedOn = new Set(["imports.rows"]);
const isChecked = (name: string, field: string, path: Place["path"]) =>
  !(passedOn.has(name) && path[0] === "data") &&
  (checkedFields.has(field) || checkedIn[field]?.(name) === true);

function* uncheckedIn(name: string, value: unknown, path: Place["path"]): Generator<Place> {
  if (Array.isArray(value)) {
    for (const [at, entry] of value.entries()) yield* uncheckedIn(name, entry, [...path, at]);
  } else if (typeof value === "object" && value !== null) {
    for (const [field, inner] of Object.entries(value)) {
      const place = [...path, field];
      if (isChecked(name, field, path)) yield* uncheckedIn(name, inner, place);
      else yield { path: place, field: place.filter((part) => typeof part === "string").join(".") };
    }
  }
}

/** The values that the program relies on, by operation (contract/response-values.ts); others are passed on. */
const reliedOn: Readonly<Record<string, readonly string[]>> = {
  "imports.create": ["status"],
  "imports.get": ["status"],
  "exports.create": ["status"],
  "exports.get": ["status"],
  "tasks.list": ["data.status"],
  "tasks.get": ["status"],
  "tasks.beautify": ["status"],
  "tasks.tryon": ["tasks.status"],
};
const isReliedOn = (name: string, { field }: Place) => reliedOn[name]?.includes(field) ?? false;

/** A copy with another value at a path. */
function withValue(body: unknown, path: Place["path"], value: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  const inner = withValue((body as Record<string | number, unknown>)[part], rest, value);
  return Array.isArray(body) ? body.with(part as number, inner) : { ...(body as object), [part]: inner };
}

/** A copy in which every object has another field. */
function withFields(body: unknown, field: string, value: unknown): unknown {
  if (Array.isArray(body)) return body.map((entry) => withFields(entry, field, value));
  if (typeof body !== "object" || body === null) return body;
  const inner = Object.entries(body).map(([name, entry]) => [name, withFields(entry, field, value)]);
  return { ...Object.fromEntries(inner), [field]: value };
}

function read({ operation }: Found, body: unknown): unknown {
  const message = {
    method: operation.method,
    origin: "https://api.example.com",
    path: "/",
    headers: {},
    body: null,
  };
  const answer = {
    status: operation.status,
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
    json: body,
  };
  return readResponse(clientOperations.get(operation.path + operation.method)!, message, answer, 0);
}

const clientOperations = new Map(
  Object.values(operations)
    .flatMap((verbs): ClientOperation[] => Object.values(verbs))
    .map((operation) => [operation.path + operation.method, operation]),
);

const anyName = fc.constantFrom(
  ...everyOperation.flatMap(({ name, operation }) => (operation.reply === null ? [] : [name])),
);
const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("divers", "", "FRONT", "image/avif"),
);

test("a response with any other text in its sets, and with unknown fields, is read unchanged", () => {
  fc.assert(
    fc.property(
      anyName,
      fc.infiniteStream(anyText),
      fc.infiniteStream(fc.boolean()),
      fc.jsonValue(),
      (name, texts, choices, extra) => {
        const one = found.get(name)!;
        const places = one.values.filter((place) => !isReliedOn(name, place) && choices.next().value);
        const changed = places.reduce(
          (body, { path }) => withValue(body, path, texts.next().value),
          one.body,
        );
        // JSON has no -0.
        const sent = JSON.parse(JSON.stringify(withFields(changed, "x_new", extra)));
        expect(read(one, sent)).toEqual(sent);
      },
    ),
    { numRuns: repetitions(15, 3_000) },
  );
});

test("a response in which any field not relied on is null, of another type or absent, is read unchanged", () => {
  const anything = fc.constantFrom<unknown>(null, 7, {}, [], "soon", true, undefined);
  fc.assert(
    fc.property(
      anyName,
      fc.infiniteStream(anything),
      fc.infiniteStream(fc.boolean()),
      (name, values, choices) => {
        const one = found.get(name)!;
        const changed = one.unchecked
          .filter(() => choices.next().value)
          .reduce((body, { path }) => withValue(body, path, values.next().value), one.body);
        const sent = JSON.parse(JSON.stringify(changed));
        expect(read(one, sent)).toStrictEqual(sent);
      },
    ),
    { numRuns: repetitions(15, 3_000) },
  );
});

test("each such field alone is read unchanged", () => {
  for (const one of found.values()) {
    for (const { path } of one.unchecked) {
      for (const value of [null, 7, {}, undefined]) {
        const sent = JSON.parse(JSON.stringify(withValue(one.body, path, value)));
        expect(read(one, sent)).toStrictEqual(sent);
      }
    }
  }
});

longTest("the mock must not send such a field: an exact check finds it", () => {
  for (const [name, { operation, body, unchecked }] of found) {
    const problemsOf = exactly(operation.reply!);
    const fields = new Map(unchecked.map(({ field, path }) => [field, path]));
    for (const [field, path] of fields) {
      expect([name, field, problemsOf(withValue(body, path, 0.5))]).not.toEqual([name, field, []]);
    }
  }
});

test("the fields whose values are passed on are exactly these", () => {
  const fields = [...found].flatMap(([name, { values }]) =>
    values.filter((place) => !isReliedOn(name, place)).map(({ field }) => `${name} ${field}`),
  );
  expect([...new Set(fields)].sort()).toMatchInlineSnapshot(`
    [
      "exports.create format",
      "exports.get format",
      "exports.list data.assets.mime_type",
      "exports.list data.assets.role",
      "exports.list data.product.sex",
      "images.get mime_type",
      "images.upload mime_type",
      "imports.create mode",
      "imports.create on_image_error",
      "imports.get mode",
      "imports.get on_image_error",
      "imports.rows data.action",
      "imports.rows data.images.orientation",
      "imports.rows data.images.status",
      "imports.rows data.status",
      "models.list data.sex",
      "products.attach orientation",
      "products.attach origin",
      "products.create images.orientation",
      "products.create images.origin",
      "products.get images.orientation",
      "products.get images.origin",
      "products.list data.images.orientation",
      "products.list data.images.origin",
      "products.list data.sex",
      "products.update images.orientation",
      "products.update images.origin",
      "products.update sex",
      "tasks.beautify subtype",
      "tasks.beautify type",
      "tasks.get subtype",
      "tasks.get type",
      "tasks.list data.subtype",
      "tasks.list data.type",
      "tasks.tryon tasks.type",
      "webhooks.create events",
      "webhooks.create status",
      "webhooks.get events",
      "webhooks.get status",
      "webhooks.list data.events",
      "webhooks.list data.status",
      "webhooks.update events",
      "webhooks.update status",
    ]
  `);
});

test("the mock must not send such a value: an exact check finds it", () => {
  for (const [name, { operation, body, values }] of found) {
    if (operation.reply === null) continue;
    const problemsOf = exactly(operation.reply);
    expect([name, problemsOf(body)]).toEqual([name, []]);
    const oneOfEach = new Map(values.map(({ field, path }) => [field, path]));
    for (const path of oneOfEach.values()) {
      expect(problemsOf(withValue(body, path, "divers"))).not.toEqual([]);
    }
  }
});

describe("a response is rejected for", () => {
  const rejected = expect.objectContaining({ type: "bad_response", code: "wrong_shape" });
  const outcome = (one: Found, body: unknown): unknown => {
    try {
      return read(one, body);
    } catch (error) {
      return error;
    }
  };

  test("an unknown status of a job", () => {
    const checked: Record<string, string[]> = {};
    for (const [name, one] of found) {
      for (const place of one.values.filter((value) => isReliedOn(name, value))) {
        expect(outcome(one, withValue(one.body, place.path, "divers"))).toEqual(rejected);
        checked[name] = [...new Set([...(checked[name] ?? []), place.field])];
      }
    }
    expect(checked).toEqual(reliedOn);
  });

  test("an ID that is missing, null or a number", () => {
    const names = [...found].flatMap(([name, one]) => {
      const body = one.body as Record<string, unknown>;
      const path = "id" in body ? ["id"] : "tasks" in body ? ["tasks", 0, "id"] : null;
      if (path === null) return [];
      for (const id of [undefined, null, 7]) {
        expect(outcome(one, withValue(body, path, id))).toEqual(rejected);
      }
      return [name];
    });
    expect(names).toHaveLength(15);
  });

  test("a cursor, has_more or data of a wrong type, and an entry without its ID", () => {
    const lists = [...found].filter(([, { body }]) => "has_more" in (body as object));
    expect(lists.map(([name]) => name)).toEqual([
      "products.list",
      "imports.rows",
      "exports.list",
      "tasks.list",
      "models.list",
      "webhooks.list",
    ]);
    for (const [name, one] of lists) {
      for (const [field, wrong] of [
        ["next_cursor", 7],
        ["has_more", "no"],
        ["has_more", undefined],
        ["data", {}],
      ] as const) {
        expect(outcome(one, withValue(one.body, [field], wrong))).toEqual(rejected);
      }
      const [entry] = (one.body as { data: Record<string, unknown>[] }).data;
      if (entry !== undefined && "id" in entry) {
        expect([name, outcome(one, withValue(one.body, ["data", 0, "id"], undefined))]).toEqual([
          name,
          rejected,
        ]);
      }
    }
  });

  test.each([undefined, null, 7, "", "secret", "WHSEC_x"])("a signing secret that is %j", (secret) => {
    for (const name of ["webhooks.create", ...(secret === undefined ? [] : ["webhooks.update"])]) {
      const one = found.get(name)!;
      expect([name, outcome(one, withValue(one.body, ["signing_secret"], secret))]).toEqual([name, rejected]);
    }
  });

  test("a count of an import that is not an integer", () => {
    const one = found.get("imports.get")!;
    for (const count of ["1", 1.5, null, undefined]) {
      expect(outcome(one, withValue(one.body, ["counts", "succeeded"], count))).toEqual(rejected);
    }
  });
});

test("a nullable field that the program relies on is read as null if it is absent", () => {
  const places = [
    ["exports.list", ["next_cursor"]],
    ["exports.list", ["data", 0, "product", "deleted_at"]],
    ["products.list", ["next_cursor"]],
    ["imports.get", ["counts", "total"]],
    ["tasks.get", ["output_image"]],
  ] as const;
  for (const [name, path] of places) {
    const one = found.get(name)!;
    expect([name, read(one, withValue(one.body, path, undefined))]).toStrictEqual([
      name,
      withValue(one.body, path, null),
    ]);
  }
});

test("types suggest the known values and accept any other", () => {
  expectTypeOf<Product["sex"]>().toEqualTypeOf<"male" | "female" | "other" | "kid" | (string & {}) | null>();
  expectTypeOf<Import["mode"]>().toEqualTypeOf<"upsert" | "create" | "skip_existing" | (string & {})>();
  expectTypeOf<Import["status"]>().toEqualTypeOf<
    "validating" | "processing" | "completed" | "completed_with_errors" | "failed"
  >();
});
