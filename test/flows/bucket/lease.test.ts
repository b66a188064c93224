import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Bucket, Condition } from "../../../src/flows/bucket/bucket.ts";
import type { ObjectContent } from "../../../src/flows/bucket/content.ts";
import { type Lease, takeLease } from "../../../src/flows/bucket/lease.ts";
import { TestClock } from "../../support/test-clock.ts";

const second = 1000;
const holder = { pid: 1, since: "2026-01-05T09:00:00.000Z" };

/** A store with one object, whose writes wait for `gate`, and fail where it rejects. */
function leaseStore() {
  const clock = new TestClock();
  const written: { until: number; condition: Condition }[] = [];
  let object: { body: Buffer; etag: string } | null = null;
  const store = {
    clock,
    written,
    gate: (): Promise<void> => Promise.resolve(),
    until: () => JSON.parse(String(object?.body)).until as number,
    take: async (): Promise<Lease> => {
      const lease = await takeLease(bucket, "lease", { holder, clock });
      if ("heldBy" in lease) throw new Error("another one has the lease");
      return lease;
    },
  };
  const bucket = {
    shown: "s3://shop",
    now: () => clock.now(),
    get: async () => object && { etag: object.etag, body: Readable.from([object.body]) },
    put: async (_: string, content: ObjectContent, { condition }: { condition: Condition }) => {
      await store.gate();
      const isMet =
        condition === "absent"
          ? object === null
          : typeof condition === "object" && condition.etag === object?.etag;
      if (!isMet) return null;
      const body = Buffer.from(content.open() as Uint8Array);
      written.push({ until: JSON.parse(String(body)).until, condition });
      object = { body, etag: `"${written.length}"` };
      return object.etag;
    },
  } as unknown as Bucket;
  return store;
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test("a lease that is renewed every 20 seconds is held for longer than its minute", async () => {
  const { clock, take, until, written } = leaseStore();
  const start = clock.now();
  const lease = await take();
  for (let renewal = 0; renewal < 4; renewal++) {
    clock.advance(20 * second);
    await settled();
  }
  expect(() => lease.check()).not.toThrow();
  expect(written.map((one) => one.until - start)).toEqual([60, 80, 100, 120, 140].map((at) => at * second));
  await lease.release();
  expect(until()).toBe(0);
});

test("a lease counts as lost ten seconds before it ends, so that a write in flight ends in time", async () => {
  const store = leaseStore();
  const lease = await store.take();
  store.gate = () => Promise.reject(new Error("the store is gone"));
  store.clock.advance(50 * second - 1);
  await settled();
  expect(() => lease.check()).not.toThrow();
  store.clock.advance(1);
  expect(() => lease.check()).toThrow(
    expect.objectContaining({
      code: "lease_lost",
      message: expect.stringContaining("was not renewed in time"),
    }),
  );
});

test("a release waits for a renewal in flight, and ends what that has written", async () => {
  const store = leaseStore();
  const lease = await store.take();
  let renew = () => {};
  const renewal = new Promise<void>((resolve) => {
    renew = resolve;
  });
  store.gate = () => renewal;
  store.clock.advance(20 * second);
  await settled();
  store.gate = () => Promise.resolve();
  let isReleased = false;
  const releasing = lease.release().then(() => {
    isReleased = true;
  });
  await settled();
  expect([isReleased, store.written.length]).toEqual([false, 1]);
  renew();
  await releasing;
  expect(store.written.map(({ condition }) => condition)).toEqual([
    "absent",
    { etag: '"1"' },
    { etag: '"2"' },
  ]);
  expect(store.until()).toBe(0);
});
