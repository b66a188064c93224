import * as z from "zod";
import { limits } from "../limits.ts";
import { closedSet, openSet, reliedOn } from "../response-values.ts";
import {
  beautifierAngleShots,
  beautifierBackgrounds,
  beautifierStyles,
  customAngleShotPrefix,
  hexBackground,
  taskFailureCodes,
  taskStatuses,
  taskSubtypes,
  taskTypes,
  tryonAngleShots,
  tryonBackgrounds,
} from "../value-sets.ts";
import { DownloadUrl, Timestamp, Ulid } from "./fields.ts";

/** The generation of one image. Only a beautifier task has a subtype. */
export const Task = z.looseObject({
  id: Ulid,
  type: closedSet(taskTypes),
  subtype: closedSet(taskSubtypes).nullable(),
  status: reliedOn(z.enum(taskStatuses)),
  product_id: Ulid,
  output_image: reliedOn(z.looseObject({ id: Ulid, url: DownloadUrl, url_expires_at: Timestamp })).nullable(),
  failure_reason: z.looseObject({ code: openSet(taskFailureCodes), message: z.string() }).nullable(),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Task = z.infer<typeof Task>;

const slug = (known: readonly string[], what: string, more: RegExp) =>
  z
    .string()
    .refine(
      (value) => known.includes(value) || more.test(value),
      `must be one of ${known.join(", ")}, or ${what}`,
    )
    .meta({
      anyOf: [
        { type: "string", enum: [...known] },
        { type: "string", pattern: more.source },
      ],
    });

/** The slugs of all subtypes. A slug that is not in `beautifierAngleShots` of the subtype gets a 422. */
const everyAngleShot = [...new Set(Object.values(beautifierAngleShots).flat())];

export const BeautifierRequest = z.strictObject({
  subtype: z.enum(taskSubtypes),
  inputs: z.strictObject({
    product_id: z.string(),
    background: slug(beautifierBackgrounds, "a color such as #f4f1ea", hexBackground),
    angle_shot: z.enum(everyAngleShot),
    style: z.enum(beautifierStyles).optional(),
  }),
});

/** One try-on. Inputs are validated one by one, to list every problem (Tasks). */
export const TryonInput = z.strictObject({
  product_id: z.string(),
  model_id: z.string().min(1),
  styling_product_ids: z.array(z.string()).max(limits.stylings.max).optional(),
  background: slug(tryonBackgrounds, "a color such as #f4f1ea", hexBackground),
  angle_shot: slug(
    tryonAngleShots,
    `a slug of letters, digits, - and _ that starts with ${customAngleShotPrefix}`,
    new RegExp(`^${customAngleShotPrefix}[A-Za-z0-9_-]+$`),
  ),
  look_at_camera: z.boolean().default(true),
});

export const TryonRequest = z.strictObject({
  inputs: z
    .array(z.unknown().meta({ $ref: "#/components/schemas/TryonInput" }))
    .min(limits.tryonInputs.min)
    .max(limits.tryonInputs.max),
});

export const TryonTasks = z.looseObject({ tasks: reliedOn(z.array(Task)) });
