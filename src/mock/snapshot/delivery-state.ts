import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import { Description, Ulid } from "../../contract/resources/fields.ts";
import { Webhook } from "../../contract/resources/webhook.ts";
import { eventTypes, webhookStatuses } from "../../contract/value-sets.ts";
import type { NoAnswer } from "../outgoing/call-out.ts";
import { organizationNames } from "../rules/authenticate.ts";
import { comingMoment, KeptTimestamp, order } from "../store/state-fields.ts";
import { abandonedUntilDisabled } from "../store/webhooks.ts";

/** A webhook of a snapshot, with its secret: signatures made after a restore are as good as those before. */
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
    `a webhook is disabled after ${abandonedUntilDisabled} events that were abandoned`,
  );

const noAnswers = [
  "dns_failed",
  "blocked_host",
  "unreachable",
  "connection_lost",
  "timeout",
  "ended",
] as const satisfies readonly NoAnswer[];

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
  /** All moments of the schedule, and the attempt before the first of them. */
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

/** A delivery of a snapshot: its next attempt is due when it says, at once if that has passed. */
export const DeliveryState = DeliveryFields.refine(
  ({ state, due }) => (state === "pending") === (due !== null),
  "an attempt is due exactly while it is pending",
).refine(
  ({ state, tries }) => state !== "pending" || tries <= limits.webhookRetryMs.length,
  "after its last try no other is due",
);
