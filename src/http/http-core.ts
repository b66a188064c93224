import type { Clock } from "../clock.ts";
import { attemptTimeout } from "./attempt-timeout.ts";
import { type ApiKey, auth } from "./auth.ts";
import { deadline, type SendMessage } from "./deadline.ts";
import type { Connections } from "./dispatcher.ts";
import { exchange } from "./exchange.ts";
import { type ExchangeLog, exchangeLog } from "./exchange-log.ts";
import { idempotency } from "./idempotency.ts";
import { noRedirects } from "./no-redirects.ts";
import { pacing } from "./pacing.ts";
import { requestId } from "./request-id.ts";
import { defaultRetryPolicy, type RetryPolicy, retry } from "./retry.ts";
import { compose } from "./send.ts";
import type { OnWait } from "./wait.ts";
import { wholeJson } from "./whole-json.ts";

export interface HttpCoreOptions {
  /** The only origin that gets the key. */
  origin: string;
  apiKey: ApiKey;
  connections: Connections;
  clock: Clock;
  /** 0 (inclusive) to 1 (exclusive), for the spread of waits. */
  random: () => number;
  onExchange?: ((line: ExchangeLog) => void) | undefined;
  onWait?: OnWait | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  timeLimits?: Partial<TimeLimits> | undefined;
  /** The most bytes an answer may have. */
  maxAnswerBytes?: number | undefined;
}

/** In milliseconds. */
export interface TimeLimits {
  /** A whole call, with its retries and their waits. */
  totalMs: number;
  /** An attempt on which nothing arrives, or nothing more. */
  silenceMs: number;
  /** An attempt on which nearly nothing arrives. */
  attemptMs: number;
}

export const defaultTimeLimits: TimeLimits = { totalMs: 300_000, silenceMs: 30_000, attemptMs: 60_000 };
const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/** The core: everything about sending a request that does not depend on what the request is about. */
export function httpCore(options: HttpCoreOptions): SendMessage {
  const { clock, random, onExchange, onWait, connections } = options;
  const limits = { ...defaultTimeLimits, ...options.timeLimits };
  const policy = { ...defaultRetryPolicy, ...options.retry };

  // The first listed is the outermost. What stands before `retry` happens once a call, what stands after it once an attempt.
  const send = compose(
    exchange(connections.forOrigin, options.maxAnswerBytes ?? defaultMaxAnswerBytes),
    idempotency(),
    retry({ clock, random, policy, onWait }),
    pacing({ clock, random, windowMs: policy.windowMs, onWait }),
    requestId(),
    auth(options.origin, options.apiKey),
    noRedirects,
    wholeJson,
    ...(onExchange === undefined ? [] : [exchangeLog(clock, onExchange)]),
    attemptTimeout({ clock, ...limits }),
  );
  return deadline({ clock, totalMs: limits.totalMs })(send);
}
