import { hash } from "node:crypto";
import type { ReceivedEvent } from "../deliveries/read-delivery.ts";

/** A task or job that has ended. */
export interface EndedJob {
  readonly resource: "task" | "import" | "export";
  readonly id: string;
  readonly status: string;
  /** RFC 3339; null if unknown. */
  readonly endedAt: string | null;
}

/** The ID of the event: the same in every run, so that the log recognizes it. */
export const eventIdOf = ({ resource, id, status }: Omit<EndedJob, "endedAt">): string =>
  `evt_${hash("sha256", `${resource} ${id} ${status}`).slice(0, 26)}`;

/** The event that the service sends for the end of a task or job (Events). `now` is in milliseconds. */
export function syntheticEvent(job: EndedJob, now: number): ReceivedEvent {
  const { resource, id, status, endedAt } = job;
  const outcome = status === "completed_with_errors" ? "completed" : status;
  return {
    id: eventIdOf(job),
    type: `${resource}.${outcome}`,
    created_at: endedAt ?? new Date(now).toISOString(),
    data: { [resource]: { id, status } },
  };
}

/** Whether a status of a task, an import or an export is terminal (States and transitions). */
export const isEndStatus = (status: string): boolean =>
  ["succeeded", "failed", "completed", "completed_with_errors"].includes(status);
