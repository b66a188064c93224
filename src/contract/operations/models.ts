import * as z from "zod";
import { listOf, pageQuery } from "../resources/fields.ts";
import { Model } from "../resources/model.ts";
import { operation } from "./define.ts";

const queryBoolean = z
  .union([z.boolean(), z.enum(["true", "false"])])
  .transform((value) => value === true || value === "true")
  .pipe(z.boolean());

export const models = {
  list: operation({
    method: "GET",
    path: "/v1/models",
    summary: "List the models for try-ons",
    scope: "models:read",
    query: z.object({ ...pageQuery, is_public: queryBoolean.optional() }),
    status: 200,
    reply: listOf(Model),
    refuses: { 400: ["invalid_cursor"] },
  }),
};
