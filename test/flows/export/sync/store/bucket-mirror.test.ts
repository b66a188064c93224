import { expect, onTestFinished, test } from "vitest";
import { Bucket } from "../../../../../src/flows/bucket/bucket.ts";
import { BucketMirror } from "../../../../../src/flows/export/sync/bucket-mirror.ts";
import { mirrorFiles } from "../../../../../src/flows/export/sync/mirror-state.ts";
import { openConnections } from "../../../../../src/http/http-core.ts";
import { outsideExchange } from "../../../../../src/http/outside-exchange.ts";
import { s3Server } from "../../../../support/s3-server.ts";
import { TestClock } from "../../../../support/test-clock.ts";
import { mirrorStoreContract } from "./mirror-store-contract.ts";

const holder = { pid: 4711, since: "2026-01-05T09:00:00.000Z" };
const second = 1000;

/** A store with a clock, and mirrors in it: each is another machine. */
async function world() {
  const storeClock = new TestClock();
  const store = await s3Server(() => storeClock.now());
  const connections = openConnections({ env: {}, isDirect: () => true });
  onTestFinished(() => connections.close());
  const open = (isUnlocked = false, clock = new TestClock()) => {
    const bucket = new Bucket({
      bucket: "shop",
      prefix: "a b/ü/",
      endpoint: store.origin,
      region: "us-east-1",
      pathStyle: true,
      env: store.env(store.origin),
      send: outsideExchange({ connections, clock, silenceMs: 60_000 }),
      clock,
      random: () => 0,
      newId: () => crypto.randomUUID(),
      signal: new AbortController().signal,
    });
    const mirror = new BucketMirror(bucket, {
      files: mirrorFiles(null),
      clock,
      newId: () => crypto.randomUUID(),
      isUnlocked,
    });
    onTestFinished(() => mirror.close());
    return mirror;
  };
  return { storeClock, store, open };
}

async function lockOf(mirror: BucketMirror) {
  const lock = await mirror.lock(holder);
  if ("heldBy" in lock) throw new Error("the mirror is held");
  return lock;
}

mirrorStoreContract("in a bucket", async () => (await world()).open);

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

test("an index that another machine has written since is not replaced", async () => {
  const { open } = await world();
  const [one, other] = [open(), open()];
  await (await lockOf(other)).release();
  await lockOf(one);
  await one.put("catalogue.ndjson", [Buffer.from("one\n")]);
  await expect(other.stat("catalogue.ndjson")).resolves.toEqual({ bytes: 4 });
  await one.put("catalogue.ndjson", [Buffer.from("two\n")]);
  await expect(other.put("catalogue.ndjson", [Buffer.from("other\n")])).rejects.toMatchObject({
    code: "mirror_in_use",
  });
  expect(String(await one.read("catalogue.ndjson"))).toBe("two\n");
});

test("a store that ignores conditions is only used unlocked", async () => {
  const { store, open } = await world();
  store.faults.ignoresConditions = true;
  await expect(open().lock(holder)).rejects.toMatchObject({ type: "usage", code: "no_conditional_writes" });
  const mirror = open(true);
  await lockOf(mirror);
  expect(await mirror.put("a", [Buffer.from("one")], { exclusive: true })).toBe(true);
  expect(await mirror.put("a", [Buffer.from("two")], { exclusive: true })).toBe(false);
  expect(String(await mirror.read("a"))).toBe("one");
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
