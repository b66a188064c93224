import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/operations.ts";
import { CatError } from "../../../errors.ts";
import { orNull } from "../../service-errors.ts";
import type { RegisterDeps } from "./register-deps.ts";

const prefix = "listen ";
/** Holds of listeners belong to no account. */
export const noAccount = 0;

/** The name of the mark, and of the hold, of a listener. */
export const markName = (runId: string): string => `${prefix}${runId}`;

/** The description of the webhook of a listener, by which it is found if its ID is unknown. */
export const descriptionOf = (runId: string): string => `cat webhooks listen ${runId}`;

interface Mark {
  /** The ID of the webhook; null while no response has named it. */
  readonly id: string | null;
  readonly keyFingerprint: string;
}

export const markText = (mark: Mark): string => JSON.stringify(mark);

/** Deletes the webhooks of listeners that were killed. Notes a failure, which the new listener survives. */
export async function removeLeftovers({
  client,
  state,
  baseUrl,
  keyFingerprint,
  clock,
  pid,
  signal,
  onNote,
}: RegisterDeps): Promise<void> {
  for (const { name, value } of state.marks.list(baseUrl, prefix)) {
    // Without a hold the listener has ended; one that lives keeps its webhook.
    const hold = state.runs.hold(noAccount, name, { pid, since: clock.now() });
    if ("heldBy" in hold) continue;
    try {
      const mark = JSON.parse(value) as Mark;
      // With the key of another organization the webhook would seem to be missing.
      if (mark.keyFingerprint !== keyFingerprint) continue;
      const isDeleted = await deleteWebhook(
        client,
        { id: mark.id, runId: name.slice(prefix.length) },
        signal,
      );
      state.marks.remove(baseUrl, name);
      if (isDeleted) onNote("Deleted a webhook that an earlier cat webhooks listen had left.");
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CatError)) throw error;
      onNote(`Could not delete the webhook of an earlier cat webhooks listen: ${error.message}.`);
    } finally {
      hold.release();
    }
  }
}

/** Deletes the webhook of a listener. Returns false if the service has none. */
export async function deleteWebhook(
  client: RegisterDeps["client"],
  { id, runId }: { id: string | null; runId: string },
  signal: AbortSignal,
): Promise<boolean> {
  const found = id ?? (await idOf(client, runId, signal));
  if (found === null) return false;
  // A 204 has no body, so a 404 is the only null.
  const isThere = await orNull(client.webhooks.delete({ webhook_id: found }, { signal }).then(() => true));
  return isThere === true;
}

async function idOf(
  client: Pick<Client, "paginate">,
  runId: string,
  signal: AbortSignal,
): Promise<string | null> {
  for await (const { id, description } of client.paginate(operations.webhooks.list, {}, { signal })) {
    if (description === descriptionOf(runId)) return id;
  }
  return null;
}
