import type { Product } from "../../../contract/resources/products.ts";
import {
  type AskedResponse,
  type AskedService,
  differenceOf,
  type ExpectedError,
  NotAsked,
} from "./service.ts";

/** Asks a service about one clause: null if it does as assumed, else what it does instead. */
type Question = (service: AskedService) => Promise<string | null>;

/** An assumed clause of docs/fidelity.md by its text: how it is asked, or why it is not. */
export type Clause =
  | { readonly text: string; readonly needs: "read" | "write"; readonly ask: Question }
  | { readonly text: string; readonly why: string };

/** A clause that is asked without changing anything. */
export const read = (text: string, ask: Question): Clause => ({ text, needs: "read", ask });
/** A clause that is asked by writes. */
export const write = (text: string, ask: Question): Clause => ({ text, needs: "write", ask });
/** Clauses that are not asked, for one reason. */
export const never = (why: string, ...texts: string[]): Clause[] => texts.map((text) => ({ text, why }));

/** The first difference of several replies. */
export const first = async (...found: (Promise<string | null> | string | null)[]): Promise<string | null> =>
  (await Promise.all(found)).find((difference) => difference !== null) ?? null;

/** The difference of a reply that is on its way. */
export const is = async (reply: Promise<AskedResponse>, expected: ExpectedError) =>
  differenceOf(await reply, expected);

/** An ID that no object has. */
export const noId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
/** A 400 for a field. */
export const invalid = (param: string): ExpectedError => ({ status: 400, type: "invalid_request", param });

/** A product to create with a mistake: nothing is created. */
export const mistaken = ({ mark }: AskedService, more: Record<string, unknown>) => ({
  json: { name: "Doctor", reference: mark, images: [{ image_id: noId, orientation: "front" }], ...more },
});

/** The throw-away product as it is now. */
export const current = async (service: AskedService): Promise<Product> => {
  const { id } = await service.product();
  const product = (await service.get(`/v1/products/${id}`)).json as Partial<Product>;
  if (product.images?.[0] === undefined) throw new NotAsked("the product has no photo");
  return product as Product;
};
