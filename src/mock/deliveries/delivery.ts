import { limits } from "../../contract/limits.ts";
import type { WebhookEvent } from "../../contract/resources/webhooks.ts";
import { signatureHeader, signDelivery } from "../../contract/signature.ts";
import {
  isLoopbackHost,
  isPublicAddress,
  parseUrl,
  type UrlBreach,
  urlBreach,
} from "../../contract/url-policy.ts";
import type { Network } from "../outgoing/network.ts";
import { type RequestOutcome, sendOutgoing } from "../outgoing/outgoing-request.ts";
import type { Attempt, DeliveryRecord } from "../store/records.ts";

/** A delivery as GET /_mock/deliveries shows it. */
export interface RecordedDelivery {
  id: string;
  event_id: string;
  type: string;
  webhook_id: string;
  url: string;
  state: DeliveryRecord["state"];
  attempts: Attempt[];
  /** RFC 3339; null when no attempt is scheduled. */
  next_attempt_at: string | null;
  /** The event that is sent. */
  event: WebhookEvent;
}

export const shownDelivery = (delivery: DeliveryRecord): RecordedDelivery => ({
  id: delivery.id,
  event_id: delivery.event.id,
  type: delivery.event.type,
  webhook_id: delivery.webhook_id,
  url: delivery.url,
  state: delivery.state,
  attempts: [...delivery.attempts],
  next_attempt_at: delivery.due === null ? null : new Date(delivery.due).toISOString(),
  event: delivery.event,
});

/** Bytes read of a handler's response; only its status counts, but it might log a cut connection. */
const mostAnswerBytes = 64 * 1024;

/** One attempt to make. */
interface EventToSend {
  readonly url: string;
  readonly body: Buffer;
  /** Returns the current secret, which may change while the connection is made. */
  readonly secret: () => string;
  /** Start of the attempt, in milliseconds since the epoch. */
  readonly now: number;
  readonly isStrict: boolean;
  /** Whether the event should still be sent; checked until it is. */
  readonly isWanted: () => boolean;
}

/** Sends an event once (Events, Delivery and Signature); null if the mock ended or it was not wanted. */
export async function sendEvent(
  network: Network,
  life: AbortSignal,
  send: EventToSend,
): Promise<Attempt | null> {
  const { url, body, secret, now, isStrict, isWanted } = send;
  const sign = () => signDelivery(secret(), body, Math.floor(now / 1000));
  let signature = sign();
  const at = new Date(now).toISOString();
  const outcome: RequestOutcome =
    // Checked when the webhook was created, but the state may come from elsewhere, such as a less strict
    // mock.
    webhookUrlBreach(url, isStrict) !== null
      ? { fault: "blocked_host" }
      : await sendOutgoing(
          network,
          {
            method: "POST",
            url,
            headers: () => {
              // Sign again just before sending: the secret may have been rotated.
              signature = sign();
              return {
                "Content-Type": "application/json",
                "User-Agent": "catalogue-webhooks/1",
                [signatureHeader]: signature,
                "Content-Length": body.length,
              };
            },
            body,
            isAllowed: isLoopbackUrl(url) ? isLoopbackHost : isPublicAddress,
            timeoutMs: limits.webhookTimeoutMs,
            mostBytes: mostAnswerBytes,
            isWanted,
          },
          life,
        );
  if ("fault" in outcome) {
    return outcome.fault === "ended" ? null : { at, status: null, error: outcome.fault, signature };
  }
  // Only a complete response counts. One that breaks off is a failure, like one that comes too late.
  if (outcome.end === "broken") return { at, status: null, error: "connection_lost", signature };
  return { at, status: outcome.status, error: null, signature };
}

/** Only 2xx is a success; a redirect is a failure (Events, Retries 1). */
export const isAccepted = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;

/**
 * The first clause of the URL policy that a webhook URL breaks, or null (Webhooks, POST). Unless the mock is
 * strict, loopback URLs are allowed, also with http and on any port: offline, no other URL can be reached.
 */
export function webhookUrlBreach(text: string, isStrict: boolean): UrlBreach | null {
  const breach = urlBreach(text);
  if (breach === null || isStrict || !isLoopbackUrl(text)) return breach;
  return /^https?:\/\/[^/?#]*@/i.test(text) ? "credentials" : null;
}

/** Whether a URL is an http or https URL of this machine. */
function isLoopbackUrl(text: string): boolean {
  if (!/^https?:\/\/[^/?#\\]/i.test(text) || /[\u0000-\u0020\u007f-\u009f\\]/.test(text)) return false;
  const url = parseUrl(text);
  return url !== null && isLoopbackHost(url.hostname);
}
