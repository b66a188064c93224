import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import { Description, Ulid } from "../../contract/resources/fields.ts";
import { Webhook } from "../../contract/resources/webhook.ts";
import { eventTypes, webhookStatuses } from "../../contract/value-sets.ts";
import type { NoResponse } from "../outgoing/outgoing-request.ts";
import { organizationNames } from "../rules/authenticate.ts";
import { comingMoment, KeptTimestamp, order } from "../store/state-fields.ts";
import { abandonedUntilDisabled } from "../store/webhooks.ts";

/** A webhook of a snapshot, with its secret, so that signatures stay valid after a restore. */
export const WebhookState = z
  .strictObject({
    ...Webhook.shape,
    url: z.string(),
    events: z.array(z.enum(eventTypes)).min(1),
    status: z.enum(webhookStatuses),
    description: Description.nullable(),
    last_delivery_at: KeptTimestamp.nullable(),
    created_at: KeptTimestamp,
    order,
    signing_secret: z.string().regex(/^whsec_[!-~]{1,500}$/),
    rotations: order,
    abandoned: z.int().min(0).max(abandonedUntilDisabled),
  })
  .refine(
    ({ status, abandoned }) => status === "disabled" || abandoned < abandonedUntilDisabled,
    `a webhook is disabled after ${abandonedUntilDisabled} abandoned events`,
  );

const noAnswers = [
  "dns_failed",
  "blocked_host",
  "unreachable",
  "connection_lost",
  "timeout",
  "ended",
] as const satisfies readonly NoResponse[];

const JobState = z.strictObject({ id: Ulid, status: z.string() });

const DeliveryFields = z.strictObject({
  id: Ulid,
  organization: z.enum(organizationNames),
  webhook_id: Ulid,
  url: z.string(),
  event: z.strictObject({
    id: z.string().regex(/^evt_/),
    type: z.enum(eventTypes),
    created_at: KeptTimestamp,
    data: z.record(z.string(), JobState),
  }),
  state: z.enum(["pending", "delivered", "abandoned"]),
  /** The first attempt, and all retries of the schedule. */
  tries: z
    .int()
    .min(0)
    .max(limits.webhookRetryMs.length + 1),
  due: comingMoment.nullable(),
  attempts: z.array(
    z.strictObject({
      at: KeptTimestamp,
      status: z.int().nullable(),
      error: z.enum(noAnswers).nullable(),
      signature: z.string(),
    }),
  ),
});

/** A delivery of a snapshot. An overdue attempt is made immediately. */
export const DeliveryState = DeliveryFields.refine(
  ({ state, due }) => (state === "pending") === (due !== null),
  "due must be set for a pending delivery and null for any other",
).refine(
  ({ state, tries }) => state !== "pending" || tries <= limits.webhookRetryMs.length,
  "a delivery after its last attempt cannot be pending",
);
