import type * as z from "zod";
import { creditHeaders } from "../../contract/error-codes.ts";
import { canShow, unlistedValues } from "../../contract/generation-rules.ts";
import type { BeautifierRequest, Task } from "../../contract/resources/tasks.ts";
import { beautifierAngleShots } from "../../contract/value-sets.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { startTask } from "../jobs/task-job.ts";
import { toBeautifierOrder, toGroup, toTryonOrder } from "../jobs/task-orders.ts";
import { judgeTryons, unlistedProblem } from "../jobs/tryon-inputs.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { found, invalid, Rejection } from "../rules/rejection.ts";
import type { Organization, PlacedTask } from "../store/organization.ts";
import type { TaskRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

export const tasks = {
  list({ world, organization, query }) {
    const { status, type, subtype, product_id } = query;
    const list = `${organization.name} tasks.list ${JSON.stringify([status, type, subtype, product_id])}`;
    // A try-on has no subtype, so a subtype filter selects beautifier tasks only (Tasks).
    const isWanted = ({ task }: PlacedTask) =>
      (status === undefined || task.status === status) &&
      (type === undefined || task.type === type) &&
      (subtype === undefined || task.subtype === subtype);
    const entries = (after: number | null) =>
      filtered(organization.tasks.newestFirst(after, product_id), isWanted);
    const show = ({ task }: PlacedTask) => shown(world, task);
    return { body: world.cursors.page(list, query, entries, ({ place }) => place, show) };
  },

  // Checks in the order in which a client can fix problems: the request itself, the resources in it, the
  // account.
  beautify({ world, organization, body }) {
    const { inputs } = body.value;
    if (world.options.strictSlugs) rejectUnlisted(body.value);
    const product = found(organization.products.get(inputs.product_id), "product", "inputs.product_id");
    const photos = product.images.map(({ orientation }) => orientation);
    if (!canShow(inputs.angle_shot, photos)) {
      const message = `the product has no photo that fits the angle ${inputs.angle_shot}`;
      throw new Rejection("image_required", message, { param: "inputs.product_id" });
    }
    charge(organization, 1);
    const order = toBeautifierOrder(organization, product, body.value);
    return { body: shown(world, startTask(world, organization, order)) };
  },

  tryon({ world, organization, body }) {
    const judged = judgeTryons(organization, body.value.inputs, world.options.strictSlugs);
    charge(organization, judged.length);
    // Tasks of one group share the ID of their first task.
    const groups = new Map<string, string>();
    const tasks = judged.map((input) => {
      const key = toGroup(input);
      const task = startTask(world, organization, toTryonOrder(organization, input), groups.get(key));
      groups.set(key, task.scene.group);
      return shown(world, task);
    });
    return { body: { tasks } };
  },

  get({ world, organization, params }) {
    const task = found(organization.tasks.get(params.task_id), "task");
    return { body: shown(world, task), retryAfter: world.pollSeconds(task) };
  },
} satisfies Handlers["tasks"];

/** The task as the service shows it, with a newly signed output URL on every read. */
function shown(world: World, task: TaskRecord): Task {
  const { id, type, subtype, status, product_id, started_at, finished_at, created_at } = task;
  const failure_reason = status === "failed" && task.failure !== null ? { ...task.failure } : null;
  const output = task.output_image_id;
  const output_image = output === null ? null : { id: output, ...world.sign(signedPaths.image(output)) };
  return {
    id,
    type,
    subtype,
    status,
    product_id,
    output_image,
    failure_reason,
    started_at,
    finished_at,
    created_at,
  };
}

function* filtered<Item>(items: Iterable<Item>, isWanted: (item: Item) => boolean): Generator<Item> {
  for (const item of items) if (isWanted(item)) yield item;
}

/** Rejects unlisted values; with 422 an angle of another subtype, and a style except for clothing. */
function rejectUnlisted({ subtype, inputs }: z.output<typeof BeautifierRequest>): void {
  const { background, angle_shot, style = null } = inputs;
  const everyAngleShot: readonly string[] = Object.values(beautifierAngleShots).flat();
  const values = { kind: "beautify", background, angleShot: angle_shot, subtype, style } as const;
  for (const unlisted of unlistedValues(values)) {
    const { field, value } = unlisted;
    const param = `inputs.${field}`;
    if (field === "style")
      throw new Rejection("inputs_mismatch", `style is only for clothing, not ${subtype}`, { param });
    if (field === "angle_shot" && everyAngleShot.includes(value)) {
      const message = `angle_shot for ${subtype} ${unlistedProblem(unlisted)}`;
      throw new Rejection("inputs_mismatch", message, { param });
    }
    throw invalid(`${param}: ${unlistedProblem(unlisted)}`, param);
  }
}

/** Takes one credit per generation; without enough credits, takes none (Status codes, 402). */
function charge(organization: Organization, generations: number): void {
  if (organization.credits === null) return;
  if (organization.credits < generations) {
    const message = `not enough credits: ${generations} needed, ${organization.credits} left`;
    const headers = {
      [creditHeaders.needed]: String(generations),
      [creditHeaders.left]: String(organization.credits),
    };
    throw new Rejection("insufficient_credits", message, { headers });
  }
  organization.credits -= generations;
}
