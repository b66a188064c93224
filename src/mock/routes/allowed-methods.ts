import { everyOperation } from "../../contract/operations.ts";
import { controlRoutes } from "../control/routes.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { pathOf } from "../requests/request-target.ts";

/** Path of the OpenAPI document. */
export const openApiPath = "/openapi.json";

/** Paths of the mock in addition to the contract's, each with its methods. */
const ownPaths: readonly (readonly [string, readonly string[]])[] = [
  ...Object.values(signedPaths).map((path) => [path("{id}"), ["GET", "HEAD"]] as const),
  [openApiPath, ["GET", "HEAD"]],
  ...controlRoutes.map(({ path, method }) => [path, [method]] as const),
];

const known = [
  ...everyOperation.map(({ operation }) => [operation.path, [operation.method]] as const),
  ...ownPaths,
].map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  methods,
}));

/** All methods of all paths. */
export const knownMethods: ReadonlySet<string> = new Set(known.flatMap(({ methods }) => methods));

/** The methods allowed at a path; empty if the path is unknown. */
export function allowedMethods(url: string): string[] {
  const path = pathOf(url);
  const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((one) => one.methods);
  return [...new Set(methods)];
}
