import fc from "fast-check";
import { expect, test } from "vitest";
import { repetitions } from "../../support/repetitions.ts";
import { startWorld } from "../world.ts";

/** Any request fault with a limited number of times, so that a client that keeps retrying succeeds. */
const requestFault = fc
  .record(
    {
      match: fc.record(
        {
          method: fc.constantFrom("GET", "POST", "post", "DELETE"),
          path: fc.constantFrom("/", "/v1", "/v1/products", "/v1/images", "/_signed"),
        },
        { requiredKeys: [] },
      ),
      times: fc.integer({ min: 1, max: 3 }),
      probability: fc.double({ min: 0, max: 1, noNaN: true }),
      effect: fc.oneof(
        // Not 407: `fetch` hides it as a proxy response.
        fc.record({ status: fc.integer({ min: 400, max: 599 }).filter((status) => status !== 407) }),
        fc.record({ delay_ms: fc.integer({ min: 0, max: 10_000 }) }),
        fc.record({ drop: fc.constantFrom("before", "after") }),
        fc.record({ truncate: fc.integer({ min: 0, max: 300 }) }),
      ),
    },
    { requiredKeys: ["match", "times", "effect"] },
  )
  .map(({ effect, ...fault }) => ({ ...fault, ...effect }));

/**
 * Whether a careful client would stop retrying: the response is complete, and a retry could not change it.
 */
interface Outcome {
  readonly status: number;
  readonly id?: string;
}

test("a client that retries with one key gets its request done once or rejected, whatever fails", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(requestFault, { maxLength: 8 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 0, max: 1_000 }),
      async (faults, count, seed) => {
        const { mock, clock, send, imageId } = await startWorld({ seed });
        const image = await imageId();
        for (const fault of faults) {
          expect((await send("/_mock/faults", { json: fault, key: null })).status).toBe(200);
        }

        /** Delays depend on the clock, so keep moving it while a request is in flight. */
        const moving = async <T>(work: Promise<T>): Promise<T> => {
          let isOver = false;
          const over = () => {
            isOver = true;
          };
          work.then(over, over);
          while (!isOver) {
            await new Promise((resolve) => setImmediate(resolve));
            clock.advance(1_000);
          }
          return work;
        };
        async function create(reference: string): Promise<Outcome> {
          const json = { name: "N", reference, images: [{ image_id: image, orientation: "front" }] };
          for (let attempt = 0; attempt < 50; attempt++) {
            try {
              const { status, body } = await moving(
                send("/v1/products", { json, headers: { "idempotency-key": `key of ${reference}` } }),
              );
              const isOpen = status >= 500 || status === 429 || body.error?.code === "request_in_progress";
              if (!isOpen) return { status, id: body.id };
            } catch {
              // The connection or the response was cut: the outcome is unknown.
            }
          }
          throw new Error("it never came through");
        }

        const references = Array.from({ length: count }, (_, at) => `R${at}`);
        const outcomes = await Promise.all(references.map(create));
        const { products } = mock.state().organizations.main;
        for (const [at, { status, id }] of outcomes.entries()) {
          const mine = products.filter(({ reference }) => reference === `R${at}`);
          if (status === 201) expect(mine.map((product) => product.id)).toEqual([id]);
          else expect(mine).toEqual([]);
          // Every rejection comes from a fault: the mock itself had no reason to reject.
          if (status !== 201)
            expect(faults.some((fault) => "status" in fault && fault.status === status)).toBe(true);
        }
        expect(products).toHaveLength(outcomes.filter(({ status }) => status === 201).length);

        await send("/_mock/faults", { method: "DELETE", key: null });
        const listed = (await send("/v1/products?limit=100")).body.data;
        expect(listed).toHaveLength(products.length);
      },
    ),
    { numRuns: repetitions(5, 200) },
  );
});

test("the same seed, faults and requests give the same responses, with the same IDs as without faults", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc
          .record({
            probability: fc.double({ min: 0, max: 1, noNaN: true }),
            status: fc.constantFrom(500, 503, 429),
          })
          .map((fault) => ({ match: { method: "GET" }, ...fault })),
        { maxLength: 4 },
      ),
      fc.integer({ min: 0, max: 1_000 }),
      async (faults, seed) => {
        const responses = async (withFaults: boolean) => {
          const { mock, send, createProduct } = await startWorld({ seed });
          if (withFaults) for (const fault of faults) await send("/_mock/faults", { json: fault, key: null });
          const statuses = [];
          for (let n = 0; n < 10; n++) statuses.push((await send("/v1/models")).status);
          await createProduct();
          const { secret, ids, organizations } = mock.state();
          await mock.stop();
          return { statuses, state: JSON.stringify({ secret, ids, organizations }) };
        };
        const [one, two, without] = [await responses(true), await responses(true), await responses(false)];
        expect(one).toEqual(two);
        expect(one.state).toBe(without.state);
      },
    ),
    { numRuns: repetitions(3, 60) },
  );
});

test("any fault definition is accepted or rejected with 400, and the mock keeps working", async () => {
  const { send } = await startWorld();
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(
      0,
      1,
      -1,
      400,
      500,
      599,
      600,
      1e21,
      2 ** 53,
      "",
      "before",
      "GET",
      "/",
      "/v1",
      "task",
      "import",
    ),
  );
  const part = fc.dictionary(
    fc.constantFrom("method", "path", "job", "code", "message", "__proto__"),
    value,
    {
      maxKeys: 3,
    },
  );
  const names = ["match", "times", "probability", "status", "delay_ms", "drop", "truncate", "fail", "x"];
  const order = fc.dictionary(fc.constantFrom(...names), fc.oneof(value, part), { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.string(),
        order.map((one) => JSON.stringify(one)),
      ),
      async (body) => {
        const got = await send("/_mock/faults", { method: "POST", body, key: null });
        expect([200, 400]).toContain(got.status);
        if (got.status === 400) expect(got.body.error.code).toBe("invalid_request");
        const listed = await send("/_mock/faults", { key: null });
        expect(listed.body).toHaveLength(got.status === 200 ? 1 : 0);
        await send("/_mock/faults", { method: "DELETE", key: null });
        expect((await send("/v1/models?limit=1")).status).toBe(200);
      },
    ),
    { numRuns: repetitions(25, 1_000) },
  );
});
