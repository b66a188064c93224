import type { Clock } from "../clock.ts";
import { TimeoutError } from "./errors.ts";
import { linkedAbort } from "./linked-abort.ts";
import { type Interceptor, nameOf } from "./send.ts";
import { uploadMs } from "./upload-time.ts";

interface AttemptTimeoutOptions {
  clock: Clock;
  /** The maximum silence of an attempt, before the head or between parts of the body, in milliseconds. */
  silenceMs: number;
  /** The maximum duration if nearly nothing arrives, in milliseconds; received bytes extend it. */
  attemptMs: number;
}

/** The average rate below which a response counts as dripping, in bytes per millisecond: 8 kB/s. */
const drip = 8;

/** Ends an attempt that receives nothing, or so little that it would never end. */
export const attemptTimeout =
  ({ clock, silenceMs, attemptMs }: AttemptTimeoutOptions): Interceptor =>
  (next) =>
  async (request) => {
    const link = linkedAbort(request.signal);
    const begun = clock.now() + uploadMs(request.body);
    let received = 0;
    let cancel = () => {};
    const giveUp = () => {
      const seconds = Math.round((clock.now() - begun) / 1000);
      const came = received === 0 ? "no response" : `only ${received} bytes`;
      link.abort(
        new TimeoutError(`${nameOf(request)}: ${came} from ${request.origin} within ${seconds} s`, {
          code: "attempt_timeout",
          requestId: request.headers["x-request-id"],
        }),
      );
    };
    const watch = (from: number) => {
      cancel();
      cancel = clock.at(Math.min(from + silenceMs, begun + attemptMs + received / drip), giveUp);
    };
    watch(begun);
    const onActivity = (bytes: number) => {
      received += bytes;
      watch(clock.now());
    };
    try {
      return await next({ ...request, signal: link.signal, onActivity });
    } finally {
      cancel();
      link.release();
    }
  };
