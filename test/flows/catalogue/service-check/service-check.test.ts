import { expect, onTestFinished, test } from "vitest";
import { sections } from "../../../../scripts/fidelity/sections.ts";
import { createClient } from "../../../../src/client/client.ts";
import {
  askService,
  type ClauseResult,
  clauses,
} from "../../../../src/flows/catalogue/service-check/ask-service.ts";
import { AskedService } from "../../../../src/flows/catalogue/service-check/service.ts";
import { startMock } from "../../../../src/mock/index.ts";
import { longTest } from "../../../support/long-test.ts";
import { isLong } from "../../../support/repetitions.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { TestClock } from "../../../support/test-clock.ts";
import { type Twist, twistingProxy } from "./twisting-proxy.ts";

/** Asks a mock about every clause, through a proxy that twists it. */
async function asked(twist: Twist = {}, isWriting = true, of = clauses) {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, demo: 3 });
  const baseUrl = await twistingProxy(mock.baseUrl, twist);
  const random = seededRandom(1);
  const client = createClient({ baseUrl, apiKey: mock.apiKey, clock, random });
  onTestFinished(async () => {
    await client.close();
    await mock.stop();
  });
  const living = () =>
    mock.state().organizations.main.products.filter(({ deleted_at }) => deleted_at === null);
  const before = living();
  const service = new AskedService({ client, random, signal: new AbortController().signal });
  const found: ClauseResult[] = [];
  for await (const result of askService(service, isWriting, of)) found.push(result);
  const clausesOf = (status: string) =>
    found.filter((one) => one.status === status).map(({ clause }) => clause);
  for await (const { error } of service.remove()) throw error;
  return {
    differs: clausesOf("differs"),
    confirmed: clausesOf("confirmed"),
    before,
    after: { ...mock.state().organizations.main, products: living() },
    methods: new Set(mock.requests().map(({ method }) => method)),
  };
}

const asWritten = clauses.filter((clause) => "ask" in clause);
const readable = asWritten.filter((clause) => "needs" in clause && clause.needs === "read");

test("a service is asked about exactly the clauses that docs/fidelity.md assumes", () => {
  const assumed = sections.flatMap((section) => section.clauses).filter(({ kind }) => kind === "assumed");
  expect(clauses.map(({ text }) => text).sort()).toEqual(assumed.map(({ text }) => text).sort());
});

test("the mock confirms each clause that can be asked, and has the products of before and no task afterwards", async () => {
  const { differs, confirmed, before, after } = await asked();
  expect(differs).toEqual([]);
  expect(confirmed).toEqual(asWritten.map(({ text }) => text));
  expect(confirmed).toHaveLength(34);
  expect(after.products).toEqual(before);
  expect([after.tasks, after.webhooks]).toEqual([[], []]);
});

test("without writes, only reads are sent", async () => {
  const { differs, confirmed, methods } = await asked({}, false);
  expect(differs).toEqual([]);
  expect(confirmed).toEqual(readable.map(({ text }) => text));
  expect(methods).toEqual(new Set(["GET"]));
});

const isProduct = (url: string) => /^\/v1\/products\/[^/]+$/.test(url);
const isOf = (method: string, url: string) => (passing: { method: string; url: string }) =>
  passing.method === method && passing.url === url;
const isCreated = isOf("POST", "/v1/products");
const isImport = isOf("POST", "/v1/imports");
const isTryon = isOf("POST", "/v1/tasks/tryon");
const isUpload = isOf("POST", "/v1/images");
const isExport = isOf("POST", "/v1/exports");

/** A service which accepts what it should reject. */
const accepts = (
  when: (passing: { method: string; url: string; body: string }) => boolean,
  status: number,
  json: object,
): Twist => ({
  response: (passing, answered) => {
    if (when(passing)) Object.assign(answered, { status, json });
  },
});

let posts = 0;

const twists: [string, Twist][] = [
  ["Unusable cursors.", accepts(({ url }) => url === "/v1/products?cursor=doctor", 200, { data: [] })],
  [
    "An empty Idempotency-Key.",
    {
      request: ({ headers }) => {
        if (headers["idempotency-key"] === "") delete headers["idempotency-key"];
      },
    },
  ],
  [
    "Whether the query is part of the path, and how bodies are compared.",
    {
      request: (passing) => {
        passing.url = passing.url.replace("?a=1", "");
      },
    },
  ],
  [
    "4xx responses that are not stored.",
    {
      response: ({ method, url }, { headers }) => {
        if (method === "POST" && url === "/v1/doctor") headers["idempotent-replayed"] = "true";
      },
    },
  ],
  [
    "Requests that count against the rate limit.",
    {
      response: ({ url }, { headers }) => {
        if (isProduct(url)) headers["x-ratelimit-remaining"] = "0";
      },
    },
  ],
  [
    "The sizes of product fields and of the images array.",
    accepts((one) => isCreated(one) && one.body.includes("r".repeat(101)), 404, {}),
  ],
  ["A name that is only whitespace.", accepts((one) => isCreated(one) && one.body.includes('"  "'), 404, {})],
  [
    "Unknown fields of a body.",
    accepts(({ method, body }) => method === "PATCH" && body.includes('"doctor"'), 200, {}),
  ],
  ["The search of q.", accepts(({ url }) => url.includes("DOCTOR"), 200, { data: [] })],
  [
    "The order of the list.",
    {
      response: ({ url }, { json }) => {
        if (url === "/v1/products?limit=100") json.data.reverse();
      },
    },
  ],
  [
    "A patch that changes nothing.",
    {
      response: ({ method, body }, { json }) => {
        if (method === "PATCH" && body.includes('"name"')) json.updated_at = "2030-01-01T00:00:00.000Z";
      },
    },
  ],
  [
    "The reference of a deleted product.",
    {
      response: (passing, answered) => {
        if (isCreated(passing) && answered.status === 201 && posts++ > 0)
          Object.assign(answered, {
            status: 409,
            json: { error: { type: "conflict", code: "reference_already_exists", message: "in use" } },
          });
      },
    },
  ],
  [
    "Attaching an image that the product already has.",
    {
      response: ({ method, url }, { json }) => {
        if (method === "GET" && isProduct(url) && json.images?.[0]?.orientation === "back")
          json.images.push({ ...json.images[0], orientation: "front" });
      },
    },
  ],
  [
    "The origin of a product's image.",
    {
      response: ({ method, url }, { json }) => {
        for (const image of method === "GET" && isProduct(url) ? (json.images ?? []) : [])
          image.origin = "other";
      },
    },
  ],
  [
    "An image with a valid signature that cannot be read.",
    accepts((one) => isUpload(one) && one.body.includes("PNG") && !one.body.includes("IHDR"), 415, {}),
  ],
  [
    "Other form fields, and a second file.",
    accepts((one) => isUpload(one) && one.body.split("filename").length === 3, 201, {}),
  ],
  [
    "The response for an expired or altered signed URL.",
    {
      response: ({ url }, answered, proxy) => {
        if (/^\/v1\/images\//.test(url)) answered.json.url = `${proxy}/any?signature=abc`;
        if (url.startsWith("/any")) answered.status = 200;
      },
    },
  ],
  [
    "The type of product_not_found; the specification shows two.",
    {
      response: (_, { json }) => {
        if (json?.error?.code === "product_not_found") json.error.type = "invalid_request";
      },
    },
  ],
  [
    "Blank lines, and lines that are not JSON.",
    {
      response: (passing, { json }) => {
        if (isImport(passing) && passing.body.startsWith("\n")) json.errors[0].line = 1;
      },
    },
  ],
  ["Too many or no rows.", accepts((one) => isImport(one) && one.body === '{"rows":[]}', 202, {})],
  [
    "Fields that a row of an upsert does not have.",
    {
      response: ({ method, url }, { json }) => {
        if (method === "GET" && isProduct(url) && json.description === "kept") json.description = null;
      },
    },
  ],
  [
    "product_id and images of failed and skipped rows.",
    {
      response: ({ url }, { json }) => {
        for (const row of /^\/v1\/imports\/\w+\/rows/.test(url) ? json.data : [])
          if (row.status === "failed") row.product_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
      },
    },
  ],
  ["A role that does not exist.", accepts(({ url }) => url === "/v1/exports?role=doctor", 200, {})],
  [
    "An empty list of product_ids.",
    accepts((one) => isExport(one) && one.body.includes("product_ids"), 400, { error: {} }),
  ],
  [
    "POST /v1/exports without a body.",
    accepts((one) => isExport(one) && one.body === "", 400, { error: {} }),
  ],
  [
    "The codes in that list.",
    {
      response: (passing, { json }) => {
        for (const error of isTryon(passing) ? (json.errors ?? []) : [])
          if (error.code === "model_not_found") error.code = "not_found";
      },
    },
  ],
  [
    "Inputs that are not a list, too few or too many.",
    accepts((one) => isTryon(one) && one.body === '{"inputs":[]}', 202, { tasks: [] }),
  ],
  [
    "The length of a description.",
    accepts(isOf("POST", "/v1/webhooks"), 201, { id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }),
  ],
  [
    "An unknown path, and a known path with another method.",
    accepts(({ method, url }) => method === "GET" && url === "/v1/doctor", 404, {
      error: { code: "not_found" },
    }),
  ],
  ["A URL or headers that are too long.", accepts(({ url }) => url.length > 9_000, 400, { error: {} })],
  ["Malformed requests.", accepts(({ url }) => url === "/v1/products?limit=doctor", 200, { data: [] })],
  [
    "Unsupported methods.",
    {
      response: (_, { status, headers }) => {
        if (status === 405) delete headers.allow;
      },
    },
  ],
  [
    "input_index.",
    {
      response: (passing, { json }) => {
        for (const error of isTryon(passing) ? (json.errors ?? []) : []) error.input_index++;
      },
    },
  ],
  [
    "The type for 413, 415 and 422.",
    {
      response: (_, { status, json }) => {
        if (status === 415) json.error.type = "conflict";
      },
    },
  ],
];

test("every clause that can be asked has a service that differs in it", () => {
  expect(twists.map(([clause]) => clause).sort()).toEqual(asWritten.map(({ text }) => text).sort());
});

test.each(twists.filter((_, at) => isLong || at % 6 === 0))(
  "a service that differs in one clause is found: %s",
  async (clause, twist) => {
    posts = 0;
    const { differs, before, after } = await asked(
      twist,
      true,
      clauses.filter(({ text }) => text === clause),
    );
    expect(differs).toEqual([clause]);
    expect(after.products).toEqual(before);
  },
);

longTest("a service that differs in one clause is found among all clauses, and in no other", async () => {
  for (const [clause, twist] of twists) {
    posts = 0;
    expect((await asked(twist)).differs).toEqual([clause]);
  }
});
