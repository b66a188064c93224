import { existsSync } from "node:fs";
import { type EventLine, isResult, readLog, UnacceptedEvents } from "./log-lines.ts";

/** Which events of a log are meant: by ID, or by time and result. */
export interface EventSelection {
  /** Event IDs; empty for every event that the other conditions select. */
  readonly ids: readonly string[];
  /** The earliest time of arrival, in Unix milliseconds; null for any. */
  readonly since: number | null;
  /** Only events that a handler has not accepted. */
  readonly failed: boolean;
}

/** The selected events, oldest first, and the given IDs that the log does not have. */
interface LoggedEvents {
  readonly events: readonly EventLine[];
  readonly unknown: readonly string[];
}

/**
 * Reads the events of a log that are meant; a log that does not exist has none, unless it must exist. Throws the errors
 * of `readLog`.
 */
export async function loggedEvents(
  path: string,
  { ids, since, failed, mustExist }: EventSelection & { readonly mustExist: boolean },
): Promise<LoggedEvents> {
  const wanted = new Set(ids);
  const found = new Map<string, EventLine>();
  const unaccepted = new UnacceptedEvents();
  const isMeant = ({ id, received_at: at }: EventLine) =>
    (wanted.size === 0 || wanted.has(id)) && (since === null || Date.parse(at) >= since);
  if (!mustExist && !existsSync(path)) return { events: [], unknown: [...wanted] };
  for await (const line of readLog(path)) {
    if (isResult(line)) unaccepted.settle(line);
    else if (!found.has(line.id) && isMeant(line)) {
      found.set(line.id, line);
      unaccepted.add(line);
    }
  }
  return {
    events: [...found.values()].filter(({ id }) => !failed || unaccepted.has(id)),
    unknown: [...wanted].filter((id) => !found.has(id)),
  };
}
