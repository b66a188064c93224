import { writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { type UploadHost, uploadPhotos } from "../../../src/flows/photos/upload-photos.ts";
import type { ProgressEvent } from "../../../src/flows/progress-event.ts";
import { type MockOptions, startMock } from "../../../src/mock/index.ts";
import { openState } from "../../../src/state/state.ts";
import { longTest } from "../../support/long-test.ts";
import { newAccount } from "../../support/new-account.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { TestClock } from "../../support/test-clock.ts";

import { oddPhoto, photo, photoFolder } from "./photo-folder.ts";

const hour = 3_600_000;

/** A service, a state, and a folder with photos, on a clock that jumps over waits. */
async function uploadWorld(files: Record<string, string | Uint8Array>, options: MockOptions = {}) {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, rateLimit: false, ...options });
  const state = await openState(null, { clock });
  const account = newAccount(state, mock.baseUrl);
  const { folder, at, write, photosIn } = photoFolder(files);
  const random = seededRandom(1);
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock, random });
  onTestFinished(async () => {
    state.close();
    await client.close();
    await mock.stop();
  });
  const keys: string[] = [];
  const uploads: typeof state.uploads = {
    ...state.uploads,
    begin: (account, sha256, attempt) => {
      const begun = state.uploads.begin(account, sha256, attempt);
      keys.push(begun.key);
      return begun;
    },
  };
  const world = {
    ...{ clock, mock, folder, at, write, account, state, client, uploads },
    /** The keys of started uploads, in order. */
    keys,
    fault: (order: object) =>
      fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) }),
    noFaults: () => fetch(`${mock.baseUrl}/_mock/faults`, { method: "DELETE" }),
    /** The upload requests, by status. */
    posts: () => mock.requests().filter(({ method, path }) => method === "POST" && path === "/v1/images"),
    /** The images of the service. */
    images: () => mock.state().organizations.main.images.length,
    /** Uploads the photos of those paths like a run; returns the image of each path. */
    async upload(
      paths: readonly string[],
      {
        account: of = account,
        onProgress = () => {},
        client: through = client,
        ...flags
      }: Partial<UploadHost["service"] & Pick<UploadHost, "account" | "onProgress">> = {},
      meanwhile: () => void = () => {},
    ) {
      const photos = photosIn();
      const digests = await Promise.all(paths.map((path) => photos.digest(path)));
      const wanted = new Map<string, string>();
      paths.forEach((path, index) => void (wanted.has(digests[index]!) || wanted.set(digests[index]!, path)));
      meanwhile();
      const events: ProgressEvent[] = [];
      const done: Parameters<typeof uploadPhotos>[1] = new Map();
      await uploadPhotos(wanted, done, {
        ...{ photos, uploads, account: of, random, writesPerMinute: 60 },
        service: { client: through, clock, concurrency: 4, signal: new AbortController().signal, ...flags },
        onProgress(event) {
          events.push(event);
          onProgress(event);
        },
      });
      const resultOf = (digest: string) => {
        const one = done.get(digest)!;
        return "image" in one ? one.image : one.rejected;
      };
      return { ids: digests.map(resultOf), events };
    },
  };
  return world;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}.png`);
const filesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]));

test("a photo whose upload waited for a day is not sent with its old key, and goes out with the next command", async () => {
  const world = await uploadWorld({ "a.png": "a" });
  const upload: typeof world.client.images.upload = (...args) => {
    world.clock.advance(24 * 3_600_000);
    return world.client.images.upload(...args);
  };
  const client = { ...world.client, images: { ...world.client.images, upload } };
  await expect(world.upload(["a.png"], { client })).rejects.toMatchObject({ code: "key_expired" });
  expect(world.posts()).toEqual([]);
  await world.upload(["a.png"]);
  expect(world.images()).toBe(1);
  expect(new Set(world.keys).size).toBe(2);
});

describe("photos are uploaded", () => {
  test("once per content, whatever their names, and never again", async () => {
    const world = await uploadWorld({ "a.png": "a", "b.png": "b", "twin of a.png": "a" });
    const first = await world.upload(["a.png", "b.png", "twin of a.png"]);
    expect(new Set(first.ids).size).toBe(2);
    expect(first.ids[2]).toBe(first.ids[0]);
    expect(world.posts().map(({ status }) => status)).toEqual([201, 201]);
    expect(await world.upload(["twin of a.png", "b.png"])).toEqual({
      ids: [first.ids[0], first.ids[1]],
      events: [],
    });
    expect(world.posts()).toHaveLength(2);
  });

  test("for each account separately", async () => {
    const world = await uploadWorld({ "a.png": "a" });
    await world.upload(["a.png"]);
    await world.upload(["a.png"], { account: newAccount(world.state, "https://other.example.com") });
    expect(world.images()).toBe(2);
  });

  test("several at a time, and only the wanted ones", async () => {
    const paths = names(9);
    const world = await uploadWorld(filesOf(paths));
    let now = 0;
    let most = 0;
    let meet = () => {};
    const threeMet = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const upload: typeof world.client.images.upload = async (...args) => {
      most = Math.max(most, ++now);
      if (now === 3) meet();
      await threeMet;
      try {
        return await world.client.images.upload(...args);
      } finally {
        now--;
      }
    };
    await world.upload(paths, {
      client: { ...world.client, images: { ...world.client.images, upload } },
      concurrency: 3,
    });
    expect([most, world.images()]).toEqual([3, 9]);
  });

  test("at the pace of the service, without a 429", async () => {
    const paths = names(repetitions(70, 150));
    const world = await uploadWorld(filesOf(paths), { rateLimit: { reads: 600, writes: 60 } });
    const began = world.clock.now();
    const { ids } = await world.upload(paths, { concurrency: 8 });
    expect(new Set(ids).size).toBe(paths.length);
    expect(new Set(world.posts().map(({ status }) => status))).toEqual(new Set([201]));
    expect(world.clock.now() - began).toBeLessThan(repetitions(62_000, 122_000));
  });

  test("with progress in bytes and a note with their number", async () => {
    const world = await uploadWorld({ "a.png": "a", "b.png": "bb" });
    const { events } = await world.upload(["a.png", "b.png"], { concurrency: 1 });
    const [one, two] = [photo("a").length, photo("a").length + photo("bb").length];
    const event = { step: "uploading photos", total: two, unit: "bytes" };
    expect(events).toEqual([
      { ...event, done: 0, note: "0 of 2 photos" },
      { ...event, done: one, note: "1 of 2 photos" },
      { ...event, done: two, note: "2 of 2 photos" },
    ]);
  });
});

longTest("the estimated time left is never too short while the rate limit window is used up", async () => {
  const paths = names(150);
  const world = await uploadWorld(filesOf(paths), { rateLimit: { reads: 600, writes: 60 } });
  const told: { least: number; at: number }[] = [];
  await world.upload(paths, {
    concurrency: 8,
    onProgress: ({ leastMsLeft = 0 }) => told.push({ least: leastMsLeft, at: world.clock.now() }),
  });
  const end = world.clock.now();
  expect(told[0]!.least).toBe(120_000);
  // The service's windows start with the minute, like this test.
  for (const { least, at } of told.slice(0, 120)) expect(Math.abs(end - at - least)).toBeLessThan(2_000);
  expect(told.slice(121).map(({ least }) => least)).toEqual(Array(30).fill(0));
});

describe("an upload whose response was lost", () => {
  test("is repeated with its key by the next run, and returns the same image", async () => {
    const world = await uploadWorld({ "a.png": "a" });
    await world.fault({ match: { path: "/v1/images" }, drop: "after" });
    await expect(world.upload(["a.png"])).rejects.toMatchObject({ type: "network" });
    expect(world.images()).toBe(1);
    await world.noFaults();
    const { ids } = await world.upload(["a.png"]);
    expect(ids).toEqual([world.mock.state().organizations.main.images[0]!.id]);
    expect(new Set(world.keys).size).toBe(1);
    expect(world.posts().at(-1)).toMatchObject({ status: 201 });
    expect(world.images()).toBe(1);
  });

  test("is repeated even if the photo has another name by then", async () => {
    const world = await uploadWorld({ "a.png": "a", "moved.png": "a" });
    await world.fault({ match: { path: "/v1/images" }, drop: "after" });
    await expect(world.upload(["a.png"])).rejects.toMatchObject({ type: "network" });
    await world.noFaults();
    await world.upload(["moved.png"]);
    expect(world.images()).toBe(1);
  });

  test.each([
    [22.9, 1],
    [23.1, 2],
  ])(
    "that is repeated %s h later uses %s keys in all, because the service forgets keys after 24 h",
    async (hours, keys) => {
      const world = await uploadWorld({ "a.png": "a" });
      await world.fault({ match: { path: "/v1/images" }, drop: "before" });
      const began = world.clock.now();
      await expect(world.upload(["a.png"])).rejects.toMatchObject({ type: "network" });
      await world.noFaults();
      world.clock.advance(began + hours * hour - world.clock.now());
      await world.upload(["a.png"]);
      expect([new Set(world.keys).size, world.images()]).toEqual([keys, 1]);
    },
  );
});

describe("a photo that the service rejects", () => {
  test("is reported with the others, and is forgotten", async () => {
    const world = await uploadWorld({ "a.png": "a", "cut.png": oddPhoto, "c.png": "c" });
    const paths = ["a.png", "cut.png", "c.png"];
    const message = "cannot read the size of the image";
    const refused = { code: "invalid_request", message };
    const { ids } = await world.upload(paths, { concurrency: 1 });
    expect(ids).toEqual([expect.any(String), refused, expect.any(String)]);
    expect(world.posts().map(({ status }) => status)).toEqual([201, 400, 201]);
    world.write("cut.png", "mended");
    await world.upload(paths);
    expect([world.images(), world.posts().length]).toEqual([3, 4]);
  });

  test.each(sampled([401, 402, 403, 404]))(
    "gets another key next time after %s, because the response is stored under this one",
    async (status) => {
      const world = await uploadWorld({ "a.png": "a" });
      await world.fault({ match: { path: "/v1/images" }, times: 1, status });
      await expect(world.upload(["a.png"])).rejects.toMatchObject({ status });
      await world.upload(["a.png"]);
      expect(new Set(world.keys).size).toBe(2);
    },
  );

  test.each(sampled([500, 429], 1))(
    "gets the same key next time after %s in all attempts",
    async (status) => {
      const world = await uploadWorld({ "a.png": "a" });
      await world.fault({ match: { path: "/v1/images" }, status });
      await expect(world.upload(["a.png"])).rejects.toMatchObject({ status });
      await world.noFaults();
      await world.upload(["a.png"]);
      expect([new Set(world.keys).size, world.images()]).toEqual([1, 1]);
    },
  );

  test("withdraws requests that wait for the rate limit window", async () => {
    const paths = names(4);
    const world = await uploadWorld(filesOf(paths), { rateLimit: { reads: 600, writes: 2 } });
    await world.upload(paths.slice(0, 1));
    const began = world.clock.now();
    await world.fault({ match: { path: "/v1/images" }, status: 403 });
    await expect(world.upload(paths, { concurrency: 3 })).rejects.toMatchObject({ status: 403 });
    expect(world.posts().map(({ status }) => status)).toEqual([201, 403]);
    expect(world.clock.now()).toBe(began);
  });

  test("ends the uploads: none of eight others is started", async () => {
    const paths = names(8);
    const world = await uploadWorld(filesOf(paths));
    await world.fault({ match: { path: "/v1/images" }, status: 403 });
    await expect(world.upload(paths, { concurrency: 2 })).rejects.toMatchObject({ status: 403 });
    // The other upload in flight ends when the first is rejected.
    expect([[403], [403, 403]]).toContainEqual(world.posts().map(({ status }) => status));
  });
});

describe("a photo that changes during the uploads", () => {
  test("is not sent, and neither are later ones", async () => {
    const paths = names(4);
    const world = await uploadWorld(filesOf(paths));
    const change = () => writeFileSync(world.at("1.png"), photo("another"));
    await expect(world.upload(paths, { concurrency: 1 }, change)).rejects.toMatchObject({
      code: "photo_changed",
    });
    expect([world.images(), world.keys.length]).toEqual([1, 1]);
  });
});

describe("an interrupt", () => {
  /** Interrupts while the second photo is in flight, whose response then takes `ms`. */
  async function interrupted(ms: number) {
    const paths = names(6);
    const world = await uploadWorld(filesOf(paths));
    const interrupt = new AbortController();
    const reason = new Error("interrupted");
    let begun = 0;
    const upload: typeof world.client.images.upload = async (input, options) => {
      const isSecond = ++begun === 2;
      const answer = await world.client.images.upload(input, options);
      if (isSecond) {
        interrupt.abort(reason);
        await world.clock.sleep(ms, options?.signal);
      }
      return answer;
    };
    const client = { ...world.client, images: { ...world.client.images, upload } };
    const host = { client, concurrency: 1, signal: interrupt.signal };
    await expect(world.upload(paths, host)).rejects.toBe(reason);
    expect([begun, world.images()]).toEqual([2, 2]);
    const { events } = await world.upload(paths);
    expect([world.images(), new Set(world.keys).size]).toEqual([6, 6]);
    return events[0]!.note;
  }

  test("lets a photo in flight finish, starts no other, and keeps finished ones", async () => {
    expect(await interrupted(2_900)).toBe("0 of 4 photos");
  });

  test("waits no more than three seconds; the key returns the same image later", async () => {
    expect(await interrupted(3_100)).toBe("0 of 5 photos");
  });

  test("before the first photo sends nothing", async () => {
    const world = await uploadWorld({ "a.png": "a" });
    const signal = AbortSignal.abort(new Error("interrupted"));
    await expect(world.upload(["a.png"], { signal })).rejects.toThrow("interrupted");
    expect([world.keys, world.posts()]).toEqual([[], []]);
  });
});
