import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import {
  Description,
  Name,
  ProductDescription,
  ProductName,
  ProductReference,
  Reference,
  Sex,
  Ulid,
} from "../../contract/resources/fields.ts";
import { ImportRowResult } from "../../contract/resources/import.ts";
import {
  assetRoles,
  eventTypes,
  exportFormats,
  exportStatuses,
  imageOrigins,
  imageTypes,
  importModes,
  importStatuses,
  modelSexes,
  onImageErrors,
  orientations,
  taskStatuses,
  taskSubtypes,
  taskTypes,
  webhookStatuses,
} from "../../contract/value-sets.ts";
import { Scene } from "../drawing/scene.ts";
import type { NoResponse } from "../outgoing/outgoing-request.ts";
import { organizationNames } from "../rules/authenticate.ts";

/*
 * Checks each field of a saved state by itself. Whether fields fit together is not checked, so records may
 * contradict each other in a state that was edited.
 */

const count = z.int().min(0);
const text = z.string();
/** A position in the order of creation. Cursors have room for 15 digits, and later records get higher numbers. */
const order = count.max(1e14);
/** A stored timestamp: UTC (Resources), with a four-digit year. */
const Timestamp = z.iso.datetime("must be a time in UTC such as 2026-01-05T09:00:00Z");
/** A time of the clock in milliseconds since the epoch, up to the maximum of a Date. */
const Moment = z.number().min(0).max(8.64e15);
/** The IDs of a job's results start from its time, so it must be far below the maximum time of an ID. */
const JobId = Ulid.regex(/^[0-6]/, "has a time too close to the maximum of a ULID");
const JobError = z.strictObject({ code: text, message: text });

/** A product, in its stored form (`ProductRecord`). */
const ProductState = z.strictObject({
  id: Ulid,
  name: ProductName,
  reference: ProductReference,
  description: ProductDescription.nullable(),
  sex: Sex.nullable(),
  images: z
    .array(z.strictObject({ id: Ulid, orientation: z.enum(orientations), origin: z.enum(imageOrigins) }))
    .min(1),
  created_at: Timestamp,
  updated_at: Timestamp,
  order,
  generations: z.array(Ulid).readonly(),
  changed_at: Timestamp,
  deleted_at: Timestamp.nullable(),
});

/** An image (`ImageRecord`). */
const ImageState = z.strictObject({
  id: Ulid,
  mime_type: z.enum(imageTypes),
  created_at: Timestamp,
  width: count,
  height: count,
  /** Base64; null for a drawn picture. */
  bytes: z.base64().nullable(),
  subject: text,
  seed: text,
  generation: z
    .strictObject({
      role: z.enum(["beautifier", "tryon"]),
      task_id: Ulid,
      product_id: Ulid,
      angle_shot: text,
      background: text,
      model_id: text.nullable(),
      also_features: z.array(Ulid).readonly(),
    })
    .nullable(),
});

/** An import (`ImportJob`). The URLs of pending rows are checked again before the fetch. */
const ImportState = z.strictObject({
  id: JobId,
  status: z.enum(importStatuses),
  mode: z.enum(importModes),
  on_image_error: z.enum(onImageErrors),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  validated_at: Moment,
  row_ms: z.number().positive(),
  rows: z
    .array(
      z.strictObject({
        row: z
          .strictObject({
            reference: Reference,
            name: Name,
            description: Description.optional(),
            sex: Sex.optional(),
            images: z.array(
              z.strictObject({
                url: text.optional(),
                image_id: text.optional(),
                orientation: z.enum(orientations).optional(),
              }),
            ),
          })
          .nullable(),
        result: ImportRowResult,
      }),
    )
    .min(limits.importRows.min)
    .max(limits.importRows.max),
  done: count,
  succeeded: count,
  partial: count,
  failed: count,
});

/** An export job (`ExportRecord`). */
const ExportState = z.strictObject({
  id: JobId,
  format: z.enum(exportFormats),
  status: z.enum(exportStatuses),
  total_assets: count,
  error: JobError.nullable(),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
  ready_at: Moment,
  roles: z.array(z.enum(assetRoles)).readonly().nullable(),
  products: z
    .array(
      z.strictObject({
        id: Ulid,
        reference: ProductReference,
        name: ProductName,
        sex: Sex.nullable(),
        images: z.array(z.strictObject({ id: Ulid, orientation: z.enum(orientations) })).readonly(),
        generations: z.array(Ulid).readonly(),
      }),
    )
    .max(limits.exportProducts)
    .readonly(),
});

/** A task (`TaskRecord`). */
const TaskState = z.strictObject({
  id: JobId,
  type: z.enum(taskTypes),
  subtype: z.enum(taskSubtypes).nullable(),
  status: z.enum(taskStatuses),
  product_id: Ulid,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  created_at: Timestamp,
  runs_at: Moment,
  ends_at: Moment,
  scene: Scene,
  styling_product_ids: z.array(Ulid).readonly(),
  failure: JobError.nullable(),
  output_image_id: Ulid.nullable(),
});

/** A webhook, with its secret, so that signatures stay valid after a restore. */
const WebhookState = z.strictObject({
  id: Ulid,
  url: text,
  events: z.array(z.enum(eventTypes)).min(1),
  status: z.enum(webhookStatuses),
  description: Description.nullable(),
  last_delivery_at: Timestamp.nullable(),
  created_at: Timestamp,
  order,
  signing_secret: text.regex(/^whsec_[!-~]{1,500}$/),
  rotations: count,
  abandoned: count,
});

/** A model of the organization; its ID is a ULID (Model). Curated models are not part of the state. */
const ModelState = z.strictObject({
  id: Ulid,
  name: text.nullable(),
  is_public: z.boolean(),
  sex: z.enum(modelSexes).nullable(),
  body_type: text.nullable(),
  age_bracket: text.nullable(),
  ethnicity: text.nullable(),
  hair_color: text.nullable(),
  eye_color: text.nullable(),
});

/** An idempotency key with its stored response, which is replayed byte by byte. */
const KeyState = z.strictObject({
  key: text.min(1),
  fingerprint: text,
  at: Moment,
  answer: z.strictObject({
    status: z.int().min(200).max(499),
    body: text.nullable(),
    headers: z.record(text.regex(/^Retry-After$/), text.regex(/^\d{1,15}$/)).optional(),
  }),
});

const OrganizationState = z.strictObject({
  /** In order of creation, including deleted products. */
  products: z.array(ProductState),
  images: z.array(ImageState),
  imports: z.array(ImportState),
  exports: z.array(ExportState),
  webhooks: z.array(WebhookState),
  /** In order of creation. */
  tasks: z.array(TaskState),
  models: z.array(ModelState),
  credits: count.nullable(),
  idempotency_keys: z.array(KeyState),
  rate_window: z.strictObject({
    started_at: count.multipleOf(limits.rateWindowMs),
    reads: count,
    writes: count,
  }),
});
export type OrganizationState = z.infer<typeof OrganizationState>;

const noResponses = [
  "dns_failed",
  "blocked_host",
  "unreachable",
  "connection_lost",
  "timeout",
  "ended",
] as const satisfies readonly NoResponse[];

/** A delivery (`DeliveryRecord`). An overdue attempt is made immediately. */
const DeliveryState = z.strictObject({
  id: Ulid,
  organization: z.enum(organizationNames),
  webhook_id: Ulid,
  url: text,
  event: z.strictObject({
    id: text.regex(/^evt_/),
    type: z.enum(eventTypes),
    created_at: Timestamp,
    data: z.record(text, z.strictObject({ id: Ulid, status: text })),
  }),
  state: z.enum(["pending", "delivered", "abandoned"]),
  /** The first attempt, and all retries of the schedule. */
  tries: count.max(limits.webhookRetryMs.length + 1),
  due: Moment.nullable(),
  attempts: z.array(
    z.strictObject({
      at: Timestamp,
      status: z.int().nullable(),
      error: z.enum(noResponses).nullable(),
      signature: text,
    }),
  ),
});

const word = z.int().min(-0x8000_0000).max(0x7fff_ffff);

/** The complete state of the mock as one JSON document: the body of GET and PUT /_mock/state. */
export const MockState = z.strictObject({
  version: z.literal(1),
  /** Time of the snapshot on the mock's clock. */
  now: Timestamp,
  /** Secret for the signatures of URLs and cursors. */
  secret: text.min(1),
  ids: z.strictObject({
    random: z.tuple([word, word, word, word]),
    /** Far below the maximum time of a ULID, because each ID takes the next millisecond. */
    time: count.max(2 ** 48 - 1e12).nullable(),
  }),
  organizations: z.strictObject({ main: OrganizationState, other: OrganizationState }),
  /** Oldest first. */
  deliveries: z.array(DeliveryState),
});
export type MockState = z.infer<typeof MockState>;
