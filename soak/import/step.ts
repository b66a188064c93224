/** The step of an import at which a process ended, derived from its last request. */
export const steps = [
  "starting",
  "looking for changes",
  "comparing photos",
  "uploading photos",
  "sending calls",
  "following jobs",
  "reading results",
  "changing fields",
  "moving photos",
  "removing photos",
] as const;
export type Step = (typeof steps)[number];

/** The step of an import that sends this request. */
export function stepOf(method: string, path: string): Step {
  if (path.startsWith("/_signed/") || /^\/v1\/imports\/[^/]+\/rows/.test(path)) return "reading results";
  if (method === "PATCH") return "changing fields";
  if (method !== "GET" && /^\/v1\/products\/[^/]+\/images/.test(path))
    return method === "DELETE" ? "removing photos" : "moving photos";
  if (method !== "POST" && path.startsWith("/v1/images")) return "comparing photos";
  if (path.startsWith("/v1/imports")) return method === "POST" ? "sending calls" : "following jobs";
  return path.startsWith("/v1/images") ? "uploading photos" : "looking for changes";
}
