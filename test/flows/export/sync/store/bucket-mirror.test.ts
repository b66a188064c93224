import { describe, expect, test } from "vitest";
import { type S3Faults, s3Server } from "../../../../support/s3-server.ts";
import { TestClock } from "../../../../support/test-clock.ts";
import { conditionsContract, holder, lockOf, machinesAt } from "./conditions-contract.ts";
import { mirrorStoreContract } from "./mirror-store-contract.ts";

const second = 1000;

/** A store in memory with a clock. */
async function world(faults: S3Faults = {}) {
  const storeClock = new TestClock();
  const store = await s3Server(() => storeClock.now());
  Object.assign(store.faults, faults);
  const { origin } = store;
  return {
    storeClock,
    store,
    open: machinesAt({ endpoint: origin, env: store.env(origin), prefix: "a b/ü/" }),
  };
}

mirrorStoreContract("in a bucket", async () => (await world()).open);

describe.each<[string, S3Faults]>([
  ["ignores conditions", { ignoresConditions: true }],
  ["does not have conditions", { lacksConditions: true }],
])("a store that %s", (_, faults) => {
  mirrorStoreContract(
    "in a bucket, unlocked",
    async () => {
      const { open } = await world(faults);
      return () => open(true);
    },
    { hasLocks: false },
  );

  test("is only used unlocked", async () => {
    const { store, open } = await world(faults);
    await expect(open().lock(holder)).rejects.toMatchObject({ type: "usage", code: "no_conditional_writes" });
    expect([...store.objects.keys()]).toEqual([]);
    const mirror = open(true);
    await lockOf(mirror);
    expect(await mirror.put("a", [Buffer.from("one")], { exclusive: true })).toBe(true);
    expect(await mirror.put("a", [Buffer.from("two")], { exclusive: true })).toBe(false);
    expect(String(await mirror.read("a"))).toBe("one");
  });
});

describe("conditions of the store in memory", () => {
  conditionsContract(async () => (await world()).open);
});

test("a lease that was not renewed ends after a minute, and its holder writes nothing more", async () => {
  const { storeClock, open } = await world();
  const clock = new TestClock();
  const [one, other] = [open(false, clock), open()];
  await lockOf(one);
  expect(await other.lock({ pid: 2, since: "" })).toEqual({ heldBy: holder });
  // The first machine sleeps.
  storeClock.advance(61 * second);
  await lockOf(other);
  clock.advance(61 * second);
  await expect(one.put("a.jpg", [Buffer.from("late")])).rejects.toMatchObject({
    type: "conflict",
    code: "lease_lost",
  });
  expect(await other.stat("a.jpg")).toBeNull();
});

test.each(["cut", { status: 500, body: "" }] as const)(
  "a conditional write whose response got lost is recognized as its own: %j",
  async (fault) => {
    const { store, open } = await world();
    const mirror = open();
    await lockOf(mirror);
    let times = 1;
    store.faults.instead = (method, key) =>
      method === "PUT" && key.endsWith("a.jpg") && times-- > 0 ? fault : null;
    expect(await mirror.put("a.jpg", [Buffer.from("image")], { exclusive: true })).toBe(true);
    expect(store.requests.filter((line) => line === "PUT a b/ü/a.jpg")).toHaveLength(1);
  },
);

test("a page of HTML in place of a list is not an empty mirror", async () => {
  const { store, open } = await world();
  store.faults.instead = () => ({ status: 200, body: "<html><body>Sign in</body></html>" });
  const paths = open().list()[Symbol.asyncIterator]();
  await expect(paths.next()).rejects.toMatchObject({ type: "bad_answer", code: "not_a_store" });
});
