import type { Client } from "../../../src/client/client.ts";
import { importWorld, withCreate } from "./run-import.ts";

export const cdn = "https://cdn.example.com";

/** A file of products with a photo each. */
export const fileOf = (...references: string[]): string =>
  `reference,name,images\n${references.map((one) => `${one},Dress,${cdn}/${one}.jpg\n`).join("")}`;

/** What the service holds of them when each was imported once. */
export const once = (...references: string[]): string[] => references.map((one) => `${one} Dress 1`);

/** A world with such a file, `a.csv`. */
export async function worldWith(...references: string[]) {
  const world = await importWorld();
  await world.write("a.csv", fileOf(...references));
  return world;
}

/** A client that meets something before its n-th import is sent. */
export const beforeCall = (nth: number, meet: () => Promise<void> | void) => (client: Client) => {
  let calls = 0;
  return withCreate(client, async (...args) => {
    if (++calls === nth) await meet();
    return client.imports.create(...args);
  });
};

/** A service that does what it is sent, and whose answers to imports are lost. */
export const answersLost = { match: { method: "POST", path: "/v1/imports" }, drop: "after" } as const;
/** One that nothing reaches. */
export const nothingArrives = { match: { method: "POST", path: "/v1/imports" }, drop: "before" } as const;

export const hour = 3_600_000;
