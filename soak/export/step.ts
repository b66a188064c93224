import { diskSteps } from "../trouble.ts";

/** The step of an export at which a process ended, derived from its last request, or what it did with its files. */
export const steps = [
  ...(["starting", "reading", "creating jobs", "following jobs", "downloading"] as const),
  ...diskSteps,
] as const;
export type Step = (typeof steps)[number];

/** The step of an export that sends this request. */
export function stepOf(method: string, path: string): Step {
  if (path.startsWith("/_signed/")) return "downloading";
  if (method === "POST") return "creating jobs";
  return /^\/v1\/exports\/[^?]/.test(path) ? "following jobs" : "reading";
}
