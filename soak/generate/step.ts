import { diskSteps } from "../trouble.ts";

/** The step of a try-on or beautify run at which a process ended, derived from its last request, or what it did with its files. */
export const steps = [
  ...(["starting", "looking up products", "queuing", "following tasks", "saving"] as const),
  ...diskSteps,
] as const;
export type Step = (typeof steps)[number];

/** The step of a run that sends this request. */
export function stepOf(method: string, path: string): Step {
  if (path.startsWith("/_signed/")) return "saving";
  if (path.startsWith("/v1/tasks")) return method === "POST" ? "queuing" : "following tasks";
  return "looking up products";
}
