import { didYouMean } from "../../../contract/did-you-mean.ts";
import type { Operation } from "../../../contract/operation.ts";
import { everyOperation } from "../../../contract/operations.ts";

/** The operation of the contract for a method and a path without query, e.g. `/v1/products/ID`; null if unknown. */
export function knownOperation(method: string, path: string): Operation | null {
  const found = everyOperation.filter(
    ({ operation }) => operation.method === method && matches(operation, path),
  );
  // A path without parameters is more specific: `/v1/tasks/tryon` before `/v1/tasks/{task_id}`.
  const exact = found.find(({ operation }) => operation.path === path);
  return (exact ?? found[0])?.operation ?? null;
}

/** The next step after a 404 or 405 for a request that the contract does not have; undefined without one. */
export function requestHint(method: string, path: string): string | undefined {
  const methods = [
    ...new Set(
      everyOperation.flatMap(({ operation }) => (matches(operation, path) ? [operation.method] : [])),
    ),
  ];
  if (methods.length > 0) {
    return methods.includes(method as Operation["method"])
      ? undefined
      : `The service has ${methods.map((one) => `${one} ${path}`).join(" and ")}.`;
  }
  const [near] = didYouMean(path, [...new Set(everyOperation.map(({ operation }) => operation.path))]);
  return near === undefined ? undefined : `Did you mean ${near}?`;
}

/** Whether an operation returns a list in pages. */
export const isList = ({ query }: Operation): boolean => "cursor" in query.shape;

function matches({ path: pattern }: Operation, path: string): boolean {
  const expected = pattern.split("/");
  const given = path.split("/");
  return (
    expected.length === given.length &&
    expected.every((part, index) => (part.startsWith("{") ? given[index] !== "" : part === given[index]))
  );
}
