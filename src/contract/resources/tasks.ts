import * as z from "zod";
import { limits } from "../limits.ts";
import { operation } from "../operation.ts";
import { closedSet, openSet, reliedOn } from "../response-values.ts";
import * as sets from "../value-sets.ts";
import { TryonRefusal } from "./errors.ts";
import { DownloadUrl, listSchema, pageQuery, Timestamp, Ulid, Url } from "./fields.ts";

/** The generation of one image. Only a beautifier task has a subtype. */
export const Task = z.looseObject({
  id: Ulid,
  type: closedSet(sets.taskTypes),
  subtype: closedSet(sets.taskSubtypes).nullable(),
  status: reliedOn(z.enum(sets.taskStatuses)),
  product_id: Ulid,
  output_image: reliedOn(z.looseObject({ id: Ulid, url: DownloadUrl, url_expires_at: Timestamp })).nullable(),
  failure_reason: z.looseObject({ code: openSet(sets.taskFailureCodes), message: z.string() }).nullable(),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Task = z.infer<typeof Task>;

/** Any text: no list is specified. openapi.json gives the `assumed` slugs of the mock as examples. */
const slug = (assumed: readonly string[]) =>
  z
    .string()
    .min(1)
    .meta({ "x-assumed": true, examples: [...assumed] });

const everyAngleShot = [...new Set(Object.values(sets.beautifierAngleShots).flat())];

export const BeautifierRequest = z.strictObject({
  subtype: z.enum(sets.taskSubtypes),
  inputs: z.strictObject({
    product_id: z.string(),
    background: slug([...sets.beautifierBackgrounds, sets.exampleColor]),
    angle_shot: slug(everyAngleShot),
    style: z.enum(sets.beautifierStyles).optional(),
  }),
});

/** One try-on. Inputs are validated one by one, to list every problem (Tasks). */
export const TryonInput = z.strictObject({
  product_id: z.string(),
  model_id: z.string().min(1),
  styling_product_ids: z.array(z.string()).max(limits.stylings.max).optional(),
  background: slug([...sets.tryonBackgrounds, sets.exampleColor]),
  angle_shot: slug([...sets.tryonAngleShots, `${sets.customAngleShotPrefix}NAME`]),
  look_at_camera: z.boolean().default(true),
});

export const TryonRequest = z.strictObject({
  inputs: z
    .array(z.unknown().meta({ $ref: "#/components/schemas/TryonInput" }))
    .min(limits.tryonInputs.min)
    .max(limits.tryonInputs.max),
});

export const TryonTasks = z.looseObject({ tasks: reliedOn(z.array(Task)) });

/** A person who wears the product in a try-on. IDs are opaque: ULIDs, or shorter for curated models. */
export const Model = z.looseObject({
  id: reliedOn(z.string()),
  name: z.string().nullable(),
  is_public: z.boolean(),
  sex: closedSet(sets.modelSexes).nullable(),
  body_type: z.string().nullable(),
  age_bracket: z.string().nullable(),
  ethnicity: z.string().nullable(),
  hair_color: z.string().nullable(),
  eye_color: z.string().nullable(),
  preview_url: Url.nullable(),
  preview_url_expires_at: Timestamp.nullable(),
});
export type Model = z.infer<typeof Model>;

export const tasks = {
  list: operation({
    method: "GET",
    path: "/v1/tasks",
    summary: "List tasks, newest first",
    query: z.object({
      ...pageQuery,
      status: z.enum(sets.taskStatuses).optional(),
      type: z.enum(sets.taskTypes).optional(),
      subtype: z.enum(sets.taskSubtypes).optional(),
      product_id: z.string().optional(),
    }),
    reply: listSchema(Task),
  }),
  beautify: operation({
    method: "POST",
    path: "/v1/tasks/beautifier",
    summary: "Render a product alone on a background",
    body: { "application/json": BeautifierRequest },
    status: 202,
    reply: Task,
    rejects: {
      402: ["insufficient_credits"],
      404: ["product_not_found"],
      422: ["inputs_mismatch", "image_required"],
      502: ["upstream_unavailable"],
    },
  }),
  tryon: operation({
    method: "POST",
    path: "/v1/tasks/tryon",
    summary: "Render products on models",
    body: { "application/json": TryonRequest },
    status: 202,
    reply: TryonTasks,
    rejects: { 402: ["insufficient_credits"] },
    rejectionList: TryonRefusal,
  }),
  get: operation({
    method: "GET",
    path: "/v1/tasks/{task_id}",
    summary: "Get a task",
    params: z.object({ task_id: z.string() }),
    reply: Task,
    rejects: { 404: ["task_not_found"] },
    polled: true,
  }),
};

const queryBoolean = z
  .union([z.boolean(), z.enum(["true", "false"])])
  .transform((value) => value === true || value === "true")
  .pipe(z.boolean());

export const models = {
  list: operation({
    method: "GET",
    path: "/v1/models",
    summary: "List the models for try-ons",
    query: z.object({ ...pageQuery, is_public: queryBoolean.optional() }),
    reply: listSchema(Model),
  }),
};
