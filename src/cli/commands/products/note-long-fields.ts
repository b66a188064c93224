import { canonicalReference, isLongerThan } from "../../../contract/import-row.ts";
import { limits } from "../../../contract/limits.ts";
import type { App } from "../../app/app.ts";

interface ProductFields {
  readonly reference?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  /** How many photos are attached. */
  readonly photos?: number;
}

/**
 * Notes what is larger than a row of an import may be (Limits). The specification has no limits here: the service decides.
 */
export async function noteLongFields(app: App, fields: ProductFields): Promise<void> {
  const { reference, name, description, photos = 0 } = fields;
  const texts = [
    ["reference", reference && canonicalReference(reference), limits.referenceLength.max],
    ["name", name, limits.nameLength.max],
    ["description", description, limits.descriptionLength.max],
  ] as const;
  for (const [field, text, most] of texts) {
    if (!text || !isLongerThan(text, most)) continue;
    await app.io.note(
      `The ${field} has ${[...text].length} characters; imports allow at most ${most}. The service decides.`,
    );
  }
  const { max } = limits.imagesPerProduct;
  if (photos > max) await app.io.note(`${photos} photos; imports allow at most ${max}. The service decides.`);
}
