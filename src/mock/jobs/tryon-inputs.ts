import type * as z from "zod";
import { type ErrorCode, errorCodes } from "../../contract/error-codes.ts";
import { type UnlistedValue, unlistedValues } from "../../contract/generation-rules.ts";
import { limits } from "../../contract/limits.ts";
import type { TryonRefusal } from "../../contract/resources/errors.ts";
import { TryonInput } from "../../contract/resources/tasks.ts";
import { everyProblem } from "../rules/checks.ts";
import { Rejection } from "../rules/rejection.ts";
import { findModel, type Organization } from "../store/organization.ts";
import type { ModelRecord, ProductRecord } from "../store/records.ts";

/** A valid input, with the product and models that it refers to. */
export interface JudgedTryon {
  readonly input: z.output<typeof TryonInput>;
  readonly product: ProductRecord;
  readonly model: ModelRecord;
  /** Without duplicates, in the order of the request. */
  readonly stylings: readonly ProductRecord[];
}

type Fields = Readonly<Record<string, unknown>>;
type Problem = TryonRefusal["errors"][number];

/**
 * The inputs of a try-on request if all are valid, else a 400 that lists every problem in order (Tasks:
 * "every bad input is listed"). Products and models are looked up even if the input has other problems.
 */
export function judgeTryons(
  organization: Organization,
  inputs: readonly unknown[],
  strictSlugs: boolean,
): JudgedTryon[] {
  const errors: Problem[] = [];
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
      const orListed = (value: unknown, listed: string) =>
        typeof value === "string" && value !== "" ? value : listed;
      const values = {
        background: orListed(background, "white"),
        angleShot: orListed(angle_shot, "full-front"),
      };
      for (const unlisted of unlistedValues({ kind: "tryon", subtype: null, style: null, ...values }))
        add("invalid_request", `${unlisted.field}: ${unlistedProblem(unlisted)}`, unlisted.field);
    }
    lookUp(organization, input as Fields, add);
  });
  if (errors.length > 0) throw new Rejection("invalid_request", "inputs are invalid", { list: { errors } });
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

/** The problem of an unlisted background or angle shot, without the name of its field. */
export const unlistedProblem = ({ field, of, known }: UnlistedValue): string => {
  const more = field === "background" ? ", or a color such as #f4f1ea" : "";
  const custom =
    field === "angle_shot" && of === null
      ? ", or a slug of letters, digits, - and _ that starts with custom-"
      : "";
  return `must be one of ${known.join(", ")}${more}${custom}`;
};
