import * as z from "zod";
import type { BodySchemas, Operation } from "../operation.ts";

const nothing = z.object({});
type Nothing = typeof nothing;

type Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends BodySchemas | undefined,
  Reply extends z.ZodType | null,
> = Omit<Operation<Params, Query, Body, Reply>, "params" | "query" | "body"> & {
  params?: Params;
  query?: Query;
  body?: Body;
};

/** Completes the definition of an operation: absent params, query or body mean none. */
export function operation<
  const Reply extends z.ZodType | null,
  const Params extends z.ZodObject = Nothing,
  const Query extends z.ZodObject = Nothing,
  const Body extends BodySchemas | undefined = undefined,
>(definition: Definition<Params, Query, Body, Reply>): Operation<Params, Query, Body, Reply> {
  return {
    ...definition,
    params: definition.params ?? (nothing as unknown as Params),
    query: definition.query ?? (nothing as unknown as Query),
    body: definition.body as Body,
  };
}
