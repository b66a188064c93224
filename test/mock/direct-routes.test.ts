import { afterAll, beforeAll, expect, test } from "vitest";
import { MovableClock } from "../../src/clock.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import { type Mock, startMock } from "../../src/mock/index.ts";
import { monday } from "./world.ts";

let mock: Mock;
beforeAll(async () => {
  const clock = new MovableClock({ frozenAt: monday });
  mock = await startMock({ seed: 1, demo: 3, rateLimit: false, clock });
});
afterAll(() => mock.stop());

const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** Plain paths skip the router; an encoded letter or a query does not. Both must behave the same. */
test.each(
  everyOperation.map(({ operation }) => [`${operation.method} ${operation.path}`, operation] as const),
)("%s responds the same with and without the router", async (_name, { method, path }) => {
  const plain = path.replaceAll(/\{\w+\}/g, unknown);
  const encoded = plain.replace(
    /^\/v1\/(.)/,
    (_start, letter) => `/v1/%${letter.charCodeAt(0).toString(16)}`,
  );
  const ask = async (url: string) => {
    const headers = { authorization: "Bearer ak_mock", "x-request-id": "same" };
    const answer = await fetch(mock.baseUrl + url, { method, headers });
    // An export needs no body, so each of these requests creates its own job.
    const body = (await answer.text()).replaceAll(/[0-9A-Z]{26}|signature=[0-9a-f]{64}/g, "its own");
    return { status: answer.status, body };
  };
  const direct = await ask(plain);
  expect(direct.body).not.toContain("route_not_found");
  expect(await ask(encoded)).toEqual(direct);
  expect(await ask(`${plain}?`)).toEqual(direct);
});

test("an unknown path gets 404 with and without the router", async () => {
  for (const path of [
    "/v1/products/a/b",

    "/v1//products",
    "/v1/product",
    "/v1/product%73/a/b",
  ]) {
    const answer = await fetch(mock.baseUrl + path, { headers: { authorization: "Bearer ak_mock" } });
    expect([path, answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      path,
      404,
      "route_not_found",
    ]);
  }
});
