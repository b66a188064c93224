import { operations } from "../../../contract/operations.ts";
import type { Webhook } from "../../../contract/resources/webhook.ts";
import { CatError } from "../../../errors.ts";
import type { RunHold } from "../../../state/runs.ts";
import { mayNotRead, orNull } from "../../service-errors.ts";
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
  /** Where it listens; missing in a state of an earlier version. */
  readonly url?: string;
  /** The secret of the webhook, as far as it is known. */
  readonly secret?: string;
}

export const markText = (mark: Mark): string => JSON.stringify(mark);

/** A webhook that an earlier listener has left, held for this process. */
export interface Leftover {
  readonly name: string;
  readonly hold: RunHold;
  readonly webhook: Webhook;
  /** Null if it is unknown. */
  readonly secret: string | null;
}

/**
 * The webhook of an earlier listener with this URL, which the service still delivers to; null if there is none. Those with
 * other URLs are reported and kept, because deleting one abandons its pending events. Throws a CatError if a listener
 * that lives has the URL.
 */
export async function findLeftover(deps: RegisterDeps, runId: string, url: string): Promise<Leftover | null> {
  const { client, state, baseUrl, keyFingerprint, clock, pid, signal, onProblem } = deps;
  let found: Leftover | null = null;
  for (const { name, value } of state.marks.list(baseUrl, prefix)) {
    if (name === markName(runId)) continue;
    const mark = JSON.parse(value) as Mark;
    // Without a hold the listener has ended.
    const hold = state.runs.hold(noAccount, name, { pid, since: clock.now() });
    if ("heldBy" in hold) {
      if (mark.url === url) throw urlInUse(url, hold.heldBy.pid);
      continue;
    }
    try {
      const webhook = await findWebhook(client, { id: mark.id, runId: name.slice(prefix.length) }, signal);
      if (webhook === null) {
        // With the key of another organization the webhook only seems to be missing.
        if (mark.keyFingerprint === keyFingerprint) state.marks.remove(baseUrl, name);
      } else if (webhook.url === url && found === null) {
        found = { name, hold, webhook, secret: mark.secret ?? null };
      } else onProblem(...leftElsewhere(webhook));
    } catch (error) {
      if (!mayNotRead(error)) {
        found?.hold.release();
        throw error;
      }
      onProblem(`cannot check the webhook of an earlier listener: ${(error as CatError).message}`);
    } finally {
      if (found?.hold !== hold) hold.release();
    }
  }
  return found;
}

/** The webhook of a listener, by its description if its ID is unknown; null if the service has none. */
export async function findWebhook(
  client: RegisterDeps["client"],
  { id, runId }: { id: string | null; runId: string },
  signal: AbortSignal,
): Promise<Webhook | null> {
  if (id !== null) return orNull(client.webhooks.get({ webhook_id: id }, { signal }));
  for await (const webhook of client.paginate(operations.webhooks.list, {}, { signal })) {
    if (webhook.description === descriptionOf(runId)) return webhook;
  }
  return null;
}

const leftElsewhere = ({ id, url }: Webhook): [message: string, hint: string] => [
  `webhook ${id} of an earlier listener still gets events, at ${url}`,
  `To get them, listen at that URL again. To abandon them: cat webhooks delete ${id}`,
];

const urlInUse = (url: string, pid: number): CatError =>
  new CatError(`process ${pid} is listening at ${url}`, {
    type: "conflict",
    code: "url_in_use",
    hint: "Stop it, or use another URL.",
  });
