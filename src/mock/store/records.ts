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
import { ImportRowResult } from "../../contract/resources/imports.ts";
import * as sets from "../../contract/value-sets.ts";
import { Scene } from "../../mock-page/drawing/scene.ts";
import { noResponses } from "../outgoing/outgoing-request.ts";
import { organizationNames } from "../rules/api-keys.ts";

/*
 * The records of the mock and of a saved state, which is checked field by field. Whether fields fit together
 * is not checked, so records may contradict each other in a state that was edited.
 */

export const count = z.int().min(0);
export const text = z.string();
/** A position in the order of creation. Cursors have room for 15 digits; later records get higher ones. */
const order = count.max(1e14);
/** A stored timestamp: UTC (Resources), with a four-digit year. */
export const Timestamp = z.iso.datetime("must be a time in UTC such as 2026-01-05T09:00:00Z");
/** A time of the clock in milliseconds since the epoch, up to the maximum of a Date. */
export const Moment = z.number().min(0).max(8.64e15);
/** The IDs of a job's results start from its time, so it must be far below the maximum time of an ID. */
const JobId = Ulid.regex(/^[0-6]/, "has a time too close to the maximum of a ULID");
const JobError = z.strictObject({ code: text, message: text });

/** A product. A deleted one stays available for delta exports; its reference is free again. */
export const ProductRecord = z.strictObject({
  id: Ulid,
  name: ProductName,
  /** Null for a product of the dashboard, which exports do not list and imports do not match (Product). */
  reference: ProductReference.nullable(),
  description: ProductDescription.nullable(),
  sex: Sex.nullable(),
  images: z
    .array(
      z.strictObject({ id: Ulid, orientation: z.enum(sets.orientations), origin: z.enum(sets.imageOrigins) }),
    )
    .min(1),
  created_at: Timestamp,
  updated_at: Timestamp,
  order,
  /** IDs of its generated images, oldest first. */
  generations: z.array(Ulid).readonly(),
  /** For deltas: last change of a field, photo, generation or deletion (Exports, `since`). */
  changed_at: Timestamp,
  deleted_at: Timestamp.nullable(),
});
export type ProductRecord = z.infer<typeof ProductRecord>;

export const AssetRole = text.regex(
  /^[a-z][a-z0-9_]{0,49}$/,
  "must be a word in lower case such as recoloring",
);
/** Flat and open attributes of an asset (ExportRow). */
export const AssetAttributes = z.record(
  text.min(1).max(100),
  z.union([text, z.number(), z.boolean()], "must be text, a number, true or false"),
);

/** An image of a saved state: an upload, or the source of a picture that is drawn on read. */
export const ImageState = z.strictObject({
  id: Ulid,
  mime_type: z.enum(sets.imageTypes),
  created_at: Timestamp,
  width: count.nullable(),
  height: count.nullable(),
  /** Base64; null for a picture drawn from `subject` and `seed`. */
  bytes: z.base64().nullable(),
  subject: text,
  seed: text,
  /** Name and reference of the product that a drawn photo was made for. */
  words: text.optional(),
  /** Its origin, as its asset in an export shows it (ExportRow); null for an uploaded photo. */
  generation: z
    .strictObject({
      /** The role of its asset; an open set (ExportRow). */
      role: AssetRole,
      /** Null for a generation of the dashboard. */
      task_id: Ulid.nullable(),
      /** The product that it was made for, which lists it until deleted. */
      product_id: Ulid,
      angle_shot: text,
      background: text,
      /** Null for a beautifier. */
      model_id: text.nullable(),
      also_features: z.array(Ulid).readonly(),
    })
    .nullable(),
  /** The number of the edit that is its active version; missing for the generation itself. */
  edit_number: z.int().min(1).optional(),
  /** Whether the active version carries a watermark. Default: false. */
  watermarked: z.boolean().optional(),
  /** Attributes of its asset, in addition to those that follow from the other fields. */
  attributes: AssetAttributes.optional(),
});
export type ImageState = z.infer<typeof ImageState>;
export type ImageRecord = Readonly<Omit<ImageState, "bytes"> & { bytes: Buffer | null }>;

/** A valid row with a trimmed reference. Its URLs are checked again before the fetch. */
const AcceptedRow = z.strictObject({
  reference: Reference,
  name: Name,
  description: Description.optional(),
  sex: Sex.optional(),
  images: z.array(
    z.strictObject({
      url: text.optional(),
      image_id: text.optional(),
      orientation: z.enum(sets.orientations).optional(),
    }),
  ),
});
export type AcceptedRow = z.infer<typeof AcceptedRow>;
export type RowImage = AcceptedRow["images"][number];

/** An import. Its progress follows from these numbers and the clock. */
export const ImportJob = z.strictObject({
  id: JobId,
  status: z.enum(sets.importStatuses),
  mode: z.enum(sets.importModes),
  on_image_error: z.enum(sets.onImageErrors),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  validated_at: Moment,
  /** Duration of one row in milliseconds. */
  row_ms: z.number().positive(),
  /** In input order, with their results; `row` is null once the row is done. */
  rows: z
    .array(z.strictObject({ row: AcceptedRow.nullable(), result: ImportRowResult }))
    .min(limits.importRows.min)
    .max(limits.importRows.max),
  /** Number of rows done, from the first on. */
  done: count,
  succeeded: count,
  partial: count,
  failed: count,
});
export type ImportJob = z.infer<typeof ImportJob>;

/** Whether the status is final (States, Import job). */
export const isTerminal = (job: Pick<ImportJob, "status">): boolean =>
  job.status !== "validating" && job.status !== "processing";

/** The part of a product that an export row needs: the live record, or a frozen copy. */
const ExportedProduct = z.strictObject({
  id: Ulid,
  reference: ProductReference,
  name: ProductName,
  sex: Sex.nullable(),
  images: z.array(z.strictObject({ id: Ulid, orientation: z.enum(sets.orientations) })).readonly(),
  generations: z.array(Ulid).readonly(),
});
export type ExportedProduct = Readonly<z.infer<typeof ExportedProduct>>;

/** An export job: the selection, not the artifact, which can be written again because images never change. */
export const ExportRecord = z.strictObject({
  id: JobId,
  format: z.enum(sets.exportFormats),
  status: z.enum(sets.exportStatuses),
  total_assets: count,
  error: JobError.nullable(),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
  /** Completion time of a ZIP. */
  ready_at: Moment,
  /** The requested asset roles; null for all. */
  roles: z.array(z.enum(sets.assetRoles)).readonly().nullable(),
  /** The products at the time of the request. */
  products: z.array(ExportedProduct).max(limits.exportProducts).readonly(),
});
export type ExportRecord = z.infer<typeof ExportRecord>;

/** A task. Its progress follows from `runs_at`, `ends_at` and the clock. */
export const TaskRecord = z.strictObject({
  id: JobId,
  type: z.enum(sets.taskTypes),
  subtype: z.enum(sets.taskSubtypes).nullable(),
  status: z.enum(sets.taskStatuses),
  product_id: Ulid,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  created_at: Timestamp,
  runs_at: Moment,
  ends_at: Moment,
  scene: Scene,
  /** Without duplicates, in the order of the request. */
  styling_product_ids: z.array(Ulid).readonly(),
  /** Why it fails; set at the start, shown at the end. */
  failure: JobError.nullable(),
  /** Set once it has succeeded. */
  output_image_id: Ulid.nullable(),
});
export type TaskRecord = z.infer<typeof TaskRecord>;

/** A webhook, with its secret, so that signatures stay valid after a restore. */
export const WebhookRecord = z.strictObject({
  id: Ulid,
  url: text,
  events: z.array(z.enum(sets.eventTypes)).min(1),
  status: z.enum(sets.webhookStatuses),
  description: Description.nullable(),
  /** Time of the last accepted event. */
  last_delivery_at: Timestamp.nullable(),
  created_at: Timestamp,
  order,
  signing_secret: text.regex(/^whsec_[!-~]{1,500}$/),
  rotations: count,
  /** Number of consecutive abandoned events. */
  abandoned: count,
});
export type WebhookRecord = z.infer<typeof WebhookRecord>;

/** A model of the organization, or a curated one that a test has set. */
export const ModelRecord = z.strictObject({
  id: text.regex(/^[A-Za-z0-9_-]{1,64}$/, "must have 1 to 64 letters, digits, - and _"),
  name: text.nullable(),
  is_public: z.boolean(),
  sex: z.enum(sets.modelSexes).nullable(),
  body_type: text.nullable(),
  age_bracket: text.nullable(),
  ethnicity: text.nullable(),
  hair_color: text.nullable(),
  eye_color: text.nullable(),
  /** Default: true. */
  has_preview: z.boolean().optional(),
});
export type ModelRecord = z.infer<typeof ModelRecord>;

/** One attempt to deliver an event, with the status of the response, if any. */
const Attempt = z.strictObject({
  at: Timestamp,
  status: z.int().nullable(),
  /** Why there was no complete response. */
  error: z.enum(noResponses).nullable(),
  /** The signature header, whether or not it was sent. */
  signature: text,
});
export type Attempt = z.infer<typeof Attempt>;

export const DeliveryRecord = z.strictObject({
  id: Ulid,
  organization: z.enum(organizationNames),
  webhook_id: Ulid,
  url: text,
  event: z.strictObject({
    id: text.regex(/^evt_/),
    type: z.enum(sets.eventTypes),
    created_at: Timestamp,
    data: z.record(text, z.strictObject({ id: Ulid, status: text })),
  }),
  state: z.enum(["pending", "delivered", "abandoned"]),
  /** Number of scheduled attempts made, or skipped because the webhook was paused. */
  tries: count.max(limits.webhookRetryMs.length + 1),
  /** When the next attempt, or the one in flight, is due; null for none. */
  due: Moment.nullable(),
  /** The latest attempts, including those made by a resend. */
  attempts: z.array(Attempt),
});
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;
