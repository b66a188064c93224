import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { type Client, createClient } from "../../../src/client/client.ts";
import type { Task } from "../../../src/contract/resources/tasks.ts";
import { TaskFollower } from "../../../src/flows/run/follow.ts";
import { NetworkError } from "../../../src/http/errors.ts";
import { startMock } from "../../../src/mock/index.ts";
import { TestClock } from "../../support/test-clock.ts";

/** A mock with products and a client on a clock that jumps over waits. */
async function taskWorld() {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, demo: 1, rateLimit: false });
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

test("reports a task that the service does not have, and follows the others", async () => {
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
  const get: Client["tasks"]["get"] = async (...args) => {
    if (world.clock.now() < until) throw fault();
    return world.client.tasks.get(...args);
  };
  const faulty: Client = { ...world.client, tasks: { ...world.client.tasks, get } };
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
