import { isOfService } from "../../src/client/read-response.ts";
import { MovableClock } from "../../src/clock.ts";
import { pacing } from "../../src/http/pacing.ts";
import { defaultRetryPolicy, retry } from "../../src/http/retry.ts";
import { type Answer, compose, type Send } from "../../src/http/send.ts";
import type { SharedCount } from "../../src/http/shared-count.ts";
import { deadline } from "../../src/http/time-limits.ts";
import { seededRandom } from "../support/seeded-random.ts";

const minuteMs = 60_000;

/** A client and its requests. Times in milliseconds. */
export interface Sender {
  readonly requests: number;
  /** The number of requests in flight at once. */
  readonly concurrency: number;
  /** Its first request, from the start of the scenario. */
  readonly startMs: number;
  /** The bounds of the latency in each direction. */
  readonly latencyMs: readonly [number, number];
}

/** The result of a sender. */
export interface Sent {
  /** Requests carried out, by minute of the service's clock. */
  readonly perMinute: Map<number, number>;
  refused: number;
  /** When its last request got a response. */
  endedAt: number;
}

export interface Story {
  readonly senders: Sent[];
  readonly all: Sent;
  readonly begun: number;
}

export const minuteOf = (time: number): number => Math.floor(time / minuteMs);

const nobody = (): Sent => ({ perMinute: new Map(), refused: 0, endedAt: 0 });

/**
 * Lets senders share the window of one service like separate processes: each has its own core and knows the
 * others only through the headers, and the count of its computer. No real time passes. `offsetMs` is the start
 * of the scenario within a minute, `limit` the service's limit per minute.
 */
export async function share(
  senders: readonly Sender[],
  {
    limit = 60,
    offsetMs = 0,
    seed = 1,
    count,
  }: { limit?: number; offsetMs?: number; seed?: number; count?: () => SharedCount } = {},
): Promise<Story> {
  const clock = new MovableClock({ frozenAt: Date.parse("2026-01-05T09:00:00Z") + offsetMs });
  const begun = clock.now();
  const random = seededRandom(seed);
  const all = nobody();
  const known = senders.map(nobody);
  let minute = -1;
  let used = 0;

  const answer = (sent: Sent): Answer => {
    const now = clock.now();
    if (minuteOf(now) !== minute) used = 0;
    minute = minuteOf(now);
    const allowed = used < limit;
    if (allowed) used++;
    for (const whose of [sent, all]) {
      if (allowed) whose.perMinute.set(minute, (whose.perMinute.get(minute) ?? 0) + 1);
      else whose.refused++;
    }
    const opens = (minute + 1) * minuteMs;
    const headers = {
      date: new Date(now).toUTCString(),
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(limit - used),
      "x-ratelimit-reset": String(opens / 1000),
      ...(!allowed && { "retry-after": String(Math.ceil((opens - now) / 1000)) }),
    };
    const json = allowed ? {} : { error: { type: "rate_limited" } };
    return { status: allowed ? 201 : 429, headers, body: new Uint8Array(), json };
  };

  const run = async (sender: Sender, sent: Sent): Promise<void> => {
    await clock.sleep(sender.startMs);
    const [least, most] = sender.latencyMs;
    const travel = () => clock.sleep((least + random() * (most - least)) / 2);
    const service: Send = async () => {
      await travel();
      const given = answer(sent);
      await travel();
      return given;
    };
    const writes = count?.();
    const counts = writes && { reads: writes, writes };
    const paced = compose(
      service,
      retry({ clock, random, policy: defaultRetryPolicy, isOfService }),
      pacing({ clock, windowMs: minuteMs, counts }),
    );
    const send = deadline({ clock, totalMs: 300_000 })(paced);
    let left = sender.requests;
    const worker = async () => {
      while (left-- > 0) {
        const message = { method: "POST", path: "/v1/images", origin: "https://api.example.com" } as const;
        const { status } = await send({ ...message, headers: { "idempotency-key": "k" }, body: null });
        if (status !== 201) throw new Error(`a request ended with ${status}`);
      }
    };
    await Promise.all(Array.from({ length: sender.concurrency }, worker));
    sent.endedAt = clock.now();
  };

  let over = false;
  const told = Promise.all(senders.map((sender, index) => run(sender, known[index]!))).finally(() => {
    over = true;
  });
  told.catch(() => {});
  while (!over) {
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    const due = clock.nextDue();
    if (due !== null && !over) clock.advance(due - clock.now());
  }
  await told;
  all.endedAt = Math.max(...known.map(({ endedAt }) => endedAt));
  return { senders: known, all, begun };
}
