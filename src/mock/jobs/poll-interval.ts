import { limits } from "../../contract/limits.ts";
import type { World } from "../world/world.ts";

/** `Retry-After` in seconds while a job runs (Limits, job polling interval); shorter at higher speeds. */
export const pollInterval = (world: World): number => Math.round(limits.jobPollSeconds / world.options.speed);
