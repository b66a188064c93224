import type { Client } from "../../client/client.ts";

/** How far a stored time may be ahead of the current one, in milliseconds: clocks of two machines differ. */
const toleranceMs = 60_000;

/**
 * Whether changes may be read from a stored time on (`Client.earliest`). One in the future, by the local clock or the
 * service's, was stored while a clock was wrong: the changes before it were not all read.
 */
export const isBelievable = (time: number, client: Pick<Client, "earliest">): boolean =>
  time <= client.earliest() + toleranceMs;

/** A note for a stored time that is not believed. */
export const fromTheFuture = (time: string): string =>
  `The last run stored the time ${time}, which is in the future: a clock is or was wrong. Reading everything again.`;
