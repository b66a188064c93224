import type { ImportRowResult } from "../../../contract/resources/imports.ts";
import { type Clause, current, first, invalid, is, never, noId, read, write } from "./clause.ts";
import { type AskedService, differenceOf, NotAsked } from "./service.ts";

/** The result of the row of an import, once it is known. */
async function imported(
  service: AskedService,
  options: Record<string, unknown>,
  row: Record<string, unknown>,
): Promise<ImportRowResult> {
  const accepted = await service.write("POST", "/v1/imports", { json: { ...options, rows: [row] } });
  if (accepted.status !== 202) throw new NotAsked(`POST /v1/imports responded with ${accepted.status}`);
  const { id } = accepted.json as { id: string };
  await service.ended(id);
  const { client, signal } = service;
  const { data } = await client.imports.rows({ import_id: id }, { signal });
  if (data[0] === undefined) throw new NotAsked("the import has no result for its row");
  return data[0];
}

/** Clauses about imports, exports, tasks and webhooks. */
export const jobClauses: readonly Clause[] = [
  ...never("an upload of 8 MB would create products", "Whether 8 MB is 8,000,000 or 8,388,608 bytes."),
  write("Blank lines, and lines that are not JSON.", async (service) => {
    const bytes = Buffer.from("\n{doctor\n");
    const reply = await service.write("POST", "/v1/imports", { contentType: "application/x-ndjson", bytes });
    const { errors = [] } = (reply.json ?? {}) as { errors?: { line?: unknown }[] };
    return first(
      differenceOf(reply, { status: 400, code: "invalid_row" }),
      errors[0]?.line === 2 ? null : `line ${JSON.stringify(errors[0]?.line ?? null)}; assumed: line 2`,
    );
  }),
  write("Too many or no rows.", (service) =>
    is(service.write("POST", "/v1/imports", { json: { rows: [] } }), {
      status: 400,
      type: "invalid_request",
    }),
  ),
  write("Fields that a row of an upsert does not have.", async (service) => {
    const { id } = await service.product();
    await service.write("PATCH", `/v1/products/${id}`, { json: { description: "kept" } });
    const row = { reference: service.mark, name: `Doctor ${service.mark}`, images: [await service.photo()] };
    await imported(service, { mode: "upsert" }, row);
    const { description } = await current(service);
    return description === "kept" ? null : "the description is lost; assumed: it keeps its value";
  }),
  ...never(
    "the duration is the service's own",
    "The change from validating to processing, and the duration of both.",
    "The duration of a zip job.",
    "The duration of a task.",
    "Retry-After while a task is queued or running.",
  ),
  ...never(
    "it needs an outage of the service",
    "502 when the pipeline is unavailable.",
    "500 if valid try-ons cannot be queued, 502 if the queue is unavailable.",
  ),
  write("product_id and images of failed and skipped rows.", async (service) => {
    const { id } = await service.product();
    const row = { reference: service.mark, name: "Doctor", images: [await service.photo()] };
    const failed = await imported(service, { mode: "create" }, row);
    const skipped = await imported(service, { mode: "skip_existing" }, row);
    const seen = [failed.product_id, failed.status, skipped.product_id === id, skipped.images.length];
    return JSON.stringify(seen) === JSON.stringify([null, "failed", true, 0])
      ? null
      : `a failed row has product_id ${failed.product_id}, a skipped one ${skipped.product_id} and ${skipped.images.length} images; assumed: null, that of the product, and 0`;
  }),
  ...never("no input is known that leads to them", "Use of no_images and too_many_attempts."),
  ...never(
    "it costs credits",
    "A generation of a deleted product.",
    "The cost of a task.",
    "The content of an output.",
    "Other codes of failure_reason than model_unsafe_content.",
    "A task whose product is changed or deleted in the meantime.",
    "The required image.",
    "Beautifier backgrounds.",
    "Try-on backgrounds.",
    "Beautifier angle shots.",
    "Try-on angle shots.",
    "style.",
  ),
  read("A role that does not exist.", (service) =>
    is(service.get("/v1/exports?role=doctor"), invalid("role")),
  ),
  ...never("it needs an hour without other changes", "Detaching a photo."),
  ...never(
    "it needs a larger catalogue",
    "The 500 products of a larger catalog, and the order of a selection.",
  ),
  write("An empty list of product_ids.", async (service) => {
    const reply = await service.write("POST", "/v1/exports", { json: { product_ids: [] } });
    const { products } = (reply.json ?? {}) as { products?: unknown };
    return first(
      differenceOf(reply, { status: 202 }),
      products === 0 || products === undefined
        ? null
        : `it selects ${String(products)} products; assumed: none`,
    );
  }),
  write("POST /v1/exports without a body.", (service) =>
    is(service.write("POST", "/v1/exports", null), { status: 202 }),
  ),
  ...never(
    "the template is set in the dashboard",
    "The organization's naming template, and per-workflow formats.",
  ),
  write("The codes in that list.", async (service) => {
    const input = { product_id: noId, model_id: "doctor", background: "white", angle_shot: "full-front" };
    const reply = await service.write("POST", "/v1/tasks/tryon", { json: { inputs: [input] } });
    const { errors = [] } = (reply.json ?? {}) as { errors?: Record<string, unknown>[] };
    const seen = errors
      .map(({ code }) => code)
      .sort()
      .join(", ");
    return first(
      differenceOf(reply, { status: 400 }),
      seen === "model_not_found, product_not_found"
        ? null
        : `${seen || "no codes"}; assumed: model_not_found, product_not_found`,
    );
  }),
  write("Inputs that are not a list, too few or too many.", (service) =>
    first(
      is(service.write("POST", "/v1/tasks/tryon", { json: { inputs: {} } }), invalid("inputs")),
      is(service.write("POST", "/v1/tasks/tryon", { json: { inputs: [] } }), invalid("inputs")),
    ),
  ),
  ...never("the models are those of the organization", "The available models."),
  ...never(
    "it needs a webhook and a server that others can reach",
    "The verification of the URL at creation.",
    "A duplicate event in the list.",
    "Events that happen while a webhook is paused.",
    "A retry that is due while a webhook is paused.",
    "The change of a webhook to disabled.",
    "Events for a manifest, which is completed immediately.",
    "Redirects.",
    "The precision of 'about'.",
    "The headers of a delivery.",
  ),
  write("The length of a description.", async (service) => {
    const webhook = {
      url: "https://192.0.2.1/doctor",
      events: ["task.succeeded"],
      description: "d".repeat(2_001),
    };
    const reply = await service.write("POST", "/v1/webhooks", { json: webhook });
    const { id } = (reply.json ?? {}) as { id?: string };
    if (id !== undefined) await service.write("DELETE", `/v1/webhooks/${id}`, null);
    return differenceOf(reply, invalid("description"));
  }),
  write("input_index.", async (service) => {
    const reply = await service.write("POST", "/v1/tasks/tryon", { json: { inputs: [{}] } });
    const { errors = [] } = (reply.json ?? {}) as { errors?: { input_index?: unknown }[] };
    const index = errors[0]?.input_index;
    return index === 0 ? null : `the first input has ${JSON.stringify(index ?? null)}; assumed: 0`;
  }),
];
