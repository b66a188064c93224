import { drawnSize } from "../../mock-page/drawing/garments.ts";
import { productWords } from "../../mock-page/drawing/product-words.ts";
import type { Organization } from "../store/organization.ts";
import type { ModelRecord, ProductRecord } from "../store/records.ts";

/*
 * Additions that the service may send without a new major version (Versioning 2): fields that today's
 * clients do not know, and new values of open sets. Clients must ignore the fields (Versioning 3).
 */

const added = "added_later";
const unknownValue = { note: "a field of a later version", values: [1, null, "a"] };

/** A JSON text with an unknown field in every object. Attributes of an asset stay flat (ExportRow). */
export const withUnknownFields = (json: string): string => JSON.stringify(extended(JSON.parse(json), ""));

function extended(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => extended(item, ""));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([field, inner]) => [field, extended(inner, field)]);
  return { ...Object.fromEntries(fields), [added]: name === "attributes" ? "soft light" : unknownValue };
}

/** A curated model with looks outside today's sample values (Model). */
export const laterModel: ModelRecord = {
  id: "mdl_later",
  name: "Zuri",
  is_public: true,
  sex: "female",
  body_type: "made-to-measure",
  age_bracket: "65+",
  ethnicity: "pacific-islander",
  hair_color: "silver",
  eye_color: "amber",
};

/** Adds a generated image with a new role to a product: "treat unknown values as opaque" (ExportRow). */
export function addLookbookImage(
  organization: Organization,
  product: ProductRecord,
  { id, task_id, now }: { id: string; task_id: string | null; now: string },
): void {
  organization.images.set(id, {
    id,
    mime_type: "image/webp",
    created_at: now,
    ...drawnSize,
    bytes: null,
    subject: "",
    seed: id,
    words: productWords(product.name, product.reference ?? product.id),
    generation: {
      role: "lookbook",
      task_id,
      product_id: product.id,
      angle_shot: "wide",
      background: "studio",
      model_id: null,
      also_features: [],
    },
  });
  organization.products.addGeneration(product, id, now);
}
