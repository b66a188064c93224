import * as z from "zod";
import {
  ProductDescription,
  ProductName,
  ProductReference,
  Sex,
  Ulid,
} from "../../contract/resources/fields.ts";
import { imageOrigins, imageTypes, modelSexes, orientations } from "../../contract/value-sets.ts";
import { ApiKeyState, organizationNames } from "../rules/api-keys.ts";
import { AssetAttributes, AssetRole, count, ModelRecord, Timestamp, text } from "../store/records.ts";

/*
 * The bodies of `PUT /_mock/…` (docs/mock-server.md, Any part): fields of an object that is created, or
 * changes of one that exists. Every field is optional.
 */

/** The IDs of derived objects start from the time of an ID, so it must be far below the maximum. */
export const PartId = Ulid.regex(/^[0-6]/, "has a time too close to the maximum of a ULID");

/** Default: that of `ak_mock`. */
const organization = z.enum(organizationNames).optional();

export const KeyOrder = z.strictObject({
  /** Null for a key that belongs to a user. */
  organization: ApiKeyState.shape.organization.optional(),
  /** Null for every scope. */
  scopes: ApiKeyState.shape.scopes.optional(),
  expires_at: Timestamp.nullable().optional(),
  /** True revokes the key now; the service notices up to a minute later. */
  revoked: z.boolean().optional(),
});
export type KeyOrder = z.input<typeof KeyOrder>;

export const ProductOrder = z.strictObject({
  organization,
  name: ProductName.optional(),
  /** Null, as in the dashboard, is the default of a new product. */
  reference: ProductReference.nullable().optional(),
  description: ProductDescription.nullable().optional(),
  sex: Sex.nullable().optional(),
  /** Photos of a new product. Unknown IDs become drawn photos; the default is one. */
  images: z
    .array(
      z.strictObject({
        id: PartId,
        orientation: z.enum(orientations).optional(),
        origin: z.enum(imageOrigins).optional(),
      }),
    )
    .min(1)
    .optional(),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
});
export type ProductOrder = z.input<typeof ProductOrder>;

/** Fields that only generated assets have. */
export const generatedOnly = [
  "task_id",
  "angle_shot",
  "background",
  "model_id",
  "also_features",
  "edit_number",
] as const;
/** Fields that cannot change once the asset exists. */
export const fixedFields = ["product_id", "role", "mime_type", "orientation"] as const;

export const AssetOrder = z.strictObject({
  organization,
  /** Required for a new asset, with `role`. */
  product_id: Ulid.optional(),
  /** `source` for a photo; any other word is a role of generated images. */
  role: AssetRole.optional(),
  mime_type: z.enum(imageTypes).optional(),
  width: count.nullable().optional(),
  height: count.nullable().optional(),
  created_at: Timestamp.optional(),
  watermarked: z.boolean().optional(),
  /** A number makes the asset an edit (`derived`); null the generation itself. */
  edit_number: z.int().min(1).nullable().optional(),
  orientation: z.enum(orientations).optional(),
  /** Null for a generation of the dashboard. */
  task_id: Ulid.nullable().optional(),
  angle_shot: text.optional(),
  background: text.optional(),
  model_id: text.nullable().optional(),
  also_features: z.array(Ulid).optional(),
  attributes: AssetAttributes.optional(),
});
export type AssetOrder = z.input<typeof AssetOrder>;

const look = text.nullable().optional();

/** A model with a ULID is private; any other ID is that of a curated one (Model). */
export const ModelOrder = z.strictObject({
  organization,
  name: look,
  sex: z.enum(modelSexes).nullable().optional(),
  body_type: look,
  age_bracket: look,
  ethnicity: look,
  hair_color: look,
  eye_color: look,
  /** False for `preview_url: null`. */
  has_preview: z.boolean().optional(),
});
export type ModelOrder = z.input<typeof ModelOrder>;
export const ModelId = ModelRecord.shape.id;

/** The idempotency key of a request that crashes now. */
export const CrashOrder = z.strictObject({ organization });
export type CrashOrder = z.input<typeof CrashOrder>;
