import type { EventType } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import { isRefusal } from "../../service-errors.ts";
import { deleteWebhook, descriptionOf, markName, markText, noAccount, removeLeftovers } from "./leftovers.ts";
import type { RegisterDeps } from "./register-deps.ts";

export interface Registered {
  readonly id: string;
  readonly secret: string;
}

/** The webhook of one listener, from before its creation to its deletion. */
export interface Registration {
  /** Creates it. Throws the error of the service. */
  create(url: string, events: readonly EventType[]): Promise<Registered>;
  /** Deletes it within 10 s, whatever happened before. Notes a failure: the next listener deletes it then. */
  end(): Promise<void>;
}

const longestEndMs = 10_000;
/**
 * Prepares a webhook: removes those of killed listeners, and writes a mark before the new one is created, so that
 * no kill leaves a webhook that the next listener cannot find.
 */
export async function openRegistration(deps: RegisterDeps): Promise<Registration> {
  const { client, state, baseUrl, keyFingerprint, clock, pid, runId, signal } = deps;
  const name = markName(runId);
  // Other listeners see by the hold that this one is alive.
  const hold = state.runs.hold(noAccount, name, { pid, since: clock.now() });
  if ("heldBy" in hold) throw new Error("a run ID was used twice");
  const mark = (id: string | null) => state.marks.set(baseUrl, name, markText({ id, keyFingerprint }));
  let left: { id: string | null } | null = null;
  await removeLeftovers(deps);
  return {
    async create(url, events) {
      mark(null);
      left = { id: null };
      const body = { url, events: [...events], description: descriptionOf(runId) };
      try {
        const { id, signing_secret: secret } = await client.webhooks.create({ body }, { signal });
        mark(id);
        left = { id };
        return { id, secret };
      } catch (error) {
        if (error instanceof CatError && isRefusal(error)) {
          state.marks.remove(baseUrl, name);
          left = null;
        }
        throw error;
      }
    },
    async end() {
      const patience = new AbortController();
      const cancel = clock.at(clock.now() + longestEndMs, () => patience.abort(new Error("timed out")));
      try {
        if (left !== null) {
          await deleteWebhook(client, { id: left.id, runId }, patience.signal);
          state.marks.remove(baseUrl, name);
        }
      } catch {
        const which = left?.id === null ? "a webhook that may have been created" : `webhook ${left?.id}`;
        deps.onNote(`Could not delete ${which}. The next cat webhooks listen deletes it.`);
      } finally {
        cancel();
        hold.release();
      }
    },
  };
}
