import { everyOperation } from "../contract/operations.ts";
import { signedPaths } from "./images/signed-urls.ts";

/** Paths of our own beside the contract's, each with its methods. */
const ownPaths: readonly (readonly [string, readonly string[]])[] = [
  ...Object.values(signedPaths).map((path) => [path("{id}"), ["GET", "HEAD"]] as const),
  ["/_mock/clock", ["POST"]],
  ["/_mock/reset", ["POST"]],
  ["/_mock/state", ["GET", "PUT"]],
  ["/_mock/requests", ["GET"]],
];

const known = [
  ...everyOperation.map(({ operation }) => [operation.path, [operation.method]] as const),
  ...ownPaths,
].map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  methods,
}));

/** The methods that some operation has at this path; none when the path is unknown. */
export function allowedMethods(url: string): string[] {
  const path = url.split(/[?#]/, 1)[0]!;
  const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((one) => one.methods);
  return [...new Set(methods)];
}
