import { expect } from "vitest";
import type { startWorld } from "../world.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read fields of any response.
export type Json = any;
export type World = Awaited<ReturnType<typeof startWorld>>;

/** The references of rows, in order. */
export const referencesOf = (rows: Json[]) => rows.map(({ product }) => product.reference);
/** The first hundred rows; `query` starts with `&`. */
export const list = async ({ send }: World, query = "") =>
  (await send(`/v1/exports?limit=100${query}`)).body.data;
/** Creates an export job. */
export const freeze = (world: World, json: unknown = {}) => world.send("/v1/exports", { json });
/** The text at a URL. */
export const textOf = async (url: string) => (await fetch(url)).text();
/** The rows of a manifest. */
export const rowsOf = async (url: string): Promise<Json[]> =>
  (await textOf(url))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** A product with a finished beautifier and a finished try-on with a styling product. */
export async function generated(world: World) {
  const styling = (await world.createProduct({ reference: "BELT" })).body;
  const product = (await world.createProduct({ reference: "DRESS" })).body;
  const beautifier = { product_id: product.id, background: "#f4f1ea", angle_shot: "front" };
  const made = await world.send("/v1/tasks/beautifier", {
    json: { subtype: "clothing", inputs: beautifier },
  });
  const input = { product_id: product.id, model_id: "mdl_001", background: "loft", angle_shot: "half-front" };
  const styled = { ...input, styling_product_ids: [styling.id] };
  const worn = await world.send("/v1/tasks/tryon", { json: { inputs: [styled] } });
  expect([made.status, worn.status]).toEqual([202, 202]);
  world.clock.advance(600_000);
  const tasks = [made.body.id, worn.body.tasks[0].id];
  const outputs = [];
  for (const id of tasks) outputs.push((await world.send(`/v1/tasks/${id}`)).body.output_image.id as string);
  return { styling, product, tasks, outputs };
}
