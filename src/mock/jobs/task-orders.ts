import type * as z from "zod";
import type { BeautifierRequest } from "../../contract/resources/tasks.ts";
import type { Subject } from "../../mock-page/drawing/garments.ts";
import { garmentOfPhoto, garmentOfWordsOr } from "../../mock-page/drawing/photo-drawing.ts";
import { garmentOfWords, productWords } from "../../mock-page/drawing/product-words.ts";
import type { Garment } from "../../mock-page/drawing/scene.ts";
import type { Organization } from "../store/organization.ts";
import type { ModelRecord, ProductRecord } from "../store/records.ts";
import type { TaskOrder } from "./task-job.ts";
import type { JudgedTryon } from "./tryon-inputs.ts";

/** The garment of a subtype; null for clothing of any kind. */
const garmentBySubtype = { clothing: null, shoes: "shoe", headwear: "hat" } as const;

export function toBeautifierOrder(
  organization: Organization,
  product: ProductRecord,
  { subtype, inputs }: z.output<typeof BeautifierRequest>,
): TaskOrder {
  const { background, angle_shot, style = null } = inputs;
  return {
    product,
    subtype,
    styling_product_ids: [],
    scene: {
      garment: toGarment(organization, product, garmentBySubtype[subtype]),
      reference: product.reference ?? "",
      background,
      angle_shot,
      style,
      person: null,
      look_at_camera: true,
      stylings: [],
    },
  };
}

export function toTryonOrder(
  organization: Organization,
  { input, product, model, stylings }: JudgedTryon,
): TaskOrder {
  const { background, angle_shot, look_at_camera } = input;
  return {
    product,
    subtype: null,
    styling_product_ids: stylings.map(({ id }) => id),
    scene: {
      garment: toGarment(organization, product, null),
      reference: product.reference ?? "",
      background,
      angle_shot,
      style: null,
      person: toPerson(model),
      look_at_camera,
      stylings: stylings.map((styling) => toGarment(organization, styling, null)),
    },
  };
}

const toPerson = ({ is_public: _isPublic, has_preview: _hasPreview, ...person }: ModelRecord) => person;

/** Inputs with the same model, product and styling list look consistent (Tasks). */
export const toGroup = ({ product, model, stylings }: JudgedTryon): string =>
  JSON.stringify([model.id, product.id, stylings.map(({ id }) => id)]);

/** The garment that a product is: that of its drawn photo, same colors, else by its words, else `known`. */
function toGarment(organization: Organization, product: ProductRecord, known: Subject | null): Garment {
  const words = productWords(product.name, product.reference ?? product.id);
  const photo = product.images
    .map(({ id }) => organization.images.get(id))
    .find((image) => image !== undefined && image.bytes === null && image.generation === null);
  if (photo === undefined) return garmentOfWordsOr(words, known);
  const ofPhoto = garmentOfPhoto(photo);
  return { ...ofPhoto, subject: garmentOfWords(photo.words ?? words) ?? known ?? ofPhoto.subject };
}
