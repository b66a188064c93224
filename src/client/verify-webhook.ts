import { systemClock } from "../clock.ts";
import { verifySignature } from "../contract/signature.ts";
import {
  checkedDelivery,
  type DeliveredEvent,
  signedEvent,
  type WebhookDelivery,
} from "./webhook-delivery.ts";

/**
 * Checks the signature of a delivery and returns its event. Throws a SignatureError if the signature is
 * invalid, a CatalogueError if the body is not a JSON object, and a TypeError for invalid arguments, because
 * a misconfigured check must not pass. Deliveries repeat: deduplicate by the event's `id`.
 */
export function verifyWebhook(delivery: WebhookDelivery): DeliveredEvent {
  const input = checkedDelivery(delivery, () => systemClock().now());
  return signedEvent(verifySignature(input), input.rawBody);
}
