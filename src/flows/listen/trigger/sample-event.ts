import { monotonicFactory } from "ulid";
import type { DeliveredEvent } from "../../../client/verify-webhook.ts";
import type { EventType } from "../../../contract/value-sets.ts";

export interface SampleSource {
  /** The time of the events, in Unix milliseconds. */
  readonly now: () => number;
  /** A random number from 0 to 1, for the IDs. */
  readonly random: () => number;
}

/** Fixed IDs of a sample: an event ID (`evt_…`), or the ID of its task, import or export. */
export interface SampleIds {
  readonly eventId?: string | undefined;
  readonly resourceId?: string | undefined;
}

/** Creates events as the service delivers them (Events, Delivery), about resources that do not exist. */
export function sampleEvents({ now, random }: SampleSource) {
  const newId = monotonicFactory(random);
  return (type: EventType, { eventId, resourceId }: SampleIds = {}): DeliveredEvent => {
    const [resource, status] = type.split(".") as [string, string];
    return {
      id: eventId ?? `evt_${newId(now())}`,
      type,
      created_at: new Date(now()).toISOString(),
      data: { [resource]: { id: resourceId ?? newId(now()), status } },
    } as DeliveredEvent;
  };
}
