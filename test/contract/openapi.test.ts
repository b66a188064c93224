import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorCodes } from "../../src/contract/error-codes.ts";
import { importRowProblems } from "../../src/contract/import-row.ts";
import { openApiDocument } from "../../src/contract/openapi/document.ts";
import { parameterNotes } from "../../src/contract/openapi/notes.ts";
import { answered, type JsonObject, listFields, taken } from "../../src/contract/openapi/schemas.ts";
import { listRejections } from "../../src/contract/operation.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import { ProductToCreate } from "../../src/contract/resources/products.ts";
import { eventTypes } from "../../src/contract/value-sets.ts";
import { repetitions } from "../support/repetitions.ts";

const make = () => openApiDocument({ serverUrl: "http://127.0.0.1:4010" });
// biome-ignore lint/suspicious/noExplicitAny: tests read the document by paths.
const document = make() as any;
const at = (pointer: string) =>
  pointer
    .slice(2)
    .split("/")
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    .reduce((inner: any, key) => inner?.[key.replaceAll("~1", "/")], document);
interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  description?: string;
  schema: { type: string };
}
const objectOf = (name: string) => {
  const { operation } = everyOperation.find((one) => one.name === name)!;
  return document.paths[operation.path][operation.method.toLowerCase()];
};

describe("Redocly's spec ruleset", () => {
  const problemsOf = async (one: unknown) => {
    const config = await createConfig({ extends: ["spec"] });
    const found = await lintFromString({
      source: JSON.stringify(one),
      absoluteRef: "/openapi.json",
      config,
    });
    return found.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`);
  };

  test("reports no problem in the OpenAPI 3.1 document", async () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(await problemsOf(document)).toEqual([]);
  });

  test("rejects a $ref inside an extension, and a parameter in an unknown place", async () => {
    const broken = structuredClone(document);
    const { schema } = broken.paths["/v1/imports"].post.requestBody.content["application/x-ndjson"];
    schema["x-line-schema"] = { $ref: "#/components/schemas/ImportRow" };
    broken.paths["/v1/models"].get.parameters[0].in = "nowhere";
    expect(await problemsOf(broken)).toEqual([
      "error spec-strict-refs: Field $ref is not expected here.",
      expect.stringMatching(/^error struct: `in` can be one of the following only: /),
    ]);
  });
});

test("every branch has a type, and no request field has a default, for code generators", () => {
  const untyped: string[] = [];
  const defaults: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { anyOf, type, default: preset, enum: values } = value as Record<string, unknown>;
    if (preset !== undefined) defaults.push(path);
    if (values !== undefined && type === undefined) untyped.push(path);
    for (const branch of Array.isArray(anyOf) ? anyOf : []) {
      if (branch.type === undefined && branch.$ref === undefined && branch.allOf === undefined)
        untyped.push(path);
    }
    for (const [key, inner] of Object.entries(value)) walk(inner, `${path}.${key}`);
  };
  for (const name of Object.keys(taken)) walk(document.components.schemas[name], name);
  expect(defaults).toEqual([]);
  walk(document, "");
  expect(untyped).toEqual([]);
  const { ImportSubmission, ExportSelection, TryonInput } = document.components.schemas;
  expect({
    mode: ImportSubmission.properties.mode.description,
    on_image_error: ImportSubmission.properties.on_image_error.description,
    format: ExportSelection.properties.format.description,
    look_at_camera: TryonInput.properties.look_at_camera.description,
  }).toEqual({
    mode: "How to handle a row whose reference already exists; upsert appends the row's images. Default: upsert.",
    on_image_error:
      "How to handle a row with a failed image: skip imports the row with its other images, fail_row fails the row. Default: skip.",
    format:
      "manifest: a JSONL file, written at once. zip: the image files, rendered in the background. Default: manifest.",
    look_at_camera: "False makes the model look away. Default: true.",
  });
});

test("every field of every component has a description", () => {
  const without: string[] = [];
  const visit = (path: string, schema: JsonObject) => {
    for (const [name, field] of listFields(schema).flatMap((fields) => Object.entries(fields))) {
      if (!/\.$/.test(String(field.description))) without.push(`${path}.${name}`);
      visit(`${path}.${name}`, field);
    }
  };
  for (const [name, schema] of Object.entries<JsonObject>(document.components.schemas)) visit(name, schema);
  expect(without).toEqual([]);
});

test("the document is the same each time", () => {
  expect(JSON.stringify(make())).toBe(JSON.stringify(document));
});

test("every reference resolves, and every component is used", () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
  expect(refs.filter((ref) => at(ref) === undefined)).toEqual([]);
  for (const kind of ["schemas", "responses", "parameters", "headers"]) {
    const unused = Object.keys(document.components[kind]).filter(
      (name) => !refs.includes(`#/components/${kind}/${name}`),
    );
    expect({ kind, unused }).toEqual({ kind, unused: [] });
  }
});

test("the OpenAPI document has exactly the operations of the contract, with names, tags, scopes and responses", () => {
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, object]) => ({ path, method, object })),
  );
  const expected = everyOperation.map(({ name, operation }) => {
    const statuses = [operation.status, ...listRejections(operation).keys()].sort((a, b) => a - b);
    return {
      path: operation.path,
      method: operation.method.toLowerCase(),
      object: expect.objectContaining({
        operationId: name,
        summary: operation.summary,
        tags: [name.split(".")[0]],
        security: [{ machineKey: [operation.scope] }],
        responses: expect.toSatisfy(
          (responses: object) => Object.keys(responses).join() === [...statuses, "default"].join(),
        ),
      }),
    };
  });
  const inOrder = (list: { path: string; method: string }[]) =>
    list.sort((a, b) => `${a.path} ${a.method}`.localeCompare(`${b.path} ${b.method}`));
  expect(inOrder(found)).toEqual(inOrder(expected));
  expect(document.components.securitySchemes.machineKey).toMatchObject({ type: "http", scheme: "bearer" });
});

describe.each(everyOperation.map(({ name, operation }) => [name, operation] as const))(
  "%s",
  (name, operation) => {
    const object = objectOf(name);

    test("lists the codes and headers of each error response", () => {
      for (const [status, codes] of listRejections(operation)) {
        const response = at(object.responses[status].$ref);
        const { schema } = response.content["application/json"];
        const { type, code } = (schema.properties ?? schema.anyOf[0].properties).error.properties;
        expect(code.enum).toEqual(codes);
        expect(type.enum).toEqual([...new Set(codes.map((one) => errorCodes[one].type))]);
        expect(Object.keys(response.headers)).toEqual(expect.arrayContaining(everywhere));
        expect("Retry-After" in response.headers).toBe(status === 429);
      }
      const list = at(object.responses[400].$ref).content["application/json"].schema.anyOf?.[1];
      expect(list).toEqual(
        operation.rejectionList && { $ref: expect.stringMatching(/(?:Import|Tryon)Refusal$/) },
      );
    });

    test("has the success response with its headers", () => {
      const { content, headers } = object.responses[operation.status];
      expect(content === undefined).toBe(operation.reply === null);
      const more = [
        ...(operation.polled === true ? ["Retry-After"] : []),
        ...(operation.method === "GET" ? [] : ["Idempotent-Replayed"]),
      ];
      expect(Object.keys(headers)).toEqual([...everywhere, ...more]);
    });

    test("has every parameter and content type of the contract", () => {
      const parameters: Parameter[] = object.parameters.map((one: Parameter) =>
        one.$ref === undefined ? one : at(one.$ref),
      );
      const namesIn = (place: string) =>
        parameters.filter((one) => one.in === place).map(({ name: parameter }) => parameter);
      expect(namesIn("path")).toEqual([...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
      expect(namesIn("query")).toEqual(Object.keys(operation.query.shape));
      expect(namesIn("header")).toEqual(
        operation.method === "GET" ? ["X-Request-Id"] : ["X-Request-Id", "Idempotency-Key"],
      );
      for (const { name: parameter, description, schema } of parameters) {
        expect({ parameter, description }).toEqual({ parameter, description: expect.stringMatching(/./) });
        expect(schema.type).toMatch(/^(?:string|integer|boolean)$/);
      }
      expect(Object.keys(object.requestBody?.content ?? {})).toEqual(Object.keys(operation.body ?? {}));
    });
  },
);

const everywhere = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

test("a page has 1 to 100 items (default: 25)", () => {
  expect(objectOf("products.list").parameters[0]).toEqual({
    name: "limit",
    in: "query",
    description: "Items per page.",
    schema: { type: "integer", minimum: 1, maximum: 100, default: 25 },
  });
});

test("every parameter description belongs to a parameter", () => {
  const names = everyOperation.flatMap(({ operation }) => [
    ...Object.keys(operation.params.shape),
    ...Object.keys(operation.query.shape),
  ]);
  expect(Object.keys(parameterNotes).filter((name) => !names.includes(name))).toEqual([]);
});

test("an upload is a form with a binary file, a patch is a merge patch, an import can be NDJSON", () => {
  const upload = objectOf("images.upload").requestBody.content["multipart/form-data"];
  expect(upload.encoding.file.contentType).toBe("image/jpeg, image/png, image/webp");
  expect(at(upload.schema.$ref).properties.file).toMatchObject({ type: "string", format: "binary" });
  expect(Object.keys(objectOf("products.update").requestBody.content)).toEqual([
    "application/merge-patch+json",
  ]);
  const ndjson = objectOf("imports.create").requestBody.content["application/x-ndjson"];
  expect(ndjson.schema).toMatchObject({
    type: "string",
    "x-line-schema": "#/components/schemas/ImportRow",
  });
});

test("a body whose fields are all optional is optional, except for a PATCH", () => {
  const optional = everyOperation.filter(({ name }) => objectOf(name).requestBody?.required === false);
  expect(optional.map(({ name }) => name)).toEqual(["exports.create"]);
});

test("an open set accepts unknown values, a closed one does not", () => {
  const { ExportAsset, ImportRowResult, ImportRow, Error: envelope } = document.components.schemas;
  const role = new Ajv2020().compile(ExportAsset.properties.role);
  expect([role("source"), role("hologram"), role(1)]).toEqual([true, true, false]);
  expect(ExportAsset.properties.role.anyOf[0]).toEqual({
    type: "string",
    enum: ["source", "beautifier", "tryon", "recoloring"],
  });
  expect(ImportRowResult.properties.status.enum).toEqual(["pending", "succeeded", "partial", "failed"]);
  expect(ImportRow.additionalProperties).toBe(false);
  expect(envelope.properties.error.properties.type.enum).toHaveLength(9);
  for (const name of Object.keys(answered)) {
    expect(document.components.schemas[name].additionalProperties).toBeUndefined();
  }
  for (const name of Object.keys(taken)) {
    expect(document.components.schemas[name].additionalProperties).toBe(false);
  }
});

test("a timestamp in a query has a format but no pattern, to allow lower case and leap seconds", () => {
  const { parameters } = objectOf("exports.list");
  const since = parameters.find(({ name }: Parameter) => name === "since");
  expect(since.schema).toEqual({ type: "string", format: "date-time" });
});

test("the OpenAPI document has the six events, each with its signature and its resource", () => {
  expect(Object.keys(document.webhooks)).toEqual(eventTypes);
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });
  ajv.addSchema({ $id: "document", ...document });
  const fits = (type: string, data: unknown) =>
    ajv.validate(
      {
        $ref: `document#/webhooks/${type}/post/requestBody/content/application~1json/schema`,
      },
      { id: "evt_1", type, created_at: "2026-01-05T09:00:00Z", data },
    );
  const resource = { id: "01HN1H1W2BE2ZP0BXGX60T7K32", status: "succeeded" };
  expect(fits("task.succeeded", { task: resource })).toBe(true);
  expect(fits("task.succeeded", { import: resource })).toBe(false);
  expect(fits("task.succeeded", { task: resource, import: resource })).toBe(false);
  expect(fits("task.succeeded", { task: { id: "x", status: "succeeded" } })).toBe(false);
  for (const { post } of Object.values(document.webhooks) as { post: Record<string, unknown> }[]) {
    expect(post.parameters).toMatchObject([{ name: "Service-Signature", in: "header", required: true }]);
    expect(post.security).toEqual([]);
  }
});

describe("the document and the contract accept the same requests", () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: "document", ...document });
  const takes = (name: string) => ajv.compile({ $ref: `document#/components/schemas/${name}` });
  const space = fc.constantFrom("", " ", "\t", "\u00a0");
  const text = fc.oneof(
    { arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }), weight: 4 },
    fc.constantFrom("x".repeat(100), "x".repeat(101), "\u{1f457}".repeat(100), "\u{1f457}".repeat(101)),
    fc.constantFrom("y".repeat(200), "y".repeat(201), "\u{1f457}".repeat(200), "\u{1f457}".repeat(201)),
    fc.constantFrom("z".repeat(2_000), "z".repeat(2_001), " ", ""),
    fc.constantFrom(null, 1, undefined),
  );
  const reference = fc
    .tuple(space, text, space)
    .map(([before, inner, after]) => (typeof inner === "string" ? before + inner + after : inner));
  const image = fc.constantFrom<unknown>(
    { url: "https://cdn.example.com/1.jpg" },
    { url: "http://cdn.example.com/1.jpg" },
    { url: "https://cdn.example.com/1.jpg", orientation: "front" },
    { url: "https://cdn.example.com/1.jpg", orientation: "sideways" },
    { image_id: "01HN1H1W2BE2ZP0BXGX60T7K32" },
    { image_id: "01HN1H1W2BE2ZP0BXGX60T7K3" },
    { image_id: "01HN1H1W2BE2ZP0BXGX60T7K32", url: "https://cdn.example.com/1.jpg" },
    {},
    "https://cdn.example.com/1.jpg",
  );
  const good = { url: "https://cdn.example.com/2.jpg" };
  const images = fc.oneof(
    fc.array(image, { maxLength: 3 }),
    fc.constantFrom<unknown>(Array(20).fill(good), Array(21).fill(good), null),
  );
  const fields = {
    reference,
    name: text,
    description: text,
    sex: fc.constantFrom("male", "kid", "none", undefined),
    more: fc.constantFrom(undefined, 1),
  };
  const sent = (value: unknown) => JSON.parse(JSON.stringify(value));

  test("rows of an import", () => {
    const valid = takes("ImportRow");
    fc.assert(
      fc.property(fc.record({ ...fields, images }), (raw) => {
        const row = sent(raw);
        expect(valid(row)).toBe(importRowProblems(row).length === 0);
      }),
      { numRuns: repetitions(100, 10_000), seed: 5 },
    );
  });

  test("products", () => {
    const valid = takes("ProductToCreate");
    const photo = { image_id: "01HN1H1W2BE2ZP0BXGX60T7K32", orientation: "front" };
    const photos = fc.constantFrom<unknown>([photo], [{ ...photo, orientation: "up" }], []);
    fc.assert(
      fc.property(fc.record({ ...fields, images: photos }), (raw) => {
        const product = sent(raw);
        expect(valid(product)).toBe(ProductToCreate.safeParse(product).success);
      }),
      { numRuns: repetitions(100, 10_000), seed: 5 },
    );
  });
});

test("sets and limits that the specification does not have are marked as assumed, and not closed", () => {
  const { TryonInput, BeautifierRequest, ProductToCreate, ProductPatch, PhotosToAttach, ImportRow } =
    document.components.schemas;
  const { subtype, inputs } = BeautifierRequest.properties;
  const assumed = [
    ...[TryonInput.properties.background, TryonInput.properties.angle_shot],
    ...[inputs.properties.background, inputs.properties.angle_shot],
    ...["reference", "name", "description", "images"].map((field) => ProductToCreate.properties[field]),
    ...["reference", "name"].map((field) => ProductPatch.properties[field]),
    PhotosToAttach.properties.images,
  ];
  for (const schema of assumed) {
    expect(schema).toMatchObject({ "x-assumed": true });
    for (const closes of ["enum", "anyOf", "maxLength", "maxItems"])
      expect(schema).not.toHaveProperty(closes);
  }
  expect(TryonInput.properties.background.examples).toContain("studio");
  expect([subtype.enum, inputs.properties.style.enum]).toEqual([
    ["clothing", "shoes", "headwear"],
    ["ghost", "flatlay"],
  ]);
  const { reference, name, images } = ImportRow.properties;
  expect([name.maxLength, images.maxItems]).toEqual([200, 20]);
  expect(reference.pattern).toContain("{0,98}");
  expect(JSON.stringify(ImportRow)).not.toContain("x-assumed");
});
