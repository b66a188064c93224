import type { Operation } from "./operation.ts";
import { exports } from "./resources/exports.ts";
import { images } from "./resources/images.ts";
import { imports } from "./resources/imports.ts";
import { products } from "./resources/products.ts";
import { models, tasks } from "./resources/tasks.ts";
import { webhooks } from "./resources/webhooks.ts";

export const operations = { products, images, imports, exports, tasks, models, webhooks };
export type Operations = typeof operations;

/** The operations as a flat list, with names such as `products.get`. */
export const everyOperation: readonly { name: string; operation: Operation }[] = Object.entries(
  operations,
).flatMap(([resource, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({
    name: `${resource}.${verb}`,
    operation: operation as unknown as Operation,
  })),
);
