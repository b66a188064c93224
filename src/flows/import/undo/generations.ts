// Generations: products of which images were made are not deleted with an import.

import { operations } from "../../../contract/operations.ts";
import type { Run } from "../../run/run.ts";
import { mayNotRead } from "../../service-errors.ts";

/** The clocks of this machine and of the service may differ. */
const marginMs = 24 * 60 * 60_000;

/**
 * Reads the images that were made since a time, in Unix milliseconds. The result says why a product is kept, if images were
 * or are being made of it, or if that cannot be determined; else null.
 */
export async function generationsSince(
  time: number,
  { client, signal }: Pick<Run, "client" | "signal">,
): Promise<(productId: string) => Promise<string | null>> {
  const since = new Date(Math.max(0, time - marginMs)).toISOString();
  const made = new Set<string>();
  try {
    for await (const { product, assets } of client.paginate(operations.exports.list, { since }, { signal })) {
      for (const { role, task_id, also_features } of assets) {
        if (role === "source" && task_id === null) continue;
        made.add(product.id);
        for (const other of also_features ?? []) made.add(other);
      }
    }
  } catch (error) {
    if (mayNotRead(error)) return async () => unknown;
    throw error;
  }
  return async (product_id) => {
    if (made.has(product_id)) return generated;
    try {
      const { data } = await client.tasks.list({ product_id, limit: 1 }, { signal });
      return data.length > 0 ? generated : null;
    } catch (error) {
      if (mayNotRead(error)) return unknown;
      throw error;
    }
  };
}

const generated = "images were generated of it (--with-generations deletes it)";
const unknown =
  "cannot determine whether images were generated of it: the key lacks tasks:read or exports:read (--with-generations deletes it)";
