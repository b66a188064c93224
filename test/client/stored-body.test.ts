import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import type { AnyOperation, Input } from "../../src/client/request.ts";
import { type ClientOperation, operations } from "../../src/contract/client-operations.ts";
import type { Operations } from "../../src/contract/operations.ts";
import { json, refusal, reset } from "../http/scripted-server.ts";
import { clientAgainst, closeAll } from "./world.ts";

afterEach(closeAll);

/**
 * JSON that no serializer would print like this: order, spaces, escapes, duplicates, a number's form and a
 * line end.
 */
const odd = Buffer.from(
  '\r\n { "inputs" :\t[ {"look_at_camera":true , "background":"\\u0023F4F1ea","note":"é\\u00e9 😀\u2028"} ], "n":1.0e0, "n":2 }\n\n',
);

const withJson = Object.entries(operations).flatMap(([resource, verbs]) =>
  Object.entries(verbs as Record<string, ClientOperation<AnyOperation>>).flatMap(([verb, operation]) => {
    const type = operation.body.find((one) => /[/+]json$/.test(one));
    return type === undefined ? [] : [{ name: `${resource}.${verb}`, operation, type }];
  }),
);

describe("stored bytes of a JSON body", () => {
  test("exist for every operation that takes JSON", () => {
    expect(withJson.map(({ name }) => name).sort()).toEqual([
      "exports.create",
      "imports.create",
      "products.attach",
      "products.create",
      "products.update",
      "tasks.beautify",
      "tasks.tryon",
      "webhooks.create",
      "webhooks.update",
    ]);
  });

  test.each(withJson)("are sent unchanged by $name as $type", async ({ operation, type }) => {
    const { client, server } = await clientAgainst([refusal(404, "not_found")]);
    const params = { product_id: "P", webhook_id: "W" };
    for (const body of [odd, odd.toString()]) {
      await client
        .exchange(operation, { ...params, json: body } as never, { idempotencyKey: "k-1" })
        .catch(() => {});
    }
    expect(server.requests).toHaveLength(2);
    for (const seen of server.requests) {
      expect(seen.body.equals(odd)).toBe(true);
      expect(seen.headers).toMatchObject({
        "content-type": type,
        "content-length": String(odd.length),
        "idempotency-key": "k-1",
      });
    }
  });

  test("are sent again byte for byte, with the same key, when the connection breaks", async () => {
    const { client, server } = await clientAgainst([reset, json(202, { tasks: [] })]);
    expect(await client.tasks.tryon({ json: odd }, { idempotencyKey: "k-2" })).toEqual({ tasks: [] });
    expect(
      server.requests.map(({ body, headers }) => [body.equals(odd), headers["idempotency-key"]]),
    ).toEqual([
      [true, "k-2"],
      [true, "k-2"],
    ]);
  });

  test("that are a view into a larger buffer are sent without the rest of it", async () => {
    const { client, server } = await clientAgainst([json(202, { tasks: [] })]);
    const view = new Uint8Array(Buffer.from('xx{"a" : 1}yy')).subarray(2, -2);
    await client.tasks.tryon({ json: view });
    expect(server.requests.map((seen) => seen.body.toString())).toEqual(['{"a" : 1}']);
  });

  test("are typed as an alternative to the body, not in addition to it", () => {
    expectTypeOf<{ json: Uint8Array }>().toExtend<Input<Operations["tasks"]["tryon"]>>();
    expectTypeOf<{ product_id: string; json: string }>().toExtend<Input<Operations["products"]["update"]>>();
    const misuse = (client: Client) => {
      // @ts-expect-error one body, not two
      void client.tasks.tryon({ json: odd, body: { inputs: [] } });
      // @ts-expect-error an upload has no JSON body
      void client.images.upload({ json: odd });
      // @ts-expect-error a GET has no body
      void client.products.list({ json: odd });
      // @ts-expect-error the path parameter is required
      void client.products.update({ json: odd });
    };
    expect(misuse).toBeTypeOf("function");
  });
});
