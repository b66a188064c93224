import type { Clock } from "../clock.ts";
import type { Connections } from "./connections.ts";
import { BadResponseError } from "./errors.ts";
import { type ExchangeLog, exchangeLog } from "./exchange-log.ts";
import { withoutKey } from "./mask.ts";
import { networkFailure } from "./network-failure.ts";
import { type PacingOptions, pacing } from "./pacing.ts";
import { type ApiKey, auth, idempotency, type KeyLife, keyLife, requestId } from "./request-headers.ts";
import { completeJson, noRedirects, openStream } from "./response-stream.ts";
import { defaultRetryPolicy, type OnWait, type RetryPolicy, retry } from "./retry.ts";
import { type Answer, compose, type Interceptor, readHeader, requestName, type Send } from "./send.ts";
import {
  attemptTimeout,
  deadline,
  defaultTimeLimits,
  type SendMessage,
  type TimeLimits,
} from "./time-limits.ts";
import { isTimeout, TransferLimit, uploadsInTurn } from "./transfer-limit.ts";

export interface HttpCoreOptions {
  /** The only origin that receives the API key. */
  origin: string;
  apiKey: ApiKey;
  connections: Connections;
  clock: Clock;
  /** 0 (inclusive) to 1 (exclusive), for the jitter of waits. */
  random: () => number;
  counts?: PacingOptions["counts"];
  onExchange?: ((line: ExchangeLog) => void) | undefined;
  onWait?: OnWait | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  timeLimits?: Partial<TimeLimits> | undefined;
  /** The maximum size of a response in bytes. */
  maxAnswerBytes?: number | undefined;
  /** How long idempotency keys are used; without it, for ever. */
  keyLife?: Omit<KeyLife, "clock"> | undefined;
  /** Whether the service sent a response: a gateway may have passed the request on before it responds. */
  isOfService: (answer: Answer) => boolean;
  onAnswer?: ((answer: Answer) => void) | undefined;
}

const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/** The core: everything about sending a request that does not depend on its content. */
export function httpCore(options: HttpCoreOptions): SendMessage {
  const { clock, random, onExchange, onWait, connections } = options;
  const limits = { ...defaultTimeLimits, ...options.timeLimits };
  const policy = { ...defaultRetryPolicy, ...options.retry };

  // The first one is the outermost. Those before `retry` run once per request, the others once per attempt.
  const send = compose(
    exchange(connections, options.maxAnswerBytes ?? defaultMaxAnswerBytes),
    idempotency(),
    ...(options.keyLife === undefined ? [] : [keyLife({ clock, ...options.keyLife })]),
    retry({ clock, random, policy, isOfService: options.isOfService, onWait }),
    ...(options.onAnswer === undefined ? [] : [heard(options.onAnswer)]),
    pacing({ clock, windowMs: policy.windowMs, counts: options.counts, onWait }),
    // Not before: uploads that wait for the first one of the window would keep it from its second attempt.
    uploadsInTurn({ transfers: new TransferLimit(), onWait }),
    requestId,
    auth(options.origin, options.apiKey),
    noRedirects,
    completeJson,
    ...(onExchange === undefined ? [] : [exchangeLog(clock, onExchange)]),
    attemptTimeout({ clock, onWait, ...limits }),
    withoutKey(),
  );
  return deadline({ clock, totalMs: limits.totalMs })(send);
}

const heard =
  (onAnswer: (answer: Answer) => void): Interceptor =>
  (next) =>
  async (request) => {
    const answer = await next(request);
    onAnswer(answer);
    return answer;
  };

/** One exchange, without retry or redirect. A response over `maxBytes` is cut off as it streams. */
export const exchange =
  (connections: Pick<Connections, "forOrigin" | "retire">, maxBytes: number): Send =>
  async (request) => {
    const dispatcher = await connections.forOrigin(request.origin);
    request.signal.throwIfAborted();
    const { origin, path, method, headers, body, signal, onActivity, call } = request;
    const response = openStream(
      dispatcher,
      { origin, path, method, headers, body },
      {
        signal,
        onActivity,
        onSocket() {
          const why = request.whyNotSent?.() ?? null;
          if (why === null) call.doubt(true);
          return why;
        },
        toError: (error) => networkFailure(error, request) ?? error,
      },
    );
    const tooLarge = () => {
      const megabytes = Math.round(maxBytes / 1024 / 1024);
      const message = `${requestName(request)}: ${origin} sent a response of more than ${megabytes} MB`;
      const requestId = readHeader(response, "x-request-id");
      return new BadResponseError(message, {
        code: "response_too_large",
        status: response.status,
        requestId,
      });
    };
    try {
      await response.head();
      if (Number(readHeader(response, "content-length")) > maxBytes) throw tooLarge();
      const kept: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunks of response) {
        kept.push(...chunks);
        for (const chunk of chunks) bytes += chunk.length;
        if (bytes > maxBytes) throw tooLarge();
      }
      // The service is not behind this connection.
      if (response.status === 421) await connections.retire(origin, dispatcher);
      const body = kept.length === 1 ? kept[0]! : Buffer.concat(kept);
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (isTimeout(signal.reason)) await connections.retire(origin, dispatcher);
      throw error;
    } finally {
      response.close();
    }
  };
