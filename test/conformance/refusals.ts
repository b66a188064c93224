import type { Operation } from "../../src/contract/operation.ts";
import type { Send } from "../mock/world.ts";
import { beautify, form, type Input, nobody, patch, validInputs, type World } from "./inputs.ts";

/** Prepares an error: the returned request is the one that is rejected. */
type Way = (world: World, operation: Operation, name: string) => Promise<Input>;

const valid = (world: World, name: string): Promise<Input> => validInputs[name]!(world);
const withHeaders = (send: Send | undefined, headers: Record<string, string>): Send => ({
  ...send,
  headers: { ...send?.headers, ...headers },
});
/** The same request with another API key. */
const asKey =
  (key: string | null): Way =>
  async (world, _operation, name) => {
    const [path, send] = await valid(world, name);
    return [path, { ...send, key }];
  };
const tooLarge = Buffer.alloc(11 * 1024 * 1024, " ");
const isWrite = ({ method }: Operation) => method !== "GET";

const missingProduct = async (operation: Operation, imageId: string): Promise<Input> => {
  if (operation.path === "/v1/exports") return [operation.path, { json: { product_ids: [nobody] } }];
  const path = operation.path.replace("{product_id}", nobody).replace("{image_id}", imageId);
  if (operation.method === "PATCH") return [path, patch({})];
  if (operation.method !== "POST") return [path, { method: operation.method }];
  return [path, { json: { images: [{ image_id: imageId, orientation: "front" }] } }];
};

/**
 * Whether an operation can have an error: all keys can read, and without a body there is no content type to
 * reject.
 */
export function canRefuse(operation: Operation, code: string): boolean {
  if (code === "insufficient_scope") return isWrite(operation);
  if (code === "unsupported_media_type") return operation.body !== undefined;
  return true;
}

/** The preparation for each code; codes without one need a fault. */
export const ways: Record<string, Way> = {
  missing_api_key: asKey(null),
  invalid_api_key: asKey("ak_nobody"),
  user_key_not_allowed: asKey("ak_mock_user"),
  insufficient_scope: asKey("ak_mock_readonly"),

  invalid_request: async (world, operation, name) => {
    const [path, send] = await valid(world, name);
    if (isWrite(operation)) return [path, withHeaders(send, { "idempotency-key": "k".repeat(256) })];
    if ("limit" in operation.query.shape) return [`${path.split("?")[0]}?limit=0`];
    return [operation.path.replace(/\{\w+\}/, "%zz")];
  },
  invalid_cursor: async (world, _operation, name) => {
    const [path] = await valid(world, name);
    return [`${path.split("?")[0]}?cursor=bm9uZQ`];
  },
  rate_limit_exceeded: async (world, operation, name) => {
    const input = await valid(world, name);
    const [path, json] = isWrite(operation) ? ["/v1/products/none", "DELETE"] : ["/v1/products/none", "GET"];
    for (let status = 404; status !== 429; ) status = (await world.send(path, { method: json })).status;
    return input;
  },

  body_too_large: async (world, _operation, name) => {
    const [path, send] = await valid(world, name);
    const { json: _json, ...rest } = send ?? {};
    return [path, { method: "POST", ...rest, body: tooLarge }];
  },
  unsupported_media_type: async (world, operation, name) => {
    const [path] = await valid(world, name);
    return [path, { method: operation.method, body: "a,b", headers: { "content-type": "text/csv" } }];
  },
  idempotency_key_reused: async (world, _operation, name) => {
    const [path, send] = await valid(world, name);
    const key = { "idempotency-key": "used" };
    await world.send("/v1/products/none", { method: "DELETE", headers: key });
    return [path, withHeaders(send, key)];
  },

  product_not_found: async (world, operation, name) => {
    if (name === "tasks.beautify") return [operation.path, { json: beautify(nobody) }];
    return missingProduct(operation, await world.imageId());
  },
  task_not_found: async (_world, operation) => [operation.path.replace("{task_id}", nobody)],
  insufficient_credits: async (world, _operation, name) => {
    await world.send("/_mock/account", { key: null, json: { credits: 0 } });
    return valid(world, name);
  },
  inputs_mismatch: async (_world, operation) => [
    operation.path,
    {
      json: {
        ...beautify(nobody),
        subtype: "headwear",
        inputs: { ...beautify(nobody).inputs, style: "ghost" },
      },
    },
  ],
  image_required: async (world, operation) => {
    const images = [{ image_id: await world.imageId(), orientation: "back" }];
    const { body } = await world.createProduct({ reference: "BACK", images });
    return [operation.path, { json: beautify(body.id) }];
  },
  export_not_found: async (_world, operation) => [operation.path.replace("{export_id}", nobody)],
  webhook_not_found: async (world, _operation, name) => {
    const [path, send] = await valid(world, name);
    return [path.replace(/\w{26}$/, nobody), send ?? {}];
  },
  import_not_found: async (_world, operation) => [operation.path.replace("{import_id}", nobody)],
  image_not_found: async (world, _operation, name) => {
    if (name === "images.get") return [`/v1/images/${nobody}`];
    const [path, send = {}] = await valid(world, name);
    if (name === "products.detach") return [path.replace(/\w+$/, nobody), send];
    const images = [{ image_id: nobody, orientation: "front" }];
    return [path, { json: { ...(send.json as object), images } }];
  },
  reference_already_exists: async (world, _operation, name) => {
    const [path, send] = await valid(world, name);
    await world.createProduct({ reference: "TAKEN" });
    if (name === "products.update") return [path, patch({ reference: "TAKEN" })];
    return [path, { json: { ...(send?.json as object), reference: " TAKEN " } }];
  },
  cannot_drop_last_image: async (world) => {
    const { body } = await world.createProduct({ reference: "ONE" });
    return [`/v1/products/${body.id}/images/${body.images[0].id}`, { method: "DELETE" }];
  },
};

/** A form can be read only once, so a repeated request needs a new one. */
export const afresh = ([path, send]: Input): Input =>
  send?.body instanceof FormData ? [path, { ...send, body: form() }] : [path, send ?? {}];
