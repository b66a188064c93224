import * as z from "zod";
import { closedSet, reliedOn } from "../response-values.ts";
import { modelSexes } from "../value-sets.ts";
import { Timestamp, Url } from "./fields.ts";

/** A person who wears the product in a try-on. IDs are opaque: ULIDs, or shorter for curated models. */
export const Model = z.looseObject({
  id: reliedOn(z.string()),
  name: z.string().nullable(),
  is_public: z.boolean(),
  sex: closedSet(modelSexes).nullable(),
  body_type: z.string().nullable(),
  age_bracket: z.string().nullable(),
  ethnicity: z.string().nullable(),
  hair_color: z.string().nullable(),
  eye_color: z.string().nullable(),
  preview_url: Url.nullable(),
  preview_url_expires_at: Timestamp.nullable(),
});
export type Model = z.infer<typeof Model>;
