import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Bucket } from "../../../src/flows/bucket/bucket.ts";
import { BucketFile } from "../../../src/flows/bucket/bucket-file.ts";
import { openConnections } from "../../../src/http/http-core.ts";
import { outsideExchange } from "../../../src/http/outside-exchange.ts";
import { radosgwProblem, startRadosgw } from "../../support/radosgw.js";
import { s3Server } from "../../support/s3-server.ts";
import { TestClock } from "../../support/test-clock.ts";

const mebibyte = 1024 * 1024;
/** 20 MiB in uneven pieces: two parts of 8 MiB and more, and a rest. */
const pieces = Array.from({ length: 40 }, (_, at) => Buffer.alloc(mebibyte / 2 + at, at));
const whole = Buffer.concat(pieces);

/** A bucket, whose requests end with an interrupt. */
function bucketAt(endpoint: string, env: Record<string, string>) {
  const connections = openConnections({ env: {}, isDirect: () => true });
  onTestFinished(() => connections.close());
  const interrupt = new AbortController();
  const clock = new TestClock();
  const bucket = new Bucket({
    bucket: "shop",
    prefix: `${crypto.randomUUID()}/`,
    endpoint,
    region: "us-east-1",
    pathStyle: true,
    env,
    send: outsideExchange({ connections, clock, silenceMs: 60_000 }),
    clock,
    random: () => 0,
    newId: () => crypto.randomUUID(),
    signal: interrupt.signal,
  });
  const file = (replaces = false) => new BucketFile(bucket, "a ü.zip", { type: "application/zip", replaces });
  const content = async () => {
    const found = await bucket.get("a ü.zip");
    const chunks: Uint8Array[] = [];
    for await (const chunk of found?.body ?? []) chunks.push(chunk);
    return found === null ? null : Buffer.concat(chunks);
  };
  return { bucket, file, content, interrupt };
}

async function write(file: BucketFile, contents: readonly Uint8Array[]): Promise<void> {
  for (const piece of contents) await file.write(piece);
}

function fileContract(open: () => Promise<ReturnType<typeof bucketAt>>) {
  test("appears complete, in one request or in parts", async () => {
    const { file, content } = await open();
    const small = file();
    await write(small, [Buffer.from("a,"), Buffer.from("b\n")]);
    expect(await content()).toBeNull();
    await small.commit();
    expect(String(await content())).toBe("a,b\n");
    const large = file(true);
    await write(large, pieces);
    expect(String(await content())).toBe("a,b\n");
    await large.commit();
    expect(large.bytes).toBe(whole.length);
    expect((await content())!.equals(whole)).toBe(true);
  });

  test.each([
    ["small", [Buffer.from("new")]],
    ["large", pieces],
  ] as const)("does not replace an object that appeared meanwhile: %s", async (_, contents) => {
    const { file, content } = await open();
    const late = file();
    await write(late, contents);
    const other = file();
    await write(other, [Buffer.from("other")]);
    await other.commit();
    await expect(late.commit()).rejects.toMatchObject({ type: "output", code: "file_appeared" });
    await late.discard();
    expect(String(await content())).toBe("other");
  });
}

describe("a file in a bucket", () => {
  const open = async () => {
    const store = await s3Server();
    return { ...bucketAt(store.origin, store.env(store.origin)), store };
  };
  fileContract(open);

  test.each(["a failure", "an interrupt"])("leaves no parts after %s", async (what) => {
    const { file, store, interrupt, content } = await open();
    const begun = file();
    await write(begun, pieces.slice(0, 20));
    expect(store.uploads.size).toBe(1);
    if (what === "an interrupt") {
      interrupt.abort(new Error("interrupted"));
      await expect(write(begun, pieces)).rejects.toThrow("interrupted");
    }
    await begun.discard();
    expect(store.uploads.size).toBe(0);
    expect(store.objects.size).toBe(0);
    if (what === "a failure") expect(await content()).toBeNull();
  });

  test("is complete although the response to its end got lost", async () => {
    const { file, store, content } = await open();
    const begun = file();
    await write(begun, pieces);
    let times = 1;
    store.faults.instead = (method) => (method === "POST" && times-- > 0 ? "cut" : null);
    await begun.commit();
    expect((await content())!.equals(whole)).toBe(true);
  });
});

const missing = radosgwProblem();

describe.skipIf(missing !== null)(`radosgw${missing === null ? "" : ` (${missing})`}`, () => {
  let gateway: Awaited<ReturnType<typeof startRadosgw>>;
  beforeAll(async () => {
    gateway = await startRadosgw();
  });
  afterAll(() => gateway?.stop());
  fileContract(async () => bucketAt(gateway.endpoint, gateway.env));
});
