import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { CatError } from "../../../src/errors.ts";
import type { Bucket, Condition } from "../../../src/flows/bucket/bucket.ts";
import type { ObjectContent } from "../../../src/flows/bucket/content.ts";
import {
  type Lease,
  probeConditions,
  requireConditions,
  takeLease,
} from "../../../src/flows/bucket/lease.ts";
import { TestClock } from "../../support/test-clock.ts";

const second = 1000;
const holder = { pid: 1, since: "2026-01-05T09:00:00.000Z" };

/** A store with one object, whose writes wait for `gate`, and fail where it rejects. Its clock is an hour ahead. */
function leaseStore() {
  const clock = new TestClock();
  const written: { until: number; condition: Condition }[] = [];
  let others = 0;
  let object: { body: Buffer; etag: string } | null = null;
  const store = {
    clock,
    written,
    gate: (): Promise<void> => Promise.resolve(),
    until: () => JSON.parse(String(object?.body)).until as number,
    now: () => clock.now() + 3600 * second,
    /** Another machine writes the object. */
    put(text: string) {
      object = { body: Buffer.from(text), etag: `"other-${others++}"` };
    },
    tryToTake: () => takeLease(bucket, "lease", { holder, clock }),
    take: async (): Promise<Lease> => {
      const lease = await store.tryToTake();
      if ("heldBy" in lease) throw new Error("another one has the lease");
      return lease;
    },
  };
  const bucket = {
    shown: "s3://shop",
    now: () => store.now(),
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
  const start = clock.now() + 3600 * second;
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
      message: "another machine may work on s3://shop by now: the lease lease was not renewed in time",
      hint: "Run the same command again (nothing is uploaded twice).",
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

const of = (pid: number, until: number) => JSON.stringify({ holder: { ...holder, pid }, until });

test("a lease of another machine is respected until it ends, then taken with a condition on its ETag", async () => {
  const store = leaseStore();
  store.put(of(7, store.now() + 1));
  expect(await store.tryToTake()).toEqual({ heldBy: { ...holder, pid: 7 } });
  expect(store.written).toEqual([]);
  store.clock.advance(1);
  (await store.take()).check();
  expect(store.written).toEqual([{ until: store.now() + 60 * second, condition: { etag: '"other-0"' } }]);
});

test("a machine that is overtaken three times reports the last holder that it has read", async () => {
  const store = leaseStore();
  let tries = 0;
  store.gate = async () => store.put(of(++tries, store.now()));
  expect(await store.tryToTake()).toEqual({ heldBy: { ...holder, pid: 2 } });
  expect([tries, store.written]).toEqual([3, []]);
});

test("a lease that another machine has taken is lost: no renewal and no release overwrites it", async () => {
  const store = leaseStore();
  const lease = await store.take();
  const theirs = store.now() + 600 * second;
  store.put(of(7, theirs));
  store.clock.advance(20 * second);
  await settled();
  expect(() => lease.check()).toThrow("another machine may work on s3://shop by now");
  let writes = 0;
  store.gate = async () => void writes++;
  store.clock.advance(40 * second);
  await lease.release();
  expect([writes, store.until()]).toEqual([0, theirs]);
});

test("a renewal that fails is made up by the next one, and none follows a release", async () => {
  const store = leaseStore();
  const lease = await store.take();
  store.gate = () => Promise.reject(new Error("the store is gone"));
  store.clock.advance(20 * second);
  await settled();
  store.gate = () => Promise.resolve();
  store.clock.advance(20 * second);
  await settled();
  expect(store.until()).toBe(store.now() + 60 * second);
  store.clock.advance(15 * second);
  lease.check();
  await lease.release();
  expect(store.until()).toBe(0);
  const writes = store.written.length;
  store.clock.advance(60 * second);
  await settled();
  expect(store.written).toHaveLength(writes);
});

test("a release that the store does not carry out is no error", async () => {
  const store = leaseStore();
  const lease = await store.take();
  store.gate = () => Promise.reject(new Error("the store is gone"));
  await expect(lease.release()).resolves.toBeUndefined();
});

test.each(["{", "{}", '{"until":"1"}', "null"])(
  "a lease whose object is %s is damaged, and not overwritten",
  async (text) => {
    const store = leaseStore();
    store.put(text);
    await expect(store.tryToTake()).rejects.toMatchObject({
      type: "conflict",
      code: "damaged_lease",
      message: "the lease s3://shop/lease is damaged",
      hint: "Make sure that no other machine works on this mirror, and delete that object.",
    });
    expect(store.written).toEqual([]);
  },
);

/** A store that meets the conditions of writes as `isMet` says. */
function probedStore(isMet: (condition: Condition, etagForm: string) => boolean) {
  const hour = 3600 * second;
  const listed = [
    { key: ".catalogue/probe-killed", at: 9 * hour - 1 },
    { key: ".catalogue/probe-running", at: 9 * hour },
  ];
  const removed: string[] = [];
  const bodies: string[] = [];
  const bucket = {
    shown: "s3://shop",
    etagForm: "unknown",
    now: () => 10 * hour,
    list: async function* (prefix: string) {
      yield* listed.filter(({ key }) => key.startsWith(prefix));
    },
    remove: async (key: string) => void removed.push(key.replace(/-[0-9a-f-]{36}$/, "-OWN")),
    put: async (_: string, content: ObjectContent, { condition }: { condition: Condition }) => {
      bodies.push(String(content.open()));
      return isMet(condition, bucket.etagForm) ? '"e"' : null;
    },
  };
  return { bucket, store: bucket as unknown as Bucket, removed, bodies };
}

/** A store that checks conditions, and reads ETags in one form. */
const checking = (form: string) => {
  let isThere = false;
  return (condition: Condition, etagForm: string) => {
    if (condition !== "absent")
      return typeof condition === "object" && condition.etag === '"e"' && etagForm === form;
    const isMet = !isThere;
    isThere = true;
    return isMet;
  };
};

describe("the probe of conditions", () => {
  test.each(["quoted", "bare"])(
    "finds a store with %s ETags, and removes its object and old ones",
    async (form) => {
      const { store, bucket, removed, bodies } = probedStore(checking(form));
      expect(await probeConditions(store)).toBe(form);
      expect(bucket.etagForm).toBe(form);
      expect(removed).toEqual([".catalogue/probe-killed", ".catalogue/probe-OWN"]);
      expect(new Set(bodies)).toEqual(new Set(["{}"]));
      await requireConditions(probedStore(checking(form)).store, "Use another store.");
    },
  );

  test.each<[string, (condition: Condition) => boolean]>([
    ["conditions at all", () => true],
    [
      "that the object is missing",
      (condition) => condition === "absent" || (typeof condition === "object" && condition.etag === '"e"'),
    ],
    ["the ETag", (condition) => condition !== "absent" || !hasObject],
    ["anything as it should", () => false],
  ])("rejects a store that does not check %s", async (_, isMet) => {
    hasObject = false;
    const { store, removed } = probedStore((condition) => {
      const is = isMet(condition);
      hasObject = true;
      return is;
    });
    expect(await probeConditions(store)).toBeNull();
    expect(removed.at(-1)).toBe(".catalogue/probe-OWN");
    hasObject = false;
    await expect(requireConditions(store, "Use another store.")).rejects.toMatchObject({
      type: "usage",
      code: "no_conditional_writes",
      message:
        "the store of s3://shop does not check conditions of writes, so two machines could not be kept apart",
      hint: "Use another store.",
    });
  });
  let hasObject = false;

  test.each([
    [501, null],
    [400, null],
    [403, "thrown"],
  ])("takes a response with %i for %j", async (status, outcome) => {
    const { store, removed } = probedStore(() => {
      throw new CatError("no", { type: "bucket", code: "no", status });
    });
    expect(await probeConditions(store).catch(() => "thrown")).toBe(outcome);
    expect(removed.at(-1)).toBe(".catalogue/probe-OWN");
  });
});
