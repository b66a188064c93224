import { operations } from "../../../contract/operations.ts";
import { mayNotRead } from "../faults-of-service.ts";
import type { LookDeps } from "./look.ts";

/** The service's clock now, in Unix milliseconds, by the `Date` of an answer: this machine's may be an hour off. Null when it does not tell. */
export async function serviceNow({ client, signal }: LookDeps): Promise<number | null> {
  try {
    const { headers } = await client.exchange(operations.exports.list, { limit: 1 }, { signal });
    const time = Date.parse(String(headers.date));
    return Number.isNaN(time) ? null : time;
  } catch (error) {
    if (mayNotRead(error)) return null;
    throw error;
  }
}
