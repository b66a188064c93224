import type { Service } from "../service.ts";
import { mayNotRead } from "../service-errors.ts";
import { productsByReference } from "./find-products.ts";

/** The IDs of the products with these references, by reference; null if the key lacks products:read. */
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
