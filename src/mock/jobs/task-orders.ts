import type * as z from "zod";
import { type ErrorCode, errorCodes, type TryonRefusal } from "../../contract/error-codes.ts";
import { type UnlistedValue, unlistedValues } from "../../contract/generation-rules.ts";
import { isLongerThan } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { TryonInput } from "../../contract/resources/task.ts";
import { type Subject, subjectOf } from "../drawing/garments.ts";
import type { Garment } from "../drawing/scene.ts";
import { everyProblem } from "../rules/checks.ts";
import { invalid, Refusal } from "../rules/refusal.ts";
import { findModel, type ModelRecord, type Organization } from "../store/organization.ts";
import type { ProductRecord } from "../store/records.ts";

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

/**
 * A product in a generated picture: the garment follows from the name, the colors from the photo. Uploaded
 * photos are not analyzed; the product ID determines the colors then.
 */
export function garmentOf(organization: Organization, product: ProductRecord): Garment {
  const text = `${product.name} ${product.reference.replaceAll(/[-_]/g, " ")}`.toLowerCase();
  const named = words.find(([, pattern]) => pattern.test(text))?.[0];
  const photo = product.images
    .map(({ id }) => organization.images.get(id))
    .find((image) => image !== undefined && image.bytes === null && image.generation === null);
  const seed = photo?.seed ?? product.id;
  return { subject: named ?? subjectOf(photo?.subject ?? "", seed), seed };
}

/** A valid input, with the product and models that it refers to. */
export interface JudgedTryon {
  readonly input: z.output<typeof TryonInput>;
  readonly product: ProductRecord;
  readonly model: ModelRecord;
  /** Without duplicates, in the order of the request. */
  readonly stylings: readonly ProductRecord[];
}

type Fields = Readonly<Record<string, unknown>>;
type Found = TryonRefusal["errors"][number];

/**
 * The inputs of a try-on request if all are valid, else a 400 that lists every problem in order (Tasks:
 * "every bad input is listed"). Products and models are looked up even if the input has other problems.
 */
export function judgeTryons(
  organization: Organization,
  inputs: readonly unknown[],
  strictSlugs: boolean,
): JudgedTryon[] {
  const errors: Found[] = [];
  inputs.forEach((input, input_index) => {
    const add = (code: ErrorCode, message: string, param?: string) =>
      errors.push({
        input_index,
        type: errorCodes[code].type,
        code,
        message,
        ...(param !== undefined && { param }),
      });
    const reported = new Set<string | undefined>();
    for (const { message, param } of everyProblem(TryonInput, input, "input")) {
      // The schema reports a list instead of text twice.
      if (reported.size === reported.add(param).size) continue;
      // In a list that is too long, only the allowed number of items is checked.
      const styling = /^styling_product_ids\[(\d+)\]$/.exec(param ?? "")?.[1];
      if (styling === undefined || Number(styling) < limits.stylings.max) {
        add("invalid_request", message, param);
      }
    }
    if (typeof input !== "object" || input === null) return;
    if (strictSlugs) {
      const { background, angle_shot } = input as Fields;
      // A missing or empty one is reported already.
      const textOf = (value: unknown, listed: string) =>
        typeof value === "string" && value !== "" ? value : listed;
      const values = { background: textOf(background, "white"), angleShot: textOf(angle_shot, "full-front") };
      for (const one of unlistedValues({ kind: "tryon", subtype: null, style: null, ...values }))
        add("invalid_request", `${one.field}: ${unlistedProblem(one)}`, one.field);
    }
    lookUp(organization, input as Fields, add);
  });
  if (errors.length > 0) throw new Refusal("invalid_request", "inputs are invalid", { list: { errors } });
  return inputs.map((value) => {
    const input = TryonInput.parse(value);
    const stylings = [...new Set(input.styling_product_ids)];
    return {
      input,
      product: organization.products.get(input.product_id)!,
      model: findModel(organization, input.model_id)!,
      stylings: stylings.map((id) => organization.products.get(id)!),
    };
  });
}

/** Adds an error for each missing product or model; wrong types are reported elsewhere. */
function lookUp(
  organization: Organization,
  input: Fields,
  add: (code: ErrorCode, message: string, param: string) => void,
): void {
  const { product_id, model_id, styling_product_ids } = input;
  const lookForProduct = (id: string, param: string) => {
    if (organization.products.get(id) !== undefined) return;
    add("product_not_found", `product ${id.slice(0, 100)} not found`, param);
  };
  if (typeof product_id === "string") lookForProduct(product_id, "product_id");
  if (typeof model_id === "string" && model_id !== "" && findModel(organization, model_id) === undefined) {
    add("model_not_found", `model ${model_id.slice(0, 100)} not found`, "model_id");
  }
  if (!Array.isArray(styling_product_ids)) return;
  for (const [index, id] of styling_product_ids.slice(0, limits.stylings.max).entries()) {
    const param = `styling_product_ids[${index}]`;
    if (typeof id !== "string") continue;
    if (id === product_id) add("invalid_request", "the main product cannot be a styling product", param);
    else lookForProduct(id, param);
  }
}

/*
 * Values that the specification does not list, and that the interface chose (Choices): backgrounds, angle shots, and the
 * limits of product fields. A mock with `strictSlugs: false` takes any.
 */

/** The problem of an unlisted background or angle shot, without the name of its field. */
export const unlistedProblem = ({ field, of, known }: UnlistedValue): string => {
  const more = field === "background" ? ", or a color such as #f4f1ea" : "";
  const custom =
    field === "angle_shot" && of === null
      ? ", or a slug of letters, digits, - and _ that starts with custom-"
      : "";
  return `must be one of ${known.join(", ")}${more}${custom}`;
};

interface ProductFields {
  readonly reference?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly images?: readonly unknown[];
}

const longest = {
  reference: limits.referenceLength.max,
  name: limits.nameLength.max,
  description: limits.descriptionLength.max,
} as const;

/** Rejects fields that are longer than those of an import row. */
export function rejectLongFields(fields: ProductFields): void {
  for (const [field, most] of Object.entries(longest)) {
    const value = fields[field as keyof typeof longest];
    if (typeof value === "string" && isLongerThan(value, most))
      throw invalid(`${field} must have at most ${most} characters`, field);
  }
  const { max } = limits.imagesPerProduct;
  if ((fields.images?.length ?? 0) > max) throw invalid(`images must have at most ${max} entries`, "images");
}
