import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Bucket, type BucketOptions } from "../../../../../src/flows/bucket/bucket.ts";
import { BucketMirror } from "../../../../../src/flows/export/sync/bucket-mirror.ts";
import { mirrorFiles } from "../../../../../src/flows/export/sync/mirror-state.ts";
import { openConnections } from "../../../../../src/http/http-core.ts";
import { outsideExchange } from "../../../../../src/http/outside-exchange.ts";
import { radosgwProblem, startRadosgw } from "../../../../support/radosgw.js";
import { type S3Faults, s3Server } from "../../../../support/s3-server.ts";
import { TestClock } from "../../../../support/test-clock.ts";
import { mirrorStoreContract } from "./mirror-store-contract.ts";

const holder = { pid: 4711, since: "2026-01-05T09:00:00.000Z" };
const second = 1000;

/** An object store: its address and credentials, and the prefix of a new mirror. */
type Place = Pick<BucketOptions, "endpoint" | "env" | "prefix">;

/** Mirrors in one place of a store: each is another machine. */
function machinesAt(place: Place) {
  const connections = openConnections({ env: {}, isDirect: () => true });
  onTestFinished(() => connections.close());
  return (isUnlocked = false, clock = new TestClock()) => {
    const bucket = new Bucket({
      bucket: "shop",
      region: "us-east-1",
      pathStyle: true,
      ...place,
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
}

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

async function lockOf(mirror: BucketMirror) {
  const lock = await mirror.lock(holder);
  if ("heldBy" in lock) throw new Error("the mirror is held");
  return lock;
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

/** What every store that checks conditions must do. `newPlace`: another mirror each time. */
function conditionsContract(newPlace: () => Promise<ReturnType<typeof machinesAt>>) {
  test("gives a name to one of many machines, and tells the others", async () => {
    const open = await newPlace();
    const machines = Array.from({ length: 6 }, () => open());
    await (await lockOf(machines[0]!)).release();
    for (const machine of machines.slice(1)) await (await lockOf(machine)).release();
    const put = (machine: BucketMirror, at: number) =>
      machine.put("a.jpg", [Buffer.from(`image ${at}`)], { exclusive: true });
    const isPlaced = await Promise.all(machines.map(put));
    expect(isPlaced.filter((one) => one)).toHaveLength(1);
    expect(String(await machines[0]!.read("a.jpg"))).toBe(`image ${isPlaced.indexOf(true)}`);
  });

  test("is held by one of many machines that ask at once", async () => {
    const open = await newPlace();
    const locks = await Promise.all(
      Array.from({ length: 8 }, (_, pid) => open().lock({ ...holder, pid: pid + 1 })),
    );
    const held = locks.filter((lock) => "release" in lock);
    expect(held).toHaveLength(1);
    for (const lock of held) await lock.release();
  });

  test("does not replace an index that another machine has written since", async () => {
    const open = await newPlace();
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

  test("takes a large file, and a name of any letters", async () => {
    const open = await newPlace();
    const mirror = open();
    await lockOf(mirror);
    const large = Array.from({ length: 13 }, (_, at) => Buffer.alloc(1024 * 1024, at));
    const path = "ü ß/100% + 'a' (1)~!*&=é日本.ndjson";
    expect(await mirror.put(path, large)).toBe(true);
    expect(await mirror.rename(path, "copy ü+%.ndjson")).toBe(true);
    expect(Buffer.concat(large).equals((await open().read("copy ü+%.ndjson"))!)).toBe(true);
    expect(await mirror.stat(path)).toBeNull();
  });
}

describe("conditions of the store in memory", () => {
  conditionsContract(async () => (await world()).open);
});

const missing = radosgwProblem();

describe.skipIf(missing !== null)(`radosgw${missing === null ? "" : ` (${missing})`}`, () => {
  let gateway: Awaited<ReturnType<typeof startRadosgw>>;
  beforeAll(async () => {
    gateway = await startRadosgw();
  });
  afterAll(() => gateway?.stop());
  const newPlace = async () => machinesAt({ ...gateway, prefix: `${crypto.randomUUID()} b/ü/` });
  mirrorStoreContract("in radosgw", newPlace);
  conditionsContract(newPlace);
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
