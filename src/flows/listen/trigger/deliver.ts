import { limits } from "../../../contract/limits.ts";
import { signatureHeader, signDelivery } from "../../../contract/signature.ts";
import type { Post, PostOutcome } from "../../../http/post.ts";

/** What a delivery needs: where it goes, and what signs it. */
export interface DeliveryTarget {
  readonly url: URL;
  /** The complete signing secret. */
  readonly secret: string;
  /** The name of the signature header (default: `Service-Signature`). */
  readonly headerName?: string | undefined;
  readonly send: (post: Post) => Promise<PostOutcome>;
  readonly now: () => number;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

/** Deviations from a genuine delivery, to test a handler. */
export interface Deviation {
  /** Seconds by which the timestamp is older than now. */
  readonly ageSeconds?: number;
  /** A signature header to send instead of the genuine one; null sends none. */
  readonly header?: string | null;
  /** Sends the body in pieces. */
  readonly pieces?: (body: Buffer) => AsyncIterable<Uint8Array>;
}

/** Signs an event and sends it once, as the service does (Events, Delivery and Signature). */
export function deliver(
  { url, secret, headerName = signatureHeader, send, now, userAgent, signal }: DeliveryTarget,
  text: string,
  { ageSeconds = 0, header, pieces }: Deviation = {},
): Promise<PostOutcome> {
  const body = Buffer.from(text);
  const signed = signDelivery(secret, body, Math.floor(now() / 1000) - ageSeconds);
  const value = header === undefined ? signed : header;
  return send({
    url,
    headers: [
      ["content-type", "application/json"],
      ["user-agent", userAgent],
      ...(value === null ? [] : [[headerName, value] as const]),
    ],
    body: pieces === undefined ? body : pieces(body),
    timeoutMs: limits.webhookTimeoutMs,
    signal,
  });
}
