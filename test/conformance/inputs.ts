import type { Send, startWorld } from "../mock/world.ts";
import { row, tinyPng } from "../mock/world.ts";

export type World = Awaited<ReturnType<typeof startWorld>>;
/** A request to an operation: its path and options. */
export type Input = [path: string, send?: Send];

export const nobody = "01HN1H1W2BE2ZP0BXGX60T7K32";

const productOf = async ({ createProduct }: World, reference = "CONFORMING") => {
  const { body } = await createProduct({ reference });
  return body as { id: string; images: { id: string }[] };
};
const importOf = async ({ importRows }: World) => (await importRows([row("IMPORTED")])).body.id as string;
export const form = () => {
  const data = new FormData();
  data.append("file", new Blob([tinyPng]), "photo.png");
  return data;
};
export const patch = (json: unknown): Send => ({
  method: "PATCH",
  body: JSON.stringify(json),
  headers: { "content-type": "application/merge-patch+json" },
});
export const beautify = (product_id: string) => ({
  subtype: "clothing",
  inputs: { product_id, background: "white", angle_shot: "front" },
});
const tryon = (product_id: string) => ({
  inputs: [{ product_id, model_id: "mdl_001", background: "studio", angle_shot: "full-front" }],
});
const webhook = { url: "https://hooks.example.com/in", events: ["import.completed"] };
const webhookOf = async ({ send }: World) =>
  (await send("/v1/webhooks", { json: webhook })).body.id as string;

/** A valid request for every operation; creates what it needs first. */
export const validInputs: Record<string, (world: World) => Promise<Input>> = {
  "products.create": async ({ imageId }) => [
    "/v1/products",
    { json: { name: "N", reference: "R", images: [{ image_id: await imageId(), orientation: "front" }] } },
  ],
  "products.list": async () => ["/v1/products?limit=2&q=a"],
  "products.get": async (world) => [`/v1/products/${(await productOf(world)).id}`],
  "products.update": async (world) => [
    `/v1/products/${(await productOf(world)).id}`,
    patch({ name: "N", sex: "other" }),
  ],
  "products.delete": async (world) => [`/v1/products/${(await productOf(world)).id}`, { method: "DELETE" }],
  "products.attach": async (world) => [
    `/v1/products/${(await productOf(world)).id}/images`,
    { json: { images: [{ image_id: await world.imageId(), orientation: "back" }] } },
  ],
  "products.detach": async (world) => {
    const { id, images } = await productOf(world);
    const more = { images: [{ image_id: await world.imageId(), orientation: "back" }] };
    await world.send(`/v1/products/${id}/images`, { json: more });
    return [`/v1/products/${id}/images/${images[0]!.id}`, { method: "DELETE" }];
  },
  "images.upload": async () => ["/v1/images", { body: form() }],
  "images.get": async ({ imageId }) => [`/v1/images/${await imageId()}`],
  "imports.create": async () => ["/v1/imports", { json: { rows: [row("A")] } }],
  "imports.get": async (world) => [`/v1/imports/${await importOf(world)}`],
  "imports.rows": async (world) => [`/v1/imports/${await importOf(world)}/rows?status=pending`],
  "exports.list": async () => ["/v1/exports?role=source&since=2024-01-01T00:00:00%2B01:00"],
  "exports.create": async () => ["/v1/exports", { json: { format: "zip" } }],
  "exports.get": async ({ send }) => [`/v1/exports/${(await send("/v1/exports", { json: {} })).body.id}`],
  "tasks.list": async () => ["/v1/tasks?status=queued"],
  "tasks.beautify": async (world) => [
    "/v1/tasks/beautifier",
    { json: beautify((await productOf(world)).id) },
  ],
  "tasks.tryon": async (world) => ["/v1/tasks/tryon", { json: tryon((await productOf(world)).id) }],
  "tasks.get": async (world) => {
    const { id } = await productOf(world);
    return [`/v1/tasks/${(await world.send("/v1/tasks/beautifier", { json: beautify(id) })).body.id}`];
  },
  "models.list": async () => ["/v1/models?is_public=true"],
  "webhooks.create": async () => ["/v1/webhooks", { json: webhook }],
  "webhooks.list": async () => ["/v1/webhooks"],
  "webhooks.get": async (world) => [`/v1/webhooks/${await webhookOf(world)}`],
  "webhooks.update": async (world) => [
    `/v1/webhooks/${await webhookOf(world)}`,
    { method: "PATCH", json: { status: "paused", description: null, rotate_secret: true } },
  ],
  "webhooks.delete": async (world) => [`/v1/webhooks/${await webhookOf(world)}`, { method: "DELETE" }],
};
