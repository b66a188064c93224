import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import { WebhookEvent } from "../../contract/resources/webhooks.ts";
import { FaultOrder } from "../faults/fault-order.ts";
import { organizationNames } from "../rules/api-keys.ts";
import { count, DeliveryRecord, Timestamp, text } from "../store/records.ts";

/*
 * The responses of the control routes, as `/_mock/openapi.json` describes them. Clients must ignore fields
 * that they do not know, as with the service.
 */

export const Now = z.looseObject({ now: Timestamp });

export const Cleared = z.looseObject({ cleared: count });

/** A fault with its number, and how often it has acted. */
export const FaultReport = z.looseObject({ ...FaultOrder.shape, id: count, acted: count });

/** A fault that acted less often than it was set to; `message` is its line in `mock.verify()`. */
export const UnmetFault = z.looseObject({ id: count, acted: count, expected: count, message: text });

/** Remaining generations; null for no limit. */
export const AccountOrder = z.strictObject({ credits: count.nullable() });
export const Account = z.looseObject({ organization: z.enum(organizationNames), ...AccountOrder.shape });

/** A received request; `body` and `response` only with `--bodies`. */
export const LoggedRequest = z.looseObject({
  at: Timestamp,
  method: text,
  path: text,
  status: z.int().nullable(),
  request_id: text,
  idempotency_key: text.nullable(),
  replayed: z.boolean(),
  headers: z.record(text, text),
});

export const Delivery = z.looseObject({
  id: text,
  event_id: text,
  type: text,
  webhook_id: text,
  url: text,
  state: DeliveryRecord.shape.state,
  attempts: DeliveryRecord.shape.attempts,
  next_attempt_at: Timestamp.nullable(),
  event: WebhookEvent,
});

/** A crashed request: its idempotency key, in use until `free_at`. */
export const Crash = z.looseObject({
  key: text.min(1).max(limits.idempotencyKeyLength),
  organization: z.enum(organizationNames),
  crashed_at: Timestamp,
  free_at: Timestamp,
});
