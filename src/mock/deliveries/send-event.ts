import { limits } from "../../contract/limits.ts";
import { signatureHeader, signDelivery } from "../../contract/signature.ts";
import { isLoopbackHost, isPublicAddress } from "../../contract/url-policy.ts";
import { type CallOutcome, callOut } from "../outgoing/call-out.ts";
import type { Network } from "../outgoing/network.ts";
import { isLoopbackUrl, webhookUrlBreach } from "../rules/webhook-url.ts";
import type { Life } from "../work/life.ts";
import type { Attempt } from "./delivery-record.ts";

/** No more of a handler's answer is read: only its status counts, but one who is cut off while answering might worry. */
const mostAnswerBytes = 64 * 1024;

/** One attempt to be made. */
interface EventToSend {
  readonly url: string;
  readonly body: Buffer;
  /** The secret as it is when it is asked for: it may change while the connection is made. */
  readonly secret: () => string;
  /** When the attempt began, in milliseconds since the epoch. */
  readonly now: number;
  readonly isStrict: boolean;
  /** Whether it still is to go out, asked until it does. */
  readonly isWanted: () => boolean;
}

/**
 * Sends an event's bytes once, signed for the moment at which the attempt began (Events, Delivery and Signature). Null when the mock ended meanwhile, or it was
 * wanted no more.
 */
export async function sendEvent(network: Network, life: Life, send: EventToSend): Promise<Attempt | null> {
  const { url, body, secret, now, isStrict, isWanted } = send;
  const sign = () => signDelivery(secret(), body, Math.floor(now / 1000));
  let signature = sign();
  const at = new Date(now).toISOString();
  const outcome: CallOutcome =
    // It was checked when the webhook was made, but a state may have been put in since, or a stricter mock have loaded it.
    webhookUrlBreach(url, isStrict) !== null
      ? { fault: "blocked_host" }
      : await callOut(
          network,
          {
            method: "POST",
            url,
            headers: () => {
              // Nothing goes out with a secret whose successor was told already.
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
  // The whole answer counts: one that breaks off is none, as one is that comes too late.
  if (outcome.end === "broken") return { at, status: null, error: "connection_lost", signature };
  return { at, status: outcome.status, error: null, signature };
}

/** Anything but 2xx is a failure; so is a redirect (Events, Retries 1). */
export const isAccepted = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;
