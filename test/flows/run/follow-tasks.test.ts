import { describe, expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { type Client, createClient } from "../../../src/client/client.ts";
import type { Task } from "../../../src/contract/resources/tasks.ts";
import { TaskFollower } from "../../../src/flows/run/follow.ts";
import { NetworkError } from "../../../src/http/errors.ts";
import { startMock } from "../../../src/mock/index.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

/** A mock with products and a client on a clock that jumps over waits. */
async function taskWorld(speed = 1) {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, demo: 1, rateLimit: false, speed });
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock, random: () => 0.5 });
  onTestFinished(async () => {
    await client.close();
    await mock.stop();
  });
  const product = (await client.products.list({ limit: 1 })).data[0]!;
  const model = (await client.models.list({ limit: 1 })).data[0]!;
  const input = { product_id: product.id, model_id: model.id, background: "white", angle_shot: "full-front" };
  return {
    clock,
    client,
    /** Queues `count` try-ons; returns their IDs. */
    async queue(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let left = count; left > 0; left -= 20) {
        const inputs = Array.from({ length: Math.min(left, 20) }, () => input);
        const { tasks } = await client.tasks.tryon({ body: { inputs } });
        ids.push(...tasks.map(({ id }) => id));
      }
      return ids;
    },
    /** The number of reads since the last call. */
    reads(): string[] {
      const all = mock.requests().filter(({ method, path }) => method === "GET" && path.includes("/tasks"));
      const news = all.slice(this.told).map(({ path }) => (path.includes("?") ? "list" : "get"));
      this.told = all.length;
      return news;
    },
    told: 0,
    follow(through: Client = client) {
      const seen: [string, Task["status"]][] = [];
      const lost: string[] = [];
      const { signal } = new AbortController();
      const follower = new TaskFollower(
        { client: through, clock, signal, concurrency: 4 },
        { onStatus: ({ id, status }) => void seen.push([id, status]), onLost: (id) => void lost.push(id) },
      );
      return { follower, seen, lost };
    },
  };
}

test("checks 250 tasks in three reads, and follows them until they end", async () => {
  const world = await taskWorld();
  const ids = await world.queue(250);
  const { follower, seen, lost } = world.follow();
  follower.add(ids);
  await follower.round();
  expect(world.reads()).toEqual(["list", "list", "list"]);
  expect(new Set(seen.map(([id]) => id))).toEqual(new Set(ids));
  await follower.settled();
  expect(follower.open).toBe(0);
  expect(lost).toEqual([]);
  expect(
    seen
      .filter(([, status]) => status === "succeeded")
      .map(([id]) => id)
      .sort(),
  ).toEqual(ids.sort());
});

describe("the pause between two rounds", () => {
  test.each([
    [1, 5_000],
    [2, 3_000],
    [5, 1_000],
  ])("is the Retry-After of an open task, at speed %i: %i ms", async (speed, pauseMs) => {
    const world = await taskWorld(speed);
    const { follower } = world.follow();
    follower.add(await world.queue(2));
    await follower.settled();
    expect(new Set(world.clock.slept)).toEqual(new Set([pauseMs]));
  });

  test("has one more read, and is at least as long as these reads take at 600 per minute", async () => {
    const world = await taskWorld(1000);
    const { follower } = world.follow();
    follower.add(await world.queue(250));
    await follower.settled();
    expect(world.reads().slice(0, 4)).toEqual(["list", "list", "list", "get"]);
    expect(world.clock.slept[0]).toBe(4 * 100);
  });

  test("is ten minutes at most", async () => {
    const world = await taskWorld();
    const exchange: Client["exchange"] = async (...args) => ({
      ...(await world.client.exchange(...args)),
      retryAfterMs: 86_400_000,
    });
    const { follower } = world.follow({ ...world.client, exchange });
    follower.add(await world.queue(2));
    await follower.settled();
    expect(world.clock.slept).toEqual([600_000]);
  });

  test("ends with the first task that is added", async () => {
    const world = await taskWorld();
    const { follower, seen } = world.follow();
    let end = () => {};
    const begun = world.clock.now();
    const settled = follower.settled(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    follower.add(await world.queue(1));
    await until(() => seen.length > 0);
    expect(world.clock.now()).toBe(begun);
    end();
    await settled;
    expect(seen.at(-1)![1]).toBe("succeeded");
  });
});

test("fetches a single task by its ID", async () => {
  const world = await taskWorld();
  const { follower } = world.follow();
  follower.add(await world.queue(1));
  await follower.round();
  expect(world.reads()).toEqual(["get"]);
});

test("fetches tasks one by one if others have queued too many since", async () => {
  const world = await taskWorld();
  const ours = await world.queue(2);
  await world.queue(300);
  const { follower, seen } = world.follow();
  follower.add(ours);
  await follower.round();
  expect(world.reads()).toEqual(["list", "list", "get", "get"]);
  expect(seen.map(([id]) => id).sort()).toEqual(ours.sort());
});

test("a run reports a task that the service does not have, and follows the others", async () => {
  const world = await taskWorld();
  const ours = await world.queue(2);
  const { follower, lost } = world.follow();
  follower.add(["01JGZZ0000000000000000000A", ...ours]);
  await follower.settled();
  expect(lost).toEqual(["01JGZZ0000000000000000000A"]);
  expect(ours.map((id) => follower.tasks.get(id)?.status)).toEqual(["succeeded", "succeeded"]);
});

test("survives an outage of up to ten minutes after a response, and stops immediately if the key is rejected", async () => {
  const world = await taskWorld();
  const ours = await world.queue(1);
  let until = 0;
  let fault: () => Error = () =>
    new NetworkError("cannot connect", { code: "ECONNREFUSED", transient: true });
  const exchange: Client["exchange"] = async (...args) => {
    if (world.clock.now() < until) throw fault();
    return world.client.exchange(...args);
  };
  const faulty: Client = { ...world.client, exchange };
  const followFor = (minutes: number, hasResponded = true) => {
    until = world.clock.now() + minutes * 60_000;
    const { follower } = world.follow(faulty);
    follower.add(ours);
    return follower.settled(undefined, hasResponded);
  };
  await expect(followFor(9)).resolves.toBeUndefined();
  await expect(followFor(11)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  const start = world.clock.now();
  await expect(followFor(9, false)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(world.clock.now()).toBe(start);
  fault = () =>
    new ApiError({
      ...{ request: "GET /v1/tasks/ID", status: 401 },
      body: { type: "unauthorized", code: "invalid_api_key", message: "no" },
    });
  const before = world.clock.now();
  await expect(followFor(1)).rejects.toMatchObject({ code: "invalid_api_key" });
  expect(world.clock.now()).toBe(before);
});
