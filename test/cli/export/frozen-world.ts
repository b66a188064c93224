import { existsSync, readdirSync } from "node:fs";
import type { FrozenSummary } from "../../../src/flows/export/frozen/frozen-summary.ts";
import { createWorld, type WorldOptions } from "../../support/world.ts";

/** A mock with demo products, and a way to make it fail. */
export async function frozenWorld({ demo = 6, ...options }: WorldOptions & { demo?: number } = {}) {
  const world = await createWorld({ ...options, mock: { demo, rateLimit: false, ...options.mock } });
  const { baseUrl, apiKey } = world.mock;
  const control = async (method: string, path: string, body?: object): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers };
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: headers.authorization },
      ...init,
    });
    if (!response.ok) throw new Error(await response.text());
  };
  return {
    ...world,
    /** Orders something to go wrong. */
    fault: (fault: object) => control("POST", "/_mock/faults", fault),
    calm: () => control("DELETE", "/_mock/faults"),
    /** Sends a request as another client. */
    post: (path: string, body: object) => control("POST", path, body),
    deleteProduct: (id: string) => control("DELETE", `/v1/products/${id}`),
    /** The IDs of all products, newest first. */
    newestFirst: () =>
      world
        .products()
        .map(({ id }) => id)
        .reverse(),
    /** The status of each request that creates an export. */
    created: () =>
      world
        .requests()
        .filter(({ method, path }) => method === "POST" && path === "/v1/exports")
        .map(({ status }) => status),
    /** Lets the service count images that it does not write. */
    countMore: async (images: number) => {
      const state = world.mock.state();
      for (const job of state.organizations.main!.exports) job.total_assets += images;
      await control("PUT", "/_mock/state", state);
    },
    /** The export jobs of the service. */
    jobs: () => world.mock.state().organizations.main.exports,
    /** The files in the folder of the command, without the state of the program. */
    files: () =>
      readdirSync(world.folder)
        .filter((name) => name !== ".home")
        .sort(),
    exists: (path: string) => existsSync(`${world.folder}/${path}`),
  };
}

export const summaryOf = (stdout: string): FrozenSummary => JSON.parse(stdout) as FrozenSummary;

/** The product IDs of a manifest, in order. */
export const idsOf = (manifest: string): string[] => {
  const lines = manifest.split("\n");
  if (lines.pop() !== "") throw new Error("the manifest does not end with a line end");
  return lines.map((line) => (JSON.parse(line) as { product: { id: string } }).product.id);
};
