import { productsByReference } from "../../catalogue/find-products.ts";
import type { Service } from "../../service.ts";
import { mayNotRead } from "../../service-errors.ts";

/** The IDs of the products that have these references, by reference; null where the key cannot read products. */
export async function existingProducts(
  references: readonly string[],
  service: Service,
  onProgress: (done: number, total: number) => void,
): Promise<Map<string, string> | null> {
  try {
    const found = await productsByReference(references, service, onProgress);
    return new Map([...found].map(([reference, { id }]) => [reference, id]));
  } catch (error) {
    if (mayNotRead(error)) return null;
    throw error;
  }
}
