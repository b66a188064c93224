// Clocks: that of this machine and that of the service, either of which may be wrong.

import type { Client } from "../../client/client.ts";
import { type Clock, type Clocks, clockToleranceMs, elapsedMs } from "../../clock.ts";
import { keyLifeMs } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";

type SentTimes = Pick<StoredBatch, "sentAt" | "sentAtService">;

export const keyFrom = ({ sentAt, sentAtService }: SentTimes): Clocks => ({
  here: sentAt,
  service: sentAtService,
});

/** Whether a batch may be repeated with its key, which expires by the service's clock. */
export const isKeyAlive = (batch: SentTimes, now: Clocks): boolean =>
  elapsedMs(keyFrom(batch), now) < keyLifeMs;

/** Whether a batch is older than keys live, by both clocks: if one is wrong, it may still be in progress. */
export const isKeyExpired = ({ sentAt, sentAtService }: SentTimes, now: Clocks) =>
  now.here - sentAt >= keyLifeMs &&
  (now.service === null || sentAtService === null || now.service - sentAtService >= keyLifeMs);

/** The current time of both clocks. Without any response so far, a request is sent first. */
export async function readClocks({
  clock,
  ...asked
}: {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}): Promise<Clocks> {
  await readServiceTime(asked).catch((error: unknown) => {
    if (!(error instanceof CatError)) throw error;
  });
  return { here: clock.now(), service: asked.client.serviceNow() };
}

/** Gets a first response for the time of the service, by its `Date`. Throws the error without a response. */
export async function readServiceTime({
  client,
  signal,
}: {
  client: Client;
  signal: AbortSignal;
}): Promise<void> {
  if (client.serviceNow() !== null) return;
  try {
    await client.products.list({ limit: 1 }, { signal });
  } catch (error) {
    if (!(error instanceof CatError) || error.status === undefined) throw error;
  }
}

/** Whether changes may be read from a stored time on; a future one was stored by a wrong clock. */
export const isBelievable = (time: number, client: Pick<Client, "earliest">): boolean =>
  time <= client.earliest() + clockToleranceMs;

export const fromTheFuture = (time: string): string =>
  `The last run stored the time ${time}, which is in the future: a clock is or was wrong. Reading everything again.`;

/** A time for users, in UTC to the second. */
export const shownTime = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
