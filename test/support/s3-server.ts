import { onTestFinished } from "vitest";
import { startObjectStore } from "./object-store.ts";

export type { S3Faults } from "./object-store.ts";

/** An object store in memory, until the test ends. */
export async function s3Server(now?: () => number) {
  const store = await startObjectStore(now);
  onTestFinished(store.stop);
  return store;
}
