import { describe, expect, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import type { Task } from "../../../src/contract/resources/tasks.ts";
import { generatingEvent, readTasks, TaskFollower } from "../../../src/flows/run/follow.ts";

/** A task that ends at its second read, if at all. */
interface Made {
  readonly statuses: readonly Task["status"][];
  /** The rounds in which the service does not have it, from 0. */
  readonly missingIn?: readonly number[];
  readonly retryAfterMs?: number;
}

/** A service that lists no task, so that each is fetched; its clock jumps over sleeps. */
function follow(made: { readonly [id: string]: Made }) {
  let now = 0;
  const pauses: number[] = [];
  const reads = new Map<string, number>();
  let round = 0;
  const events: string[] = [];
  const client = {
    async *paginate() {},
    async exchange(_: unknown, { task_id }: { task_id: string }) {
      const { statuses, missingIn = [], retryAfterMs } = made[task_id]!;
      if (missingIn.includes(round))
        throw new ApiError({
          ...{ request: "GET", status: 404 },
          body: { type: "not_found", code: "task_not_found", message: "no" },
        });
      const read = reads.get(task_id) ?? 0;
      reads.set(task_id, read + 1);
      return {
        body: { id: task_id, status: statuses[Math.min(read, statuses.length - 1)] },
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    },
  };
  const clock = {
    now: () => now,
    async sleep(ms: number) {
      pauses.push(ms);
      now += ms;
      round++;
    },
  };
  const service = { client, clock, signal: new AbortController().signal, concurrency: 4 } as never;
  const follower = new TaskFollower(service, {
    onStatus: ({ id, status }) => void events.push(`${id} ${status}`),
    onLost: (id) => void events.push(`${id} lost`),
  });
  follower.add(Object.keys(made));
  return { follower, pauses, events, service };
}

describe("following tasks", () => {
  test("reports each status once, counts them, and pauses five seconds without a Retry-After", async () => {
    const { follower, pauses, events } = follow({
      a: { statuses: ["queued", "queued", "running", "succeeded"] },
    });
    await follower.settled();
    expect(events).toEqual(["a queued", "a running", "a succeeded"]);
    expect(pauses).toEqual([5000, 5000, 5000]);
    expect(follower.counts).toEqual({ added: 1, queued: 0, running: 0, succeeded: 1, failed: 0, lost: 0 });
    expect(follower.open).toBe(0);
  });

  test("loses a task that two rounds in a row do not find, after a second", async () => {
    const { follower, pauses, events } = follow({ a: { statuses: [], missingIn: [0, 1] } });
    await follower.settled();
    expect([events, pauses, follower.counts.lost]).toEqual([["a lost"], [1000], 1]);
  });

  test("keeps a task that is missing for one round, also twice", async () => {
    const { follower, events } = follow({
      a: { statuses: ["queued", "succeeded"], missingIn: [0, 2] },
    });
    await follower.settled();
    expect(events).toEqual(["a queued", "a succeeded"]);
  });

  test("pauses as an open task asks while another one is missing", async () => {
    const { follower, pauses, events } = follow({
      a: { statuses: ["failed"], missingIn: [0] },
      b: { statuses: ["running", "succeeded"], retryAfterMs: 2000 },
    });
    await follower.settled();
    expect(events).toEqual(["b running", "a failed", "b succeeded"]);
    expect(pauses).toEqual([2000]);
  });

  test("loses a task at once in a single round", async () => {
    const { follower, events } = follow({ a: { statuses: [], missingIn: [0] } });
    await follower.round();
    expect([events, follower.open]).toEqual([["a lost"], 0]);
  });

  test("reads tasks once, without those that the service does not have", async () => {
    const { service } = follow({ a: { statuses: ["running"] }, b: { statuses: [], missingIn: [0] } });
    const tasks = await readTasks(new Set(["a", "b"]), service);
    expect([...tasks.keys()]).toEqual(["a"]);
  });
});

test.each([
  [
    { added: 5, running: 1, succeeded: 1, failed: 1, lost: 1 },
    7,
    0,
    { done: 3, note: "2 to send, 1 queued, 1 running, 1 failed" },
  ],
  [{ added: 7, running: 0, succeeded: 7, failed: 0, lost: 0 }, 7, 0, { done: 7 }],
  [
    { added: 0, running: 0, succeeded: 0, failed: 0, lost: 0 },
    7,
    9000,
    { done: 0, note: "7 to send", leastMsLeft: 9000 },
  ],
])("the progress of %j of %i tasks, at least %i ms: %j", (counts, total, leastMsLeft, expected) => {
  expect(generatingEvent({ queued: 0, ...counts }, total, leastMsLeft)).toEqual({
    step: "generating",
    total,
    ...expected,
  });
});
