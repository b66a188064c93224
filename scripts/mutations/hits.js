// @ts-check
// Hands over which functions of the code to change each test file has called.
import { afterAll } from "vitest";

const global = /** @type {{ mutationHits?: Set<string> }} */ (globalThis);
global.mutationHits = new Set();

// biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the pattern.
afterAll(({}, suite) => {
  /** @type {{ hits?: string[] }} */ (suite.meta).hits = [...(global.mutationHits ?? [])];
});
