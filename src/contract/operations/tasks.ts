import * as z from "zod";
import { TryonRefusal } from "../error-codes.ts";
import { operation } from "../operation.ts";
import { listOf, pageQuery } from "../resources/fields.ts";
import { BeautifierRequest, Model, Task, TryonRequest, TryonTasks } from "../resources/task.ts";
import { taskStatuses, taskSubtypes, taskTypes } from "../value-sets.ts";

export const tasks = {
  list: operation({
    method: "GET",
    path: "/v1/tasks",
    summary: "List tasks, newest first",
    scope: "tasks:read",
    query: z.object({
      ...pageQuery,
      status: z.enum(taskStatuses).optional(),
      type: z.enum(taskTypes).optional(),
      subtype: z.enum(taskSubtypes).optional(),
      product_id: z.string().optional(),
    }),
    status: 200,
    reply: listOf(Task),
    refuses: { 400: ["invalid_cursor"] },
  }),
  beautify: operation({
    method: "POST",
    path: "/v1/tasks/beautifier",
    summary: "Render a product alone on a background",
    scope: "tasks:write",
    body: { "application/json": BeautifierRequest },
    status: 202,
    reply: Task,
    refuses: {
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
    scope: "tasks:write",
    body: { "application/json": TryonRequest },
    status: 202,
    reply: TryonTasks,
    refuses: { 402: ["insufficient_credits"] },
    refusalList: TryonRefusal,
  }),
  get: operation({
    method: "GET",
    path: "/v1/tasks/{task_id}",
    summary: "Get a task",
    scope: "tasks:read",
    params: z.object({ task_id: z.string() }),
    status: 200,
    reply: Task,
    refuses: { 404: ["task_not_found"] },
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
    scope: "models:read",
    query: z.object({ ...pageQuery, is_public: queryBoolean.optional() }),
    status: 200,
    reply: listOf(Model),
    refuses: { 400: ["invalid_cursor"] },
  }),
};
