import * as z from "zod";
import { errorTypes } from "../error-codes.ts";
import { closedSet } from "../response-values.ts";

const problem = { code: z.string(), message: z.string(), param: z.string().optional() };

/** Every error body: `{error: {type, code, message, param?}}` (Errors). Unknown types and codes pass. */
export const ErrorEnvelope = z.looseObject({
  error: z.looseObject({ type: closedSet(errorTypes), ...problem }),
});

/** The 400 body of POST /v1/imports for invalid rows: every problem at once (Imports, rule 1). */
export const ImportRefusal = z.looseObject({
  errors: z.array(z.looseObject({ line: z.int(), ...problem })),
});
export type ImportRefusal = z.infer<typeof ImportRefusal>;

/** The 400 body of POST /v1/tasks/tryon: every invalid input at once; `input_index` counts from 0. */
export const TryonRefusal = z.looseObject({
  errors: z.array(z.looseObject({ input_index: z.int(), type: closedSet(errorTypes), ...problem })),
});
export type TryonRefusal = z.infer<typeof TryonRefusal>;
