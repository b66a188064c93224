import type * as z from "zod";
import type { BeautifierRequest } from "../../contract/resources/tasks.ts";
import { type Subject, toSubject } from "../drawing/garments.ts";
import type { Garment } from "../drawing/scene.ts";
import type { Organization } from "../store/organization.ts";
import type { ModelRecord, ProductRecord } from "../store/records.ts";
import type { TaskOrder } from "./task-job.ts";
import type { JudgedTryon } from "./tryon-inputs.ts";

/** The garment that a subtype always renders; null for that of the product. */
const garmentBySubtype = { clothing: null, shoes: "shoe", headwear: "hat" } as const;

/** The task of a beautified shot. */
export function toBeautifierOrder(
  organization: Organization,
  product: ProductRecord,
  { subtype, inputs }: z.output<typeof BeautifierRequest>,
): TaskOrder {
  const garment = toGarment(organization, product);
  const { background, angle_shot, style = null } = inputs;
  return {
    product,
    subtype,
    styling_product_ids: [],
    scene: {
      garment: { ...garment, subject: garmentBySubtype[subtype] ?? garment.subject },
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

/** The task of one try-on. */
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
      garment: toGarment(organization, product),
      reference: product.reference ?? "",
      background,
      angle_shot,
      style: null,
      person: toPerson(model),
      look_at_camera,
      stylings: stylings.map((styling) => toGarment(organization, styling)),
    },
  };
}

const toPerson = ({ is_public: _isPublic, has_preview: _hasPreview, ...person }: ModelRecord) => person;

/** Inputs with the same model, product and styling list look consistent (Tasks). */
export const toGroup = ({ product, model, stylings }: JudgedTryon): string =>
  JSON.stringify([model.id, product.id, stylings.map(({ id }) => id)]);

/** Words in a name or a reference, by garment. */
const words: readonly (readonly [Subject, RegExp])[] = [
  ["shoe", /shoe|boot|sneaker|sandal|loafer|trainer|pump|slipper/],
  ["bag", /\bbag|handbag|backpack|tote|purse/],
  ["hat", /\bhat|\bcap\b|beanie|beret|headwear/],
  ["dress", /dress|gown/],
  ["skirt", /skirt/],
  ["trousers", /trouser|jean|pants|shorts|legging|chino/],
  ["coat", /coat|jacket|blazer|parka|cardigan/],
  ["top", /shirt|\btee\b|\btop\b|blouse|jumper|knit|sweater|hoodie|polo/],
];

/** The garment follows from the name, the colors from the photo, or from the ID for an upload. */
function toGarment(organization: Organization, product: ProductRecord): Garment {
  const text = `${product.name} ${(product.reference ?? "").replaceAll(/[-_]/g, " ")}`.toLowerCase();
  const named = words.find(([, pattern]) => pattern.test(text))?.[0];
  const photo = product.images
    .map(({ id }) => organization.images.get(id))
    .find((image) => image !== undefined && image.bytes === null && image.generation === null);
  const seed = photo?.seed ?? product.id;
  return { subject: named ?? toSubject(photo?.subject ?? "", seed), seed };
}
