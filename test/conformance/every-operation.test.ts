import { describe, expect, test } from "vitest";
import { type ErrorCode, errorCodes } from "../../src/contract/error-codes.ts";
import { listRejections, type Operation } from "../../src/contract/operation.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import { ErrorEnvelope } from "../../src/contract/resources/errors.ts";
import { type Got, row, startWorld } from "../mock/world.ts";
import { undocumented } from "./documented.ts";
import { exactly } from "./exact-schema.ts";
import { type Input, validInputs, type World } from "./inputs.ts";
import { afresh, canRefuse, ways } from "./refusals.ts";

/** Codes that only a fault can trigger. */
const outOfReach = new Set(["internal_error", "upstream_unavailable", "not_implemented"]);

const exactEnvelope = exactly(ErrorEnvelope);

/**
 * Checks a response against the contract and the OpenAPI document: declared status, exact body, required
 * headers.
 */
function hold(operation: Operation, got: Got): void {
  const { status, body, headers } = got;
  expect(undocumented(operation, got)).toEqual([]);
  expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  for (const name of ["limit", "remaining", "reset"]) {
    expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  }
  if (status === operation.status) {
    expect(operation.reply === null ? body : exactly(operation.reply)(body)).toEqual(
      operation.reply === null ? "" : [],
    );
    return;
  }
  const declared = listRejections(operation).get(status);
  expect(declared, `${operation.method} ${operation.path} answered ${status}`).toBeDefined();
  if (operation.rejectionList !== undefined && body.errors !== undefined) {
    expect([status, exactly(operation.rejectionList)(body)]).toEqual([400, []]);
    return;
  }
  expect(exactEnvelope(body)).toEqual([]);
  const { code, type } = body.error as { code: ErrorCode; type: string };
  expect(declared).toContain(code);
  expect({ status, type }).toEqual(errorCodes[code]);
}

const sendTo = (world: World, input: Input) => world.send(...afresh(input));

describe.each(everyOperation.map(({ name, operation }) => [name, operation] as const))(
  "%s",
  (name, operation) => {
    test("accepts a valid request", async () => {
      const world = await startWorld({ demo: 3 });
      const got = await sendTo(world, await validInputs[name]!(world));
      hold(operation, got);
      expect(got.status).toBe(operation.status);
    });

    const refusals = [...listRejections(operation)]
      .flatMap(([status, codes]) => codes.map((code) => [status, code] as const))
      // request_in_progress has a separate test below.
      .filter(([, code]) => !outOfReach.has(code) && code !== "request_in_progress")
      .filter(([, code]) => canRefuse(operation, code));
    test.each(refusals)("rejects with %d %s", async (status, code) => {
      const world = await startWorld({ rateLimit: { reads: 8, writes: 8 } });
      const input = await ways[code]!(world, operation, name);
      const got = await sendTo(world, input);
      hold(operation, got);
      expect([got.status, got.body.error.code]).toEqual([status, code]);
      if (status === 429) expect(got.headers.get("retry-after")).toBe("60");
    });

    // GET is never tracked (Cross-cutting rule 1).
    if (operation.method === "GET") return;
    test("rejects a second request while the first runs", async () => {
      const world = await startWorld({ latencyMs: 0 });
      const input = await validInputs[name]!(world);
      const slow = await startWorld({ latencyMs: 1_000 });
      const [path, send] = afresh(input);
      const headers = { ...send?.headers, "idempotency-key": "k" };
      // A form has a new boundary each time, but the bytes must be the same.
      const same =
        send?.body instanceof FormData
          ? {
              method: "POST",
              body: "x",
              headers: { ...headers, "content-type": "multipart/form-data; boundary=b" },
            }
          : { ...send, headers };
      const first = slow.send(path, same);
      while (slow.clock.nextDue() === null) await new Promise((resolve) => setImmediate(resolve));
      const second = await slow.send(path, same);
      hold(operation, second);
      expect([second.status, second.body.error.code]).toEqual([409, "request_in_progress"]);
      slow.clock.advance(1_000);
      hold(operation, await first);
    });
  },
);

test("every operation has an input, and every input an operation", () => {
  expect(Object.keys(validInputs).sort()).toEqual(everyOperation.map(({ name }) => name).sort());
});

test("every error code can be triggered, except those that need a fault", () => {
  const without = everyOperation
    .flatMap(({ operation }) => [...listRejections(operation).values()].flat())
    .filter((code) => ways[code] === undefined && code !== "request_in_progress");
  expect(new Set(without)).toEqual(outOfReach);
});

test("an import, its rows and its errors match the contract exactly at every moment", async () => {
  const world = await startWorld();
  const { imports } = (await import("../../src/contract/operations.ts")).operations;
  const images = [
    { url: "https://cdn.example.com/1.webp", orientation: "detail" },
    { url: "https://cdn.example.com/fail-timeout.jpg" },
    { image_id: await world.imageId() },
  ];
  const created = await world.importRows([
    row("A", { images }),
    row("B"),
    row("C", { images: images.slice(1, 2) }),
  ]);
  hold(imports.create, created);
  for (let step = 0; step < 60; step++) {
    const job = await world.send(`/v1/imports/${created.body.id}`);
    hold(imports.get, job);
    const isDone = job.body.finished_at !== null;
    expect(job.headers.has("retry-after")).toBe(!isDone);
    expect(job.body.results_url !== null).toBe(isDone);
    hold(imports.rows, await world.send(`/v1/imports/${created.body.id}/rows`));
    world.clock.advance(20);
  }
  hold(imports.create, await world.importRows([{}, null, row("A"), row("A")]));
});
