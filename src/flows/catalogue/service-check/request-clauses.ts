import { type Clause, first, invalid, is, mistaken, never, noId, read, write } from "./clause.ts";
import { differenceOf, NotAsked } from "./service.ts";

/** Clauses about any request. */
export const requestClauses: readonly Clause[] = [
  ...never(
    "the API does not show what was made in the dashboard",
    "Products, models and generations made in the dashboard.",
  ),
  read("Unusable cursors.", async (service) => {
    const expected = { status: 400, code: "invalid_cursor" };
    const { next_cursor } = (await service.get("/v1/models?limit=1")).json as { next_cursor?: string | null };
    return first(
      is(service.get("/v1/products?cursor=doctor"), expected),
      next_cursor == null
        ? null
        : is(service.get(`/v1/products?cursor=${encodeURIComponent(next_cursor)}`), expected),
    );
  }),
  ...never("it is a rule of the client", "An unknown value in a closed set."),
  write("An empty Idempotency-Key.", (service) =>
    is(service.write("POST", "/v1/products", mistaken(service, {}), ""), invalid("Idempotency-Key")),
  ),
  write("Whether the query is part of the path, and how bodies are compared.", async (service) => {
    const key = service.newKey();
    const expected = { status: 422, code: "idempotency_key_reused" };
    const contentType = "application/json";
    await service.write("POST", "/v1/products", { contentType, bytes: Buffer.from("{}") }, key);
    return first(
      is(service.write("POST", "/v1/products?a=1", { contentType, bytes: Buffer.from("{}") }, key), expected),
      is(service.write("POST", "/v1/products", { contentType, bytes: Buffer.from("{ }") }, key), expected),
    );
  }),
  write("4xx responses that are not stored.", async (service) => {
    const key = service.newKey();
    await service.write("POST", "/v1/doctor", null, key);
    const again = await service.write("POST", "/v1/doctor", null, key);
    return again.header("idempotent-replayed") === undefined
      ? null
      : "a 404 for a path is replayed; assumed: it is not stored";
  }),
  read("Requests that count against the rate limit.", async (service) => {
    const remaining = async (path: string) =>
      Number((await service.get(path)).header("x-ratelimit-remaining"));
    // Other clients of the organization count too, so that one of three tries is enough.
    let seen = "";
    for (let attempt = 0; attempt < 3; attempt++) {
      const [one, two] = [await remaining("/v1/models?limit=1"), await remaining("/v1/models?limit=1")];
      if (!(two < one)) throw new NotAsked("the service counts no requests");
      await service.get("/v1/doctor");
      const counted = two - (await remaining(`/v1/products/${noId}`));
      if (counted === 1) return null;
      seen = `an unknown path and a missing product count ${counted}; assumed: 1`;
    }
    return seen;
  }),
  read("An unknown path, and a known path with another method.", (service) =>
    is(service.get("/v1/doctor"), { status: 404, code: "route_not_found" }),
  ),
  read("A URL or headers that are too long.", (service) =>
    first(
      is(service.get(`/v1/products?q=${"q".repeat(9_000)}`), { status: 414 }),
      is(service.get("/v1/models?limit=1", { "x-doctor": "x".repeat(33_000) }), { status: 431 }),
    ),
  ),
  ...never(
    "it needs a connection that breaks the rules of HTTP",
    "A client that is too slow.",
    "A response sent before the request body has arrived.",
    "Bytes that are not HTTP.",
  ),
  ...never("the storage of the service decides", "Requests to signed URLs."),
  read("Malformed requests.", (service) => is(service.get("/v1/products?limit=doctor"), invalid("limit"))),
  write("Unsupported methods.", async (service) => {
    const reply = await service.write("PUT", "/v1/models", null);
    return first(
      differenceOf(reply, { status: 405, code: "method_not_allowed" }),
      reply.header("allow") === undefined ? "405 without Allow; assumed: with Allow" : null,
    );
  }),
  ...never(
    "it is about states of the mock",
    "Jobs that are overdue when a state is loaded, or after the machine has slept.",
    "Edited states.",
  ),
  write("The type for 413, 415 and 422.", (service) =>
    is(service.write("POST", "/v1/products", { contentType: "text/plain", bytes: Buffer.from("doctor") }), {
      status: 415,
      type: "invalid_request",
    }),
  ),
  ...never("it needs keys with other scopes", "The scope of each endpoint."),
  ...never("the page lists them one by one", "Codes that the specification does not show, and their types."),
  ...never("no request leads to it", "The type not_implemented."),
];
