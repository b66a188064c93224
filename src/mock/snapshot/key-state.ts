import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import { everyOperation } from "../../contract/operations.ts";
import { lastNow } from "../store/state-fields.ts";

const successes: ReadonlySet<number> = new Set(everyOperation.map(({ operation }) => operation.status));

/** An operation's own, or a refusal; a 429 uses up no key, a 5xx sets it free (Limits, Cross-cutting rule 5). */
const isStored = (status: number): boolean =>
  successes.has(status) || (status >= 400 && status <= 499 && status !== 429);

/** A finished answer as it is replayed byte by byte: anything that a mock stores itself, and so could send, and nothing else. */
const AnswerState = z
  .strictObject({
    status: z.int().refine(isStored, "is not a status that is stored under a key"),
    body: z.string().nullable(),
    headers: z.record(z.string().regex(/^Retry-After$/), z.string().regex(/^\d{1,15}$/)).optional(),
  })
  .refine(({ status, body }) => (status === 204) === (body === null), {
    path: ["body"],
    message: "must be null for 204, and a text for every other status",
  });

/** An idempotency key with the answer that is stored under it. */
export const KeyState = z.strictObject({
  // As a header has it: what no request can carry would be there for nobody.
  key: z
    .string()
    .min(1)
    .max(limits.idempotencyKeyLength)
    .regex(/^[\t\x20-\x7e\x80-\xff]+$/, "must be what a header can carry"),
  fingerprint: z.string(),
  at: z.number().min(0).max(lastNow),
  answer: AnswerState,
});
