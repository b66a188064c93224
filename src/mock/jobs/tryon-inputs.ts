import type * as z from "zod";
import { type ErrorCode, errorCodes, type TryonRefusal } from "../../contract/error-codes.ts";
import { limits } from "../../contract/limits.ts";
import { TryonInput } from "../../contract/resources/task.ts";
import { everyProblem } from "../rules/checks.ts";
import { Refusal } from "../rules/refusal.ts";
import { findModel } from "../store/curated-models.ts";
import type { ModelRecord, Organization } from "../store/organization.ts";
import type { ProductRecord } from "../store/product-record.ts";

/** An input that was found right, with what it names. */
export interface JudgedTryon {
  readonly input: z.output<typeof TryonInput>;
  readonly product: ProductRecord;
  readonly model: ModelRecord;
  /** Each once, in the order of the request. */
  readonly stylings: readonly ProductRecord[];
}

type Fields = Readonly<Record<string, unknown>>;
type Found = TryonRefusal["errors"][number];

/**
 * The inputs of a try-on request when every one is right, else a 400 that lists everything wrong with each, in their order
 * (Tasks: "every bad input is listed"). What is named is looked for even where something else is wrong.
 */
export function judgeTryons(organization: Organization, inputs: readonly unknown[]): JudgedTryon[] {
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
    const told = new Set<string | undefined>();
    for (const { message, param } of everyProblem(TryonInput, input, "input")) {
      // Of a list in place of a text the schema says twice that it is wrong.
      if (told.size === told.add(param).size) continue;
      // Of a list that is too long, only what may stand in it is looked at.
      const styling = /^styling_product_ids\[(\d+)\]$/.exec(param ?? "")?.[1];
      if (styling === undefined || Number(styling) < limits.stylings.max) {
        add("invalid_request", message, param);
      }
    }
    if (typeof input === "object" && input !== null) lookUp(organization, input as Fields, add);
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

/** What an input names that is not there; a field of another type is told of elsewhere. */
function lookUp(
  organization: Organization,
  input: Fields,
  add: (code: ErrorCode, message: string, param: string) => void,
): void {
  const { product_id, model_id, styling_product_ids } = input;
  const lookForProduct = (id: string, param: string) => {
    if (organization.products.get(id) !== undefined) return;
    add("product_not_found", `there is no product ${id.slice(0, 100)}`, param);
  };
  if (typeof product_id === "string") lookForProduct(product_id, "product_id");
  if (typeof model_id === "string" && model_id !== "" && findModel(organization, model_id) === undefined) {
    add("model_not_found", `there is no model ${model_id.slice(0, 100)}`, "model_id");
  }
  if (!Array.isArray(styling_product_ids)) return;
  for (const [index, id] of styling_product_ids.slice(0, limits.stylings.max).entries()) {
    const param = `styling_product_ids[${index}]`;
    if (typeof id !== "string") continue;
    if (id === product_id) add("invalid_request", "a product cannot be styled with itself", param);
    else lookForProduct(id, param);
  }
}
