import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import { everyOperation } from "../../contract/operations.ts";
import { lastNow } from "../store/state-fields.ts";

const successes: ReadonlySet<number> = new Set(everyOperation.map(({ operation }) => operation.status));

/**
 * The success status of an operation, or an error; a 429 uses no key and a 5xx releases it (Limits,
 * Cross-cutting rule 5).
 */
const isStored = (status: number): boolean =>
  successes.has(status) || (status >= 400 && status <= 499 && status !== 429);

/** A stored response, replayed byte by byte. Only responses that the mock itself could store are valid. */
const AnswerState = z
  .strictObject({
    status: z.int().refine(isStored, "responses with this status are not stored"),
    body: z.string().nullable(),
    headers: z.record(z.string().regex(/^Retry-After$/), z.string().regex(/^\d{1,15}$/)).optional(),
  })
  .refine(({ status, body }) => (status === 204) === (body === null), {
    path: ["body"],
    message: "must be null for 204 and text for every other status",
  });

/** An idempotency key with its stored response. */
export const KeyState = z.strictObject({
  // Only characters allowed in a header; no request could send another key.
  key: z
    .string()
    .min(1)
    .max(limits.idempotencyKeyLength)
    .regex(/^[\t\x20-\x7e\x80-\xff]+$/, "must have only characters that are allowed in a header"),
  fingerprint: z.string(),
  at: z.number().min(0).max(lastNow),
  answer: AnswerState,
});
