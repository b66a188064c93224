import type { taskSubtypes } from "../../contract/value-sets.ts";
import { drawnSize } from "../../mock-page/drawing/garments.ts";
import { type Scene, sceneSubject, writeScene } from "../../mock-page/drawing/scene.ts";
import type { JobFailure } from "../faults/fault-order.ts";
import { requestedFailureIn } from "../faults/faults.ts";
import type { Organization } from "../store/organization.ts";
import type { ProductRecord, TaskRecord } from "../store/records.ts";
import { addLookbookImage } from "../tomorrow/tomorrow.ts";
import type { World } from "../world/world.ts";

/** Time in the queue, and running time per type, at speed 1. */
const queuedMs = 1_000;
const runningMs = { beautifier: 5_000, tryon: 8_000 };

/** The input of a task. Without a group, the task ID is the group. */
export interface TaskOrder {
  readonly product: ProductRecord;
  readonly subtype: (typeof taskSubtypes)[number] | null;
  readonly styling_product_ids: readonly string[];
  readonly scene: Omit<Scene, "group">;
}

/** Queues a task, which then runs on the clock. The caller has already deducted the credits. */
export function startTask(
  world: World,
  organization: Organization,
  order: TaskOrder,
  group?: string,
): TaskRecord {
  const { speed } = world.options;
  const id = world.ids.next();
  const type = order.scene.person === null ? "beautifier" : "tryon";
  const runs_at = world.clock.now() + queuedMs / speed;
  const task: TaskRecord = {
    id,
    type,
    subtype: order.subtype,
    status: "queued",
    product_id: order.product.id,
    started_at: null,
    finished_at: null,
    created_at: world.timestamp(),
    runs_at,
    ends_at: runs_at + runningMs[type] / speed,
    scene: { ...order.scene, group: group ?? id },
    styling_product_ids: order.styling_product_ids,
    failure: null,
    output_image_id: null,
  };
  organization.tasks.add(task);
  continueTask(world, organization, task);
  return task;
}

/** Schedules the next step of a task, also for a task restored from a snapshot. */
export function continueTask(world: World, organization: Organization, task: TaskRecord): void {
  if (task.status === "queued") {
    world.schedule(Math.ceil(task.runs_at), () => {
      begin(world, task);
      continueTask(world, organization, task);
    });
  } else if (task.status === "running") {
    world.schedule(Math.ceil(task.ends_at), () => end(world, organization, task));
  }
}

function begin(world: World, task: TaskRecord): void {
  task.status = "running";
  task.started_at = world.timestamp();
  task.failure = world.faults.ofJob("task") ?? requestedFailure(task.scene.reference);
}

/** Tasks of a product whose reference contains `fail-CODE` fail with that code (docs/mock-server.md). */
function requestedFailure(reference: string): JobFailure | null {
  const code = requestedFailureIn(reference);
  return code === null ? null : { code, message: `the generation failed: ${code.replaceAll("_", " ")}` };
}

/** Ends a task (States, Task). */
function end(world: World, organization: Organization, task: TaskRecord): void {
  task.finished_at = world.timestamp();
  if (task.failure === null) {
    keepOutput(world, organization, task, task.finished_at);
    task.status = "succeeded";
  } else {
    task.status = "failed";
  }
  world.deliveries.announce(organization, `task.${task.status}`, { id: task.id, status: task.status });
}

/** Stores the output as an image of the organization; it is drawn on first read. */
function keepOutput(world: World, organization: Organization, task: TaskRecord, now: string): void {
  // Derived from the task ID, so that it does not depend on requests during the task.
  const id = world.idsOfRow(task.id, 0).next();
  const { angle_shot, background, person } = task.scene;
  organization.images.set(id, {
    id,
    // Lossless, for the exact background color.
    mime_type: "image/png",
    created_at: now,
    ...drawnSize,
    bytes: null,
    subject: sceneSubject,
    seed: writeScene(task.scene),
    generation: {
      role: task.type,
      task_id: task.id,
      product_id: task.product_id,
      angle_shot,
      background,
      model_id: person?.id ?? null,
      also_features: task.styling_product_ids,
    },
  });
  task.output_image_id = id;
  // A product deleted in the meantime has no assets (ExportRow); its tasks still end normally.
  const product = organization.products.get(task.product_id);
  if (product === undefined) return;
  organization.products.addGeneration(product, id, world.timestamp());
  if (!world.options.tomorrow) return;
  const later = { id: world.idsOfRow(task.id, 1).next(), task_id: task.id, now };
  addLookbookImage(organization, product, later);
}
