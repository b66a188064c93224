import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";

/** How long a key is used, in milliseconds: 24 hours (Cross-cutting rule 1) less one hour for inaccurate clocks. */
export const keyLifeMs = limits.idempotencyKeyMs - 3_600_000;

/** The current time in Unix milliseconds, by the local clock and, if known, by the service's. */
export interface Clocks {
  readonly here: number;
  readonly service: number | null;
}

/**
 * Whether a request may be repeated with its key. The key expires by the service's clock: the clock that
 * shows more elapsed time decides.
 */
export function isKeyAlive(
  { sentAt, sentAtService }: Pick<StoredBatch, "sentAt" | "sentAtService">,
  { here, service }: Clocks,
): boolean {
  const passedThere = service === null ? 0 : service - (sentAtService ?? sentAt);
  return Math.max(here - sentAt, passedThere) < keyLifeMs;
}

/** The current time of both clocks. Without any response so far, a request is sent first. */
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
 * Gets a first response, whatever its content, for the time of the service. Throws the error if there is no
 * response; one without a `Date` gives no time.
 */
export async function hearOf({ client, signal }: { client: Client; signal: AbortSignal }): Promise<void> {
  if (client.serviceNow() !== null) return;
  try {
    await client.products.list({ limit: 1 }, { signal });
  } catch (error) {
    if (!(error instanceof CatError) || error.status === undefined) throw error;
  }
}
