import pLimit from "p-limit";
import type { Client } from "../../../client/client.ts";
import { canonicalReference } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import { mayNotRead } from "../../service-errors.ts";

export interface LookUpDeps {
  client: Client;
  concurrency: number;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/**
 * Which of the references exist at the service, with the id of each product; null where the key may not read them. The service has no look-up by reference: `q`
 * is a free-text search, among whose results the exact one is taken.
 */
export async function existingProducts(
  references: readonly string[],
  { client, concurrency, signal, onProgress }: LookUpDeps,
): Promise<Map<string, string> | null> {
  const found = new Map<string, string>();
  const limit = pLimit(concurrency);
  let done = 0;
  const lookUp = async (reference: string) => {
    for await (const product of client.paginate(operations.products.list, { q: reference }, { signal })) {
      if (canonicalReference(product.reference) !== reference) continue;
      found.set(reference, product.id);
      break;
    }
    onProgress(++done, references.length);
  };
  try {
    await Promise.all(references.map((reference) => limit(lookUp, reference)));
  } catch (error) {
    if (!mayNotRead(error)) throw error;
    limit.clearQueue();
    return null;
  }
  return found;
}
