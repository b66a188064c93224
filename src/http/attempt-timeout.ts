import type { Clock } from "../clock.ts";
import { TimeoutError } from "./errors.ts";
import { linkedAbort } from "./linked-abort.ts";
import { type Interceptor, nameOf } from "./send.ts";
import { uploadMs } from "./upload-time.ts";

interface AttemptTimeoutOptions {
  clock: Clock;
  /** How long an attempt may be silent: nothing of the head, or nothing more of the body, in milliseconds. */
  silenceMs: number;
  /** How long it may take in all, in milliseconds, when nearly nothing arrives; what does arrive buys more. */
  attemptMs: number;
}

/** Less than this on average, in bytes a millisecond, is a drip: 8 kB/s. */
const drip = 8;

/** Ends an attempt on which nothing arrives any more, or so little that it would never end. */
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
      const came = received === 0 ? "nothing" : `only ${received} bytes`;
      link.abort(
        new TimeoutError(`${nameOf(request)}: ${came} came from ${request.origin} in ${seconds} s`, {
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
