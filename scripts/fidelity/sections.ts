import type { Section } from "./clause.ts";
import { choices } from "./sections/choices.ts";
import { errors } from "./sections/errors.ts";
import { events } from "./sections/events.ts";
import { exports } from "./sections/exports.ts";
import { images } from "./sections/images.ts";
import { imports } from "./sections/imports.ts";
import { keys } from "./sections/keys.ts";
import { limitsTable } from "./sections/limits-table.ts";
import { mockServer } from "./sections/mock-server.ts";
import { products } from "./sections/products.ts";
import { requests } from "./sections/requests.ts";
import { service } from "./sections/service.ts";
import { tasks } from "./sections/tasks.ts";
import { webhooks } from "./sections/webhooks.ts";

/** Every clause in the order of the specification, then those of the interface. */
export const sections: readonly Section[] = [
  service,
  requests,
  products,
  images,
  imports,
  exports,
  tasks,
  webhooks,
  keys,
  events,
  errors,
  limitsTable,
  mockServer,
  choices,
];
