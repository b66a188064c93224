import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { quoted, reasonsFor, toCurl } from "../../../src/mock-page/app/describe.ts";
import type { RequestDetail } from "../../../src/mock-page/data.ts";
import { longTest } from "../../support/long-test.ts";

/** A request as the page gets it. */
function detail(
  row: Partial<RequestDetail["row"]>,
  request: Partial<RequestDetail["request"]> = {},
): RequestDetail {
  return {
    row: {
      number: 2,
      at: "2026-01-05T09:00:00.000Z",
      method: "GET",
      path: "/v1/products",
      status: 200,
      isOver: true,
      duration_ms: 1,
      key: "ak_mock",
      idempotency_key: null,
      replayed: false,
      faults: [],
      code: null,
      ...row,
    },
    request: { path: "/v1/products", request_id: "req_1", headers: {}, ...request },
    first: null,
    faults: [],
  };
}

/** A body of text, as it is kept. */
const text = (content: string) => ({ content, encoding: "utf8" as const, bytes: Buffer.byteLength(content) });

describe("a curl command", () => {
  longTest("a shell reads each word as it was, whatever it contains", () => {
    const words = fc.array(
      fc.string({ unit: "binary" }).filter((word) => !word.includes("\0")),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(words, (given) => {
        const command = `printf '%s\\0' ${given.map(quoted).join(" ")}`;
        const printed = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" });
        expect(printed).toBe(given.map((word) => `${word}\0`).join(""));
      }),
      { numRuns: 40 },
    );
  });

  longTest.each([
    [detail({}), "curl -H 'Authorization: Bearer ak_mock' http://m/v1/products"],
    [detail({ key: "***" }), `curl -H "Authorization: Bearer $CAT_API_KEY" http://m/v1/products`],
    [
      detail(
        { key: null, method: "POST" },
        { headers: { host: "m", "x-a": "", "x-b": "1" }, body: text("@a") },
      ),
      "curl -X POST -H 'x-a;' -H 'x-b: 1' --data-raw @a http://m/v1/products",
    ],
    [
      detail({ key: null }, { path: "/v1/[a]/../{b}" }),
      "curl --globoff --path-as-is 'http://m/v1/[a]/../{b}'",
    ],
    [
      detail({ key: null, method: "POST" }, { body: { content: "AAA=", encoding: "base64", bytes: 2 } }),
      "# Save the body of 2 bytes as BODY first.\ncurl -X POST --data-binary @BODY http://m/v1/products",
    ],
  ])("of a request: %#", (request, command) => {
    expect(toCurl(request, "http://m")).toBe(command);
  });
});

describe("the reasons for a response", () => {
  const response = (body: object) => ({ headers: {}, body: text(JSON.stringify(body)) });

  longTest("are every problem of an import, up to ten", () => {
    const errors = Array.from({ length: 12 }, (_, at) => ({
      line: at + 1,
      param: "name",
      message: "is missing",
    }));
    const reasons = reasonsFor(detail({ status: 400 }, { response: response({ errors }) }));
    expect([reasons[0], reasons.length, reasons.at(-1)]).toEqual([
      "line 1, name: is missing",
      11,
      "2 more problems are in the response.",
    ]);
  });

  longTest("name the input of a try-on, a client that left, and a first request that is gone", () => {
    const errors = [{ input_index: 3, param: "model_id", message: "model not found" }];
    expect(reasonsFor(detail({ status: 400 }, { response: response({ errors }) }))).toEqual([
      "input 3, model_id: model not found",
    ]);
    expect(reasonsFor(detail({ status: null }))).toEqual([
      "The client closed the connection before the response.",
    ]);
    expect(reasonsFor(detail({ replayed: true, idempotency_key: "k" }))).toEqual([
      "The stored response of its idempotency key was replayed. The log no longer has the first request.",
    ]);
    expect(reasonsFor(detail({}))).toEqual([]);
  });

  longTest("describe any fault, also one that was removed", () => {
    const faults = [
      { id: 1, match: { method: "GET" }, status: 503, body: "<html>", times: 2, probability: 0.5 },
      { id: 2, match: { job: "task" }, fail: { code: "model_unsafe_content", message: "m" } },
      { id: 3 },
    ];
    expect(reasonsFor({ ...detail({ status: 503, faults: [1, 2, 3] }), faults })).toEqual([
      "Fault 1 acted: GET: status 503, body <html>, 2 times, 50 % of the time.",
      "Fault 2 acted: task jobs: fails with model_unsafe_content.",
      "Fault 3 acted. It was removed.",
    ]);
  });
});
