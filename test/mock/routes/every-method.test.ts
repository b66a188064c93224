import { METHODS, request } from "node:http";
import { describe, expect, test } from "vitest";
import { everyOperation } from "../../../src/contract/operations.ts";
import { sampled } from "../../support/repetitions.ts";
import { portOf } from "../raw.ts";
import { startWorld } from "../world.ts";

const bodies: readonly (readonly [headers: Record<string, string>, body: string])[] = [
  [{}, ""],
  [{ "Content-Type": "application/json", "Content-Length": "2" }, "{}"],
  [{ "Content-Type": "nonsense", "Content-Length": "2" }, "{}"],
];
/** An unknown path, and known ones. */
const paths = [
  "/v1/nothing",
  "/v1/products",
  "/v1/products?limit=1",
  "/v1/exports",
  "/openapi.json",
  "/_mock/account",
];

async function ask(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const sent = request(
        {
          port,
          host: "127.0.0.1",
          method,
          path,
          headers: { ...headers, Authorization: "Bearer ak_mock" },
          agent: false,
        },
        (response) => {
          let text = "";
          response.on("data", (chunk) => {
            text += chunk;
          });
          response.on("end", () =>
            resolve({ status: response.statusCode!, headers: response.headers, text }),
          );
        },
      );
      sent.on("error", reject);
      sent.end(body);
    },
  );
}

describe("every method known to Node's parser gets the envelope and every header", () => {
  // CONNECT has no path; odd-requests.test.ts covers it.
  test.each(
    sampled(
      METHODS.filter((method) => method !== "CONNECT"),
      8,
    ),
  )("%s", async (method) => {
    const { mock } = await startWorld();
    const port = portOf(mock.baseUrl);
    for (const path of paths) {
      const [plain] = path.split("?");
      const known = everyOperation.some(
        ({ operation }) => operation.path === plain && operation.method === method,
      );
      if (known || (method !== "PUT" && /^(?:GET|HEAD|POST|OPTIONS)$/.test(method))) continue;
      for (const [headers, body] of bodies) {
        const got = await ask(port, method, path, headers, body);
        const code = path === "/v1/nothing" ? "route_not_found" : "method_not_allowed";
        expect([path, got.status, JSON.parse(got.text)]).toEqual([
          path,
          code === "route_not_found" ? 404 : 405,
          { error: { type: expect.any(String), code, message: expect.any(String) } },
        ]);
        expect(got.headers).toMatchObject({
          "x-request-id": expect.stringMatching(/./),
          "x-ratelimit-limit": expect.stringMatching(/^\d+$/),
          "x-ratelimit-remaining": expect.stringMatching(/^\d+$/),
          "x-ratelimit-reset": expect.stringMatching(/^\d+$/),
          ...(code === "method_not_allowed" && { allow: expect.stringMatching(/^[A-Z, ]+$/) }),
        });
      }
    }
  });

  test("a method unknown to the router is logged, and rejected for a path that cannot be decoded", async () => {
    const { mock, send } = await startWorld();
    const port = portOf(mock.baseUrl);
    // Only newer versions of Node know QUERY; all know PROPFIND.
    const method = METHODS.includes("QUERY") ? "QUERY" : "PROPFIND";
    await ask(port, method, "/v1/products", {}, "");
    expect(mock.requests()).toMatchObject([{ method, path: "/v1/products", status: 405 }]);
    const odd = await ask(port, method, "/v1/products/%zz", {}, "");
    expect([odd.status, JSON.parse(odd.text).error.code]).toEqual([400, "invalid_request"]);
    expect((await send("/v1/products")).status).toBe(200);
  });
});
