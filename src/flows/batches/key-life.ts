import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";

/** How long a key is used, in milliseconds: the service forgets it after 24 hours (Cross-cutting rule 1); one is left for clocks that are wrong. */
export const keyLifeMs = limits.idempotencyKeyMs - 3_600_000;

/** What the clocks show, in Unix milliseconds: this machine's, and the service's where it has told. */
export interface Clocks {
  readonly here: number;
  readonly service: number | null;
}

/** Whether a call may be sent again under its key. The service forgets by its own clock: the one by which more time has passed is believed. */
export function isKeyAlive(
  { sentAt, sentAtService }: Pick<StoredBatch, "sentAt" | "sentAtService">,
  { here, service }: Clocks,
): boolean {
  const passedThere = service === null ? 0 : service - (sentAtService ?? sentAt);
  return Math.max(here - sentAt, passedThere) < keyLifeMs;
}

/** Both clocks now. The service is asked where it has not answered anything yet. */
export async function readClocks({
  clock,
  ...asked
}: {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}): Promise<Clocks> {
  await hearOf(asked).catch((error: unknown) => {
    if (!(error instanceof CatError)) throw error;
  });
  return { here: clock.now(), service: asked.client.serviceNow() };
}

/**
 * Has the service tell its time, where it has not answered anything yet; what it says does not matter, but when. Throws why
 * there was no answer at all; one without a `Date` tells nothing.
 */
export async function hearOf({ client, signal }: { client: Client; signal: AbortSignal }): Promise<void> {
  if (client.serviceNow() !== null) return;
  try {
    await client.products.list({ limit: 1 }, { signal });
  } catch (error) {
    if (!(error instanceof CatError) || error.status === undefined) throw error;
  }
}
