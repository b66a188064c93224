import type { Client } from "../../../client/client.ts";
import { BadAnswerError } from "../../../http/errors.ts";
import type { BatchOperation } from "../../run/batch.ts";
import type { Generation } from "../generation.ts";

/** The body of a batch: POST /v1/tasks/tryon takes several inputs, POST /v1/tasks/beautifier one (Tasks). */
export function bodyOf(batch: readonly Generation[]): Uint8Array {
  const [one] = batch;
  const body = one!.kind === "tryon" ? { inputs: batch.map(tryonInput) } : beautifierBody(one!);
  return Buffer.from(JSON.stringify(body));
}

const tryonInput = ({ productId, modelId, stylings, background, angleShot, lookAtCamera }: Generation) => ({
  product_id: productId,
  model_id: modelId,
  ...(stylings.length > 0 && { styling_product_ids: stylings }),
  background,
  angle_shot: angleShot,
  ...(!lookAtCamera && { look_at_camera: false }),
});

const beautifierBody = ({ subtype, productId, background, angleShot, style }: Generation) => ({
  subtype,
  inputs: { product_id: productId, background, angle_shot: angleShot, ...(style !== null && { style }) },
});

/** POST /v1/tasks/tryon: a task per input, problems by `input_index`. */
export const tryonOperation = (client: Client): BatchOperation => ({
  async send(json, options) {
    const { tasks } = await client.tasks.tryon({ json }, options);
    const asked = (JSON.parse(Buffer.from(json).toString()) as { inputs: unknown[] }).inputs.length;
    if (tasks.length !== asked)
      throw new BadAnswerError(`POST /v1/tasks/tryon: ${tasks.length} tasks for ${asked} inputs`, {
        code: "wrong_count",
      });
    return { jobs: tasks.map(({ id }) => id), createdAt: Date.parse(tasks[0]!.created_at) };
  },
  rowOf: ({ input_index }) => input_index ?? null,
});

/** POST /v1/tasks/beautifier: one task, so every problem is about its one row. */
export const beautifierOperation = (client: Client): BatchOperation => ({
  async send(json, options) {
    const { id, created_at } = await client.tasks.beautify({ json }, options);
    return { jobs: [id], createdAt: Date.parse(created_at) };
  },
  rowOf: () => 0,
  rejectsBody: ({ status, code }) => status === 404 && code === "product_not_found",
});
