import type { Client } from "../../../src/client/client.ts";
import { importWorld, withCreate } from "./run-import.ts";

export const cdn = "https://cdn.example.com";

/** A file of products with one photo each. */
export const fileOf = (...references: string[]): string =>
  `reference,name,images\n${references.map((one) => `${one},Dress,${cdn}/${one}.jpg\n`).join("")}`;

/** The products at the service after each was imported once. */
export const once = (...references: string[]): string[] => references.map((one) => `${one} Dress 1`);

/** A test environment with such a file, `a.csv`. */
export async function worldWith(...references: string[]) {
  const world = await importWorld();
  await world.write("a.csv", fileOf(...references));
  return world;
}

/** A client that runs `meet` before it sends its n-th import. */
export const beforeBatch = (nth: number, meet: () => Promise<void> | void) => (client: Client) => {
  let calls = 0;
  return withCreate(client, async (...args) => {
    if (++calls === nth) await meet();
    return client.imports.create(...args);
  });
};

/** The service accepts imports, but their responses are lost. */
export const responsesLost = { match: { method: "POST", path: "/v1/imports" }, drop: "after" } as const;
/** No import reaches the service. */
export const nothingArrives = { match: { method: "POST", path: "/v1/imports" }, drop: "before" } as const;

export const hour = 3_600_000;
