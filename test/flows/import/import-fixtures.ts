import { importWorld } from "./run-import.ts";

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

/** The service accepts imports, but their responses are lost. */
export const responsesLost = { match: { method: "POST", path: "/v1/imports" }, drop: "after" } as const;
/** No import reaches the service. */
export const nothingArrives = { match: { method: "POST", path: "/v1/imports" }, drop: "before" } as const;

export const hour = 3_600_000;
