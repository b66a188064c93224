import { everyOperation } from "../contract/operations.ts";
import { controlRoutes } from "./control/routes.ts";
import { signedPaths } from "./images/signed-urls.ts";

/** Where the document of the whole API is. */
export const openApiPath = "/openapi.json";

/** Paths of our own beside the contract's, each with its methods. */
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

/** Every method that some path has. */
export const knownMethods: ReadonlySet<string> = new Set(known.flatMap(({ methods }) => methods));

/** The path of a URL as the router reads it. */
const pathOf = (url: string): string => decodedPath(url) ?? url.split(/[?#]/, 1)[0]!;

/** The same, but null where it cannot be decoded. */
export function decodedPath(url: string): string | null {
  try {
    return decodeURI(url.split(/[?#]/, 1)[0]!);
  } catch {
    return null;
  }
}

/** Whether a URL is one of those that steer the mock. */
export const steersMock = (url: string): boolean =>
  // Nearly all are not, and need no closer look.
  !url.startsWith("/v1/") && /^\/_mock(?:\/|$)/.test(pathOf(url));

/** A request target as origin form and, where it was absolute form, the host it names (RFC 9112, 3.2). */
export function originForm(target: string): { url: string; host?: string } {
  const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (host === undefined) return { url: target };
  return { url: rest!.startsWith("/") ? rest! : `/${rest}`, host };
}

/** The methods that some operation has at this path; none when the path is unknown. */
export function allowedMethods(url: string): string[] {
  const path = pathOf(url);
  const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((one) => one.methods);
  return [...new Set(methods)];
}
