import type { taskSubtypes } from "../../contract/value-sets.ts";
import { type Scene, sceneSubject, writeScene } from "../drawing/scene.ts";
import { drawnSize } from "../drawing/subjects.ts";
import type { JobFailure } from "../faults/faults.ts";
import type { Organization } from "../store/organization.ts";
import type { ProductRecord } from "../store/product-record.ts";
import type { TaskRecord } from "../store/task-record.ts";
import type { World } from "../world/world.ts";
import { failureAskedIn } from "./asked-failure.ts";

/** How long a task is queued, and how long one of each type then runs, at speed 1. */
const queuedMs = 1_000;
const runningMs = { beautifier: 5_000, tryon: 8_000 };

/** What a task is to render; its group is its own id where none is given. */
export interface TaskOrder {
  readonly product: ProductRecord;
  readonly subtype: (typeof taskSubtypes)[number] | null;
  readonly styling_product_ids: readonly string[];
  readonly scene: Omit<Scene, "group">;
}

/** Queues a task: from here on it runs on the clock. The caller has seen to its credits. */
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

/** Sets the clock for what a task does next; also how a task of a snapshot goes on. */
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
  task.failure = world.faults.ofJob("task") ?? failureOf(task.scene.reference);
}

/** A product whose reference contains `fail-CODE` has its tasks fail with that code (interface, serve --mock). */
function failureOf(reference: string): JobFailure | null {
  const code = failureAskedIn(reference);
  return code === null ? null : { code, message: `the generation failed: ${code.replaceAll("_", " ")}` };
}

/** The one place where a task ends (States, Task). */
function end(world: World, organization: Organization, task: TaskRecord): void {
  task.finished_at = world.timestamp();
  if (task.failure === null) {
    keepOutput(world, organization, task, task.finished_at);
    task.status = "succeeded";
  } else {
    task.status = "failed";
  }
  world.announce(organization, `task.${task.status}`, { id: task.id, status: task.status });
}

/** The picture becomes an image of the organization; it is drawn when somebody reads it. */
function keepOutput(world: World, organization: Organization, task: TaskRecord, now: string): void {
  // The id is the task's own: it does not depend on what came while the task ran.
  const id = world.idsOfRow(task.id, 0).next();
  const { angle_shot, background, person } = task.scene;
  organization.images.set(id, {
    id,
    // Without loss, so that a background colour is exactly the one that was asked for.
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
  // A product that was deleted meanwhile has no assets any more (ExportRow); its last tasks end as they would have.
  const product = organization.products.get(task.product_id);
  if (product !== undefined) organization.products.addGeneration(product, id, world.timestamp());
}
