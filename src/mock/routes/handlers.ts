import type { Handlers } from "../requests/handler.ts";
import { exports } from "./exports.ts";
import { images } from "./images.ts";
import { imports } from "./imports.ts";
import { models } from "./models.ts";
import { products } from "./products.ts";
import { tasks } from "./tasks.ts";
import { webhooks } from "./webhooks.ts";

/** The handler of every operation of the contract. */
export const handlers = {
  products,
  images,
  imports,
  exports,
  tasks,
  models,
  webhooks,
} satisfies Handlers;
