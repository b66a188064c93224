import { createWorld, type WorldOptions } from "../../support/world.ts";

/** A mock with demo products, and a way to make it fail. */
export async function exportWorld({ demo = 250, ...options }: WorldOptions & { demo?: number } = {}) {
  const world = await createWorld({ ...options, mock: { demo, ...options.mock } });
  return {
    ...world,
    /** Orders something to go wrong. */
    async fault(fault: object): Promise<void> {
      const response = await fetch(`${world.mock.baseUrl}/_mock/faults`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fault),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    /** The IDs of all products, newest first. */
    newestFirst: () =>
      world
        .products()
        .map(({ id }) => id)
        .reverse(),
    /** The reads of exports, with their status. */
    reads: () =>
      world
        .requests()
        .filter(({ path }) => path.startsWith("/v1/exports"))
        .map(({ path, status }) => `${path.includes("cursor=") ? "next" : "first"} ${status}`),
  };
}

/** The product IDs of NDJSON rows, in order. */
export const idsOf = (ndjson: string): string[] =>
  ndjson
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { product: { id: string } }).product.id);
