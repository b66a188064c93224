import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { until } from "../../support/until.ts";
import { refusal, startWorld } from "../world.ts";

/** A mock with helpers: set a fault, create a product with an idempotency key. */
async function faultyWorld() {
  const world = await startWorld();
  const image = await world.imageId();
  const order = async (fault: object) => {
    const { status, body } = await world.send("/_mock/faults", { json: fault, key: null });
    expect(status).toBe(200);
    return body;
  };
  const create = (reference: string, key = "k") =>
    world.send("/v1/products", {
      json: { name: "N", reference, images: [{ image_id: image, orientation: "front" }] },
      headers: { "idempotency-key": key },
    });
  const references = () => world.mock.state().organizations.main.products.map(({ reference }) => reference);
  return { ...world, order, create, references };
}

/** A list with this many levels of lists. */
const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

const gateway = "<html><body><h1>502 Bad Gateway</h1></body></html>";

describe("a fault with a body", () => {
  test("answers like a gateway: its HTML and headers, without those of the service", async () => {
    const { order, send } = await faultyWorld();
    await order({
      match: { path: "/v1/models" },
      times: 1,
      status: 502,
      headers: {
        "Content-Type": "text/html",
        Server: "nginx",
        "X-Request-Id": null,
        "x-ratelimit-limit": "7",
      },
      body: gateway,
    });
    const got = await send("/v1/models");
    expect([got.status, got.body]).toEqual([502, gateway]);
    const shown = ["content-type", "server", "x-request-id", "x-ratelimit-limit", "content-length"];
    expect(shown.map((name) => got.headers.get(name))).toEqual([
      "text/html",
      "nginx",
      null,
      "7",
      String(gateway.length),
    ]);
    expect((await send("/v1/models")).status).toBe(200);
  });

  test.each<[string, object, [number, unknown, string | null]]>([
    ["text", { status: 503, body: "busy ü" }, [503, "busy ü", "text/plain; charset=utf-8"]],
    ["an empty text", { status: 500, body: "" }, [500, "", "text/plain; charset=utf-8"]],
    ["JSON", { status: 200, body: { data: [] } }, [200, { data: [] }, "application/json; charset=utf-8"]],
    ["99 levels", { status: 200, body: nested(99) }, [200, nested(99), "application/json; charset=utf-8"]],
    ["null as JSON", { status: 200, body: null }, [200, null, "application/json; charset=utf-8"]],
    ["nothing below 400", { status: 200 }, [200, "", null]],
    [
      "a redirect",
      { status: 307, headers: { Location: "/login", "content-type": null }, body: "moved" },
      [307, "moved", null],
    ],
    ["no content", { status: 204 }, [204, "", null]],
  ])("can be %s", async (_name, fault, expected) => {
    const { order, mock } = await faultyWorld();
    await order({ match: { method: "GET" }, ...fault });
    const response = await fetch(`${mock.baseUrl}/v1/models`, {
      headers: { authorization: "Bearer ak_mock" },
      redirect: "manual",
    });
    const text = await response.text();
    const type = response.headers.get("content-type");
    const body = type?.startsWith("application/json") ? JSON.parse(text) : text;
    expect([response.status, body, type]).toEqual(expected);
    expect(response.headers.get("location")).toBe(
      "status" in fault && fault.status === 307 ? "/login" : null,
    );
  });

  test("without one, headers are added to the envelope", async () => {
    const { order, send } = await faultyWorld();
    await order({ match: {}, times: 1, status: 429, headers: { "Retry-After": "9", Via: "cache" } });
    const got = await send("/v1/models");
    expect([got.status, got.body]).toEqual([429, refusal("rate_limited", "rate_limit_exceeded")]);
    expect([got.headers.get("retry-after"), got.headers.get("via")]).toEqual(["9", "cache"]);
    await order({ match: {}, times: 1, status: 429, headers: { Via: "cache" } });
    expect((await send("/v1/models")).headers.get("retry-after")).toBe("1");
  });

  test("applies to signed files too", async () => {
    const { order, send, imageId } = await faultyWorld();
    const { url } = (await send(`/v1/images/${await imageId()}`)).body;
    await order({ match: { path: "/_signed" }, status: 403, body: "<Error>AccessDenied</Error>" });
    expect([(await send(url)).status, (await send(url)).body]).toEqual([403, "<Error>AccessDenied</Error>"]);
  });

  test("as an envelope of the service, a 4xx is stored for the key with its headers, also in a saved state", async () => {
    const { order, create, send, mock, references } = await faultyWorld();
    const body = { error: { type: "conflict", code: "catalogue_locked", message: "locked" } };
    await order({ match: { method: "POST" }, times: 1, status: 409, headers: { "X-Lock": "1" }, body });
    const outcome = async () => {
      const got = await create("A");
      const headers = ["x-lock", "idempotent-replayed", "content-type"].map((name) => got.headers.get(name));
      return [got.status, got.body, ...headers];
    };
    const type = "application/json; charset=utf-8";
    expect(await outcome()).toEqual([409, body, "1", null, type]);
    const replay = [409, body, "1", "true", type];
    expect(await outcome()).toEqual(replay);
    const state = JSON.stringify(mock.state());
    await send("/_mock/reset", { method: "POST", key: null });
    await send("/_mock/state", { method: "PUT", body: state, key: null });
    expect(await outcome()).toEqual(replay);
    expect(references()).toEqual([]);
  });

  test.each<[string, object]>([
    ["a page of a gateway", { status: 403, body: gateway }],
    ["another JSON", { status: 409, body: { message: "no" } }],
    ["a success that never happened", { status: 201, body: { id: "x" } }],
    ["a 5xx envelope", { status: 500, body: { error: { type: "internal", code: "x", message: "y" } } }],
  ])("as %s releases the idempotency key", async (_name, fault) => {
    const { order, create, references } = await faultyWorld();
    await order({ match: { method: "POST" }, times: 1, ...fault });
    const first = await create("A");
    expect(first.body).not.toMatchObject({ reference: "A" });
    const second = await create("A");
    expect([second.status, second.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect(references()).toEqual(["A"]);
  });
});

describe("several faults", () => {
  test("act in order: delays add up, answers follow each other", async () => {
    const { order, send, clock, mock } = await faultyWorld();
    await order({ match: {}, delay_ms: 1_000 });
    await order({ match: {}, times: 1, status: 502, body: gateway });
    await order({ match: { path: "/v1/models" }, delay_ms: 500 });
    await order({ match: {}, times: 1, status: 503 });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) {
      const seen = mock.requests().length;
      const held = send("/v1/models");
      await until(() => mock.requests().length > seen && clock.nextDue() !== null);
      expect(clock.nextDue()! - clock.now()).toBe(1_500);
      clock.advance(1_500);
      statuses.push((await held).status);
    }
    expect(statuses).toEqual([502, 503, 200]);
  });

  longTest("with probabilities: each acts about as often as it says, and never more than times", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0.1, 0.5, 0.9),
        fc.integer({ min: 1, max: 20 }),
        async (probability, times) => {
          const { order, send, mock } = await faultyWorld();
          await order({ match: {}, probability, times, status: 200, body: "played" });
          let played = 0;
          for (let n = 0; n < 30; n++) if ((await send("/v1/models?limit=1")).body === "played") played++;
          expect(played).toBeLessThanOrEqual(times);
          expect(played).toBe((await send("/_mock/faults", { key: null })).body[0].acted);
          if (probability === 0.9) expect(played).toBeGreaterThanOrEqual(Math.min(times, 20));
          await mock.stop();
        },
      ),
      { numRuns: 4 },
    );
  });
});

describe("a drop like a crash", () => {
  test("does the work, keeps the key in use for five minutes, then does it again", async () => {
    const { order, create, clock, references, send, mock } = await faultyWorld();
    await order({ match: { method: "POST" }, times: 1, drop: "crash" });
    await expect(create("A")).rejects.toThrow("fetch failed");
    expect(references()).toEqual(["A"]);
    expect((await create("A")).body).toEqual(refusal("conflict", "request_in_progress"));
    clock.advance(299_999);
    // A saved state has the key too.
    await send("/_mock/state", { method: "PUT", body: JSON.stringify(mock.state()), key: null });
    expect((await create("A")).body).toEqual(refusal("conflict", "request_in_progress"));
    clock.advance(1);
    const again = await create("A");
    expect(again.body).toEqual(refusal("conflict", "reference_already_exists", "reference"));
    expect(again.headers.get("idempotent-replayed")).toBeNull();
  });
});

describe("a fault with mistakes", () => {
  const problemsOf = async (fault: unknown) => {
    const { send } = await startWorld();
    const got = await send("/_mock/faults", { json: fault, key: null });
    expect((await send("/_mock/faults", { key: null })).body).toEqual([]);
    return got;
  };

  test("is rejected if it names a header in upper and in lower case", async () => {
    const got = await problemsOf({ match: {}, status: 500, headers: { Via: "a", via: "b" } });
    expect([got.status, got.body.error.param, got.body.error.message]).toEqual([
      400,
      "headers",
      "headers: must name each header once; upper and lower case are the same",
    ]);
  });

  test("is rejected with every problem at once", async () => {
    const got = await problemsOf({
      match: { method: "FETCH", path: "v1", job: "task" },
      times: 0,
      probability: 2,
      status: 99,
      drop: "during",
      headers: { "Content-Length": "1", "a b": "x", Fine: "a\nb" },
      more: true,
    });
    expect(got.status).toBe(400);
    const problems = [
      ["match.method", "match.method: must be one of GET, HEAD, POST, PATCH, DELETE"],
      ["match.path", "match.path: must begin with /"],
      ["times", "times: must be at least 1"],
      ["probability", "probability: must be at most 1"],
      ["status", "status: must be at least 200"],
      [
        "headers.Content-Length",
        "headers.Content-Length: is set by the mock; truncate sends a part of a body",
      ],
      ["headers.a b", "headers.a b: must be a header name"],
      ["headers.Fine", "headers.Fine: must be Latin-1 text without line breaks"],
      ["drop", "drop: must be one of before, after, crash"],
      ["more", "unknown field more"],
      ["match.method", "match.method: cannot be combined with match.job"],
      ["match.path", "match.path: cannot be combined with match.job"],
      [undefined, "a fault needs exactly one of fail"],
    ];
    expect(
      got.body.errors.map((one: { param: string; message: string }) => [one.param, one.message]),
    ).toEqual(problems);
    expect(got.body.error).toEqual({
      type: "invalid_request",
      code: "invalid_request",
      message: `${problems
        .slice(0, 10)
        .map(([, message]) => message)
        .join("; ")}; and 3 more`,
      param: "match.method",
    });
  });

  test.each<[string, object, string[]]>([
    [
      "headers without a status",
      { match: {}, drop: "after", headers: { A: "b" } },
      ["headers: needs a status"],
    ],
    [
      "a body without a status",
      { match: {}, body: "x" },
      ["a fault needs exactly one of status, delay_ms, drop, truncate", "body: needs a status"],
    ],
    [
      "a body with 204",
      { match: {}, status: 204, body: "x" },
      ["body: a response with status 204 has no body"],
    ],
    ["headers as a list", { match: {}, status: 500, headers: ["A"] }, ["headers: must be an object"]],
    ["a header as a number", { match: {}, status: 500, headers: { A: 1 } }, ["headers.A: must be text"]],
  ])("such as %s", async (_name, fault, messages) => {
    const { status, body } = await problemsOf(fault);
    expect([status, body.errors.map(({ message }: { message: string }) => message)]).toEqual([400, messages]);
  });
});
