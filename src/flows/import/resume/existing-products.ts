import pLimit from "p-limit";
import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/operations.ts";

export interface LookUpDeps {
  client: Client;
  concurrency: number;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/**
 * Which of the references exist at the service, with the id of each product. The service has no look-up by reference: `q`
 * is a free-text search, among whose results the exact one is taken.
 */
export async function existingProducts(
  references: readonly string[],
  { client, concurrency, signal, onProgress }: LookUpDeps,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const limit = pLimit(concurrency);
  let done = 0;
  await Promise.all(
    references.map((reference) =>
      limit(async () => {
        for await (const product of client.paginate(operations.products.list, { q: reference }, { signal })) {
          if (product.reference.trim() !== reference) continue;
          found.set(reference, product.id);
          break;
        }
        onProgress(++done, references.length);
      }),
    ),
  );
  return found;
}
