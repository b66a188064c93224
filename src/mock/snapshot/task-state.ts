import * as z from "zod";
import { Ulid } from "../../contract/resources/fields.ts";
import { taskStatuses, taskSubtypes, taskTypes } from "../../contract/value-sets.ts";
import { Scene } from "../drawing/scene.ts";
import { comingMoment, JobId, KeptTimestamp } from "../store/state-fields.ts";
import type { TaskRecord } from "../store/tasks.ts";

const TaskFields = z.strictObject({
  id: JobId,
  type: z.enum(taskTypes),
  subtype: z.enum(taskSubtypes).nullable(),
  status: z.enum(taskStatuses),
  product_id: Ulid,
  started_at: KeptTimestamp.nullable(),
  finished_at: KeptTimestamp.nullable(),
  created_at: KeptTimestamp,
  runs_at: comingMoment,
  ends_at: comingMoment,
  scene: Scene,
  styling_product_ids: z.array(Ulid).readonly(),
  failure: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  output_image_id: Ulid.nullable(),
});

/** A task of a snapshot; contradictory fields are rejected. */
export const TaskState = TaskFields.refine(
  (task) => agrees(task) && (task.type === "tryon") === (task.scene.person !== null),
  "the fields do not match the type and status",
);

/** Whether the fields match the status (States, Task). */
function agrees(task: TaskRecord): boolean {
  const { type, subtype, status, started_at, finished_at, failure, output_image_id } = task;
  const hasStarted = status !== "queued";
  const hasEnded = hasStarted && status !== "running";
  return (
    (type === "beautifier") === (subtype !== null) &&
    hasStarted === (started_at !== null) &&
    hasEnded === (finished_at !== null) &&
    (status === "succeeded") === (output_image_id !== null) &&
    (failure === null ? status !== "failed" : status === "failed" || status === "running")
  );
}

interface Named {
  readonly id: string;
}

interface Held {
  readonly exports: readonly {
    readonly products: readonly {
      readonly images: readonly Named[];
      readonly generations: readonly string[];
    }[];
  }[];
  readonly tasks: readonly Pick<TaskRecord, "product_id" | "output_image_id">[];
  readonly products: readonly (Named & {
    readonly images: readonly Named[];
    readonly generations: readonly string[];
  })[];
  readonly images: readonly Named[];
}

/**
 * Whether all referenced records exist: the images of products (deleted and exported ones too), the products
 * and outputs of tasks.
 */
export function haveTheirs({ exports, tasks, products, images }: Held): boolean {
  const productIds = new Set(products.map(({ id }) => id));
  const imageIds = new Set(images.map(({ id }) => id));
  const hasImages = (product: Held["exports"][number]["products"][number]) =>
    product.images.every(({ id }) => imageIds.has(id)) && product.generations.every((id) => imageIds.has(id));
  return (
    products.every(hasImages) &&
    exports.every((job) => job.products.every(hasImages)) &&
    tasks.every(
      ({ product_id, output_image_id }) =>
        productIds.has(product_id) && (output_image_id === null || imageIds.has(output_image_id)),
    )
  );
}
