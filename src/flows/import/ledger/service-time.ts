import { mayNotRead } from "../../service-errors.ts";
import type { LookDeps } from "./look.ts";

/**
 * The service's clock now, in Unix milliseconds, by the `Date` of an answer of this moment: this machine's may be an hour
 * off. Null when it does not tell, or the key may not read exports.
 */
export async function serviceNow({ client, signal }: LookDeps): Promise<number | null> {
  try {
    await client.exports.list({ limit: 1 }, { signal });
    return client.serviceNow();
  } catch (error) {
    if (mayNotRead(error)) return null;
    throw error;
  }
}
