import { limits } from "../../contract/limits.ts";
import { signDelivery } from "../../contract/signature.ts";
import { signatureHeader } from "../../contract/signature-header.ts";
import {
  exactHost,
  isLoopbackHost,
  isPublicAddress,
  parseUrl,
  type UrlBreach,
  urlBreach,
} from "../../contract/url-policy.ts";
import type { RecordedDelivery } from "../api/recorded.ts";
import type { DeliveryFault } from "../faults/faults.ts";
import type { Network, Reach } from "../outgoing/network.ts";
import { type RequestOutcome, sendOutgoing } from "../outgoing/outgoing-request.ts";
import type { Attempt, DeliveryRecord } from "../store/records.ts";

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

interface EventToSend {
  readonly url: string;
  readonly body: Buffer;
  /** Returns the current secret, which may change while the connection is made. */
  readonly secret: () => string;
  /** Start of the attempt, in milliseconds since the epoch. */
  readonly now: number;
  readonly rules: WebhookRules;
  /** Whether the event should still be sent; checked until it is. */
  readonly isWanted: () => boolean;
  readonly fault: DeliveryFault | null;
}

/** How long ago a delivery with an old signature was signed, in seconds: more than any usual tolerance. */
const oldSeconds = 3_600;

/** Sends an event once (Events, Delivery and Signature); null if the mock ended or it was not wanted. */
export async function sendEvent(
  network: Network,
  life: AbortSignal,
  send: EventToSend,
): Promise<Attempt | null> {
  const { url, body, secret, now, rules, isWanted, fault } = send;
  const sign = () => signedBy(secret(), body, Math.floor(now / 1000), fault);
  let signature = sign();
  const at = new Date(now).toISOString();
  if (fault?.drop === "before") return { at, status: null, error: "connection_lost", signature };
  const outcome: RequestOutcome =
    // Checked when the webhook was created, but the state may come from elsewhere, such as a less strict
    // mock.
    webhookUrlBreach(url, rules) !== null
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
                ...(signature !== "" && { [signatureHeader]: signature }),
                "Content-Length": body.length,
              };
            },
            body,
            ...(fault?.truncate !== undefined && { cutAfter: fault.truncate }),
            isAllowed: toReach(url, rules),
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
  if (outcome.end === "broken" || fault?.drop === "after")
    return { at, status: null, error: "connection_lost", signature };
  return { at, status: outcome.status, error: null, signature };
}

/** The signature header of an attempt; empty if a fault removes it. */
function signedBy(secret: string, body: Buffer, seconds: number, fault: DeliveryFault | null): string {
  if (fault?.signature === "missing") return "";
  if (fault?.signature === "old") return signDelivery(secret, body, seconds - oldSeconds);
  return signDelivery(fault?.signature === "wrong" ? `${secret}_wrong` : secret, body, seconds);
}

/** Only 2xx is a success; a redirect is a failure (Events, Retries 1). */
export const isAccepted = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;

export interface WebhookRules {
  readonly strict: boolean;
  readonly allowHosts: ReadonlySet<string>;
}

/**
 * The first clause of the URL policy that a webhook URL breaks, or null (Webhooks, POST). Unless the mock is
 * strict, URLs of this machine and of allowed hosts are accepted, also with http and on any port: offline, no
 * other URL can be reached.
 */
export function webhookUrlBreach(text: string, rules: WebhookRules): UrlBreach | null {
  const breach = urlBreach(text);
  if (breach === null || nearHost(text, rules) === null) return breach;
  return /^https?:\/\/[^/?#]*@/i.test(text) ? "credentials" : null;
}

/** The addresses that a webhook URL may lead to: an allowed host has those that the system knows. */
function toReach(text: string, rules: WebhookRules): Reach {
  const near = nearHost(text, rules);
  if (near === null) return isPublicAddress;
  return near === "this_machine" ? isLoopbackHost : () => true;
}

/** Where an http or https URL leads, if not to a host that the service would accept. */
function nearHost(text: string, { strict, allowHosts }: WebhookRules): "this_machine" | "allowed" | null {
  if (strict || !/^https?:\/\/[^/?#\\]/i.test(text) || /[\u0000-\u0020\u007f-\u009f\\]/.test(text))
    return null;
  const url = parseUrl(text);
  if (url === null) return null;
  if (isLoopbackHost(url.hostname)) return "this_machine";
  return allowHosts.has(exactHost(url.hostname) ?? "") ? "allowed" : null;
}
