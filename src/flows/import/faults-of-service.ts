import { ApiError } from "../../client/api-error.ts";
import { CatError } from "../../errors.ts";

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
