import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { Service } from "../../service.ts";

/**
 * The IDs of all products that the API sees, newest first, without duplicates: read from GET /v1/exports, because
 * GET /v1/products also lists products that an export does not contain.
 */
export async function wholeCatalogue(
  { client, signal }: Pick<Service, "client" | "signal">,
  onProgress: (done: number) => void,
): Promise<readonly string[]> {
  const ids = new Set<string>();
  // Only IDs are read: products are listed even if none of their assets has the role, and pages stay small.
  const query = { limit: limits.page.max, role: "recoloring" };
  for await (const { product } of client.paginate(operations.exports.list, query, { signal })) {
    ids.add(product.id);
    onProgress(ids.size);
  }
  return [...ids];
}
