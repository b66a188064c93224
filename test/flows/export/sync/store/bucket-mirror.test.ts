import { describe, expect, test } from "vitest";
import { sampled } from "../../../../support/repetitions.ts";
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

describe.each<[string, S3Faults]>(
  sampled(
    [
      ["ignores conditions", { ignoresConditions: true }],
      ["does not have conditions", { lacksConditions: true }],
    ],
    1,
  ),
)("a store that %s", (_, faults) => {
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
    expect(await mirror.put("a", [Buffer.from("one")], { exclusive: true })).not.toBeNull();
    expect(await mirror.put("a", [Buffer.from("two")], { exclusive: true })).toBeNull();
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

test.each(sampled(["cut", { status: 500, body: "" }] as const, 1))(
  "a conditional write whose response got lost is recognized as its own: %j",
  async (fault) => {
    const { store, open } = await world();
    const mirror = open();
    await lockOf(mirror);
    let times = 1;
    store.faults.instead = (method, key) =>
      method === "PUT" && key.endsWith("a.jpg") && times-- > 0 ? fault : null;
    expect(await mirror.put("a.jpg", [Buffer.from("image")], { exclusive: true })).not.toBeNull();
    expect(store.requests.filter((line) => line === "PUT a b/ü/a.jpg")).toHaveLength(1);
  },
);

test("a page of HTML in place of a list is not an empty mirror", async () => {
  const { store, open } = await world();
  store.faults.instead = () => ({ status: 200, body: "<html><body>Sign in</body></html>" });
  const paths = open().list()[Symbol.asyncIterator]();
  await expect(paths.next()).rejects.toMatchObject({ type: "bad_response", code: "not_a_store" });
});

test("an old file stays until its copy exists: a page of HTML is not the response to a copy", async () => {
  const { store, open } = await world();
  const mirror = open();
  await lockOf(mirror);
  await mirror.put("a.jpg", [Buffer.from("image")]);
  const image = store.objects.get("a b/ü/a.jpg");
  store.faults.instead = (method, key) => {
    if (method !== "PUT" || store.objects.get(key)?.body.length === 0) return null;
    store.objects.delete(key);
    return { status: 200, body: "<html></html>" };
  };
  await expect(mirror.rename("a.jpg", "b.jpg")).rejects.toMatchObject({ code: "not_a_store" });
  expect(store.objects.get("a b/ü/a.jpg")).toBe(image);
});

test.each(["HEAD", "GET"])(
  "a page of HTML with status 404 does not say that an object is missing: %s",
  async (of) => {
    const { store, open } = await world();
    const headers = { "content-type": "text/html" };
    store.faults.instead = (method) => (method === of ? { status: 404, headers, body: "<html>" } : null);
    await expect(of === "GET" ? open().read("a") : open().stat("a")).rejects.toMatchObject({
      type: "bad_response",
      code: "not_a_store",
    });
  },
);

test("a lease is released where the rest of its lock fails", async () => {
  const { store, open } = await world();
  store.faults.instead = (_, key) => (key.endsWith("journal.ndjson") ? { status: 403, body: "" } : null);
  await expect(open().lock(holder)).rejects.toMatchObject({ code: "bucket_denied" });
  delete store.faults.instead;
  await lockOf(open());
});

test("probes that killed runs have left are removed an hour later", async () => {
  const { store, storeClock, open } = await world();
  store.write("a b/ü/.catalogue/probe-old", {});
  storeClock.advance(1_800 * second);
  store.write("a b/ü/.catalogue/probe-new", {});
  storeClock.advance(1_801 * second);
  await lockOf(open());
  expect([...store.objects.keys()].filter((key) => key.includes("/probe-"))).toEqual([
    "a b/ü/.catalogue/probe-new",
  ]);
});
