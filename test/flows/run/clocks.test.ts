import { expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { clockToleranceMs } from "../../../src/clock.ts";
import { CatError } from "../../../src/errors.ts";
import {
  fromTheFuture,
  isBelievable,
  isKeyAlive,
  isKeyExpired,
  readClocks,
  readServiceTime,
  shownTime,
} from "../../../src/flows/run/clocks.ts";

const hour = 3_600_000;
const { signal } = new AbortController();

test.each<[here: number, service: number | null, alive: boolean, expired: boolean]>([
  [23 * hour - 1, 23 * hour - 1, true, false],
  [23 * hour, 23 * hour, false, true],
  [0, 23 * hour, false, false],
  [23 * hour, 23 * hour - 1, false, false],
  [23 * hour, null, false, true],
  [23 * hour - 1, null, true, false],
])(
  "a key used %i ms ago here and %j ms ago at the service: alive %j, expired %j",
  (here, service, alive, expired) => {
    const batch = { sentAt: 1000, sentAtService: service === null ? null : 5000 };
    const now = { here: 1000 + here, service: service === null ? null : 5000 + service };
    expect([isKeyAlive(batch, now), isKeyExpired(batch, now)]).toEqual([alive, expired]);
    if (service !== null)
      expect(isKeyExpired({ ...batch, sentAtService: null }, now)).toBe(here >= 23 * hour);
  },
);

/** A client whose first request fails with `error`; a response sets the time of the service to 7. */
function clientOf(error: unknown, known: number | null = null) {
  let time = known;
  let reads = 0;
  const list = async () => {
    reads++;
    if (error === null || (error instanceof CatError && error.status !== undefined)) time = 7;
    if (error !== null) throw error;
  };
  const client = { products: { list }, serviceNow: () => time } as unknown as Client;
  return { client, reads: () => reads };
}

const failure = (status?: number) =>
  new CatError("no", { type: "network", code: "no", ...(status !== undefined && { status }) });
const clock = { now: () => 3 } as never;

test("the time of the service is known after any response, and one request at most", async () => {
  const knownClient = clientOf(null, 5);
  expect(await readClocks({ client: knownClient.client, clock, signal })).toEqual({ here: 3, service: 5 });
  expect(knownClient.reads()).toBe(0);
  for (const error of [null, failure(403)]) {
    const { client, reads } = clientOf(error);
    expect(await readClocks({ client, clock, signal })).toEqual({ here: 3, service: 7 });
    expect(reads()).toBe(1);
  }
});

test("without a response the time of the service is not known, and other errors are thrown", async () => {
  const { client } = clientOf(failure());
  expect(await readClocks({ client, clock, signal })).toEqual({ here: 3, service: null });
  await expect(readServiceTime({ client, signal })).rejects.toThrow("no");
  const broken = clientOf(new TypeError("broken"));
  await expect(readClocks({ client: broken.client, clock, signal })).rejects.toThrow("broken");
});

test("a stored time is believed up to the tolerance of clocks, and shown to the second", () => {
  const client = { earliest: () => 1000 };
  expect(isBelievable(1000 + clockToleranceMs, client)).toBe(true);
  expect(isBelievable(1001 + clockToleranceMs, client)).toBe(false);
  expect(fromTheFuture("T")).toBe(
    "The last run stored the time T, which is in the future: a clock is or was wrong. Reading everything again.",
  );
  expect(shownTime(Date.parse("2026-01-05T09:00:00.999Z"))).toBe("2026-01-05T09:00:00Z");
});
