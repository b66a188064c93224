import type { Dispatcher } from "undici";
import { BadAnswerError } from "./errors.ts";
import { networkFailure } from "./network-failure.ts";
import { openStream } from "./response-stream.ts";
import { headerOf, nameOf, type Send } from "./send.ts";

/**
 * One exchange with the server through undici: no retry and no redirect. A response of more than `maxBytes` is cut off
 * while it streams, so that it cannot exhaust memory.
 */
export const exchange =
  (dispatcherFor: (origin: string) => Promise<Dispatcher>, maxBytes: number): Send =>
  async (request) => {
    const dispatcher = await dispatcherFor(request.origin);
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
      const message = `${nameOf(request)}: ${origin} sent a response of more than ${megabytes} MB`;
      const requestId = headerOf(response, "x-request-id");
      return new BadAnswerError(message, { code: "answer_too_large", status: response.status, requestId });
    };
    try {
      await response.head();
      if (Number(headerOf(response, "content-length")) > maxBytes) throw tooLarge();
      const kept: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunks of response) {
        kept.push(...chunks);
        for (const chunk of chunks) bytes += chunk.length;
        if (bytes > maxBytes) throw tooLarge();
      }
      return { status: response.status, headers: response.headers, body: Buffer.concat(kept) };
    } finally {
      response.close();
    }
  };
