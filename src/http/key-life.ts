import { type Clock, elapsedMs } from "../clock.ts";
import { CatError } from "../errors.ts";
import { type Interceptor, isWrite, nameOf } from "./send.ts";

export interface KeyLife {
  readonly clock: Clock;
  /** The service's time; null if unknown. */
  readonly serviceNow: () => number | null;
  /** How long a key is used, in milliseconds. */
  readonly lifeMs: number;
}

/**
 * Checks the age of the idempotency key in the moment in which each attempt of a write is sent: the machine may have
 * slept while it waited, and the service carries out a request again whose key it has forgotten.
 */
export const keyLife =
  ({ clock, serviceNow, lifeMs }: KeyLife): Interceptor =>
  (next) =>
  (request) => {
    if (!isWrite(request)) return next(request);
    const now = () => ({ here: clock.now(), service: serviceNow() });
    const since = request.keyFrom ?? now();
    const whyNotSent = () => {
      // Before the first response of the service nothing is known of the distance between the clocks.
      const at = since.service === null ? { here: clock.now(), service: null } : now();
      const passedMs = elapsedMs(since, at);
      return passedMs < lifeMs ? null : expired(nameOf(request), lifeMs);
    };
    return next({ ...request, whyNotSent });
  };

const expired = (request: string, lifeMs: number): CatError =>
  new CatError(
    `${request} was not sent: it waited for longer than ${Math.floor(lifeMs / 3_600_000)} h, until its idempotency key expired`,
    { type: "timeout", code: "key_expired", hint: "Run the same command again." },
  );
