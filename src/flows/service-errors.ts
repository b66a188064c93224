import { ApiError } from "../client/api-error.ts";
import { CatError } from "../errors.ts";

/** Whether nothing that is asked will be answered: the key is not known any more, or may not do this. */
export const isOfCaller = (error: unknown): boolean =>
  error instanceof CatError && (error.status === 401 || error.status === 403);

/** A key without the scope to read. */
export const mayNotRead = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "insufficient_scope";

/** Of several errors of a run the one to tell: that the key is refused, which ends everything, else the first. */
export const decisive = (...errors: readonly unknown[]): unknown =>
  errors.find(isOfCaller) ?? errors.find((error) => error !== undefined);

/** Whether the fault, which stayed after all retries, is likely to meet whatever else is asked: of the network or the service. */
export const isOfService = (error: unknown): boolean =>
  error instanceof CatError &&
  (error.type === "network" ||
    error.type === "timeout" ||
    error.type === "bad_answer" ||
    (error.status !== undefined && (error.status >= 500 || error.status === 429)));

/**
 * Whether the service has said no: any 4xx, but not the 409 that says the first attempt under a key is still being worked on
 * (Cross-cutting rule 4).
 */
export const isRefusal = ({ status = 0, code }: CatError): boolean =>
  status >= 400 && status < 500 && code !== "request_in_progress";

/** Whether it is what was sent that was refused, rather than who sent it or when: the same would be refused again. */
export const isOfContent = ({ status }: CatError): boolean =>
  status === 400 || status === 413 || status === 415 || status === 422;

/** What the service answers; null where it has no such thing (404). Throws anything else. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
