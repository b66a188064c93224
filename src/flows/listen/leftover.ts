import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import { operations } from "../../contract/client-operations.ts";
import type { Webhook } from "../../contract/resources/webhooks.ts";
import type { EventType } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import type { RunHold } from "../../state/runs.ts";
import type { State } from "../../state/state.ts";
import { mayNotRead, orNull } from "../service-errors.ts";

/** The listener for which a webhook is registered, and its service. */
export interface RegistrationHost {
  readonly client: Client;
  readonly state: State;
  readonly baseUrl: string;
  /** Whether the webhook stays at the end, with its secret, for the next listener at its URL. */
  readonly keeps: boolean;
  /** The events of which one must come; null if all events are wanted. */
  readonly awaited: readonly EventType[] | null;
  readonly keyFingerprint: string;
  readonly clock: Clock;
  readonly pid: number;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly onNote: (sentence: string) => void;
  /** Receives a warning about the webhook of a listener: a phrase in lower case, and the next step. */
  readonly onProblem: (message: string, hint?: string) => void;
}

export const prefix = "listen ";
/** Holds of listeners belong to no account. */
export const noAccount = 0;

/** The name of the mark, and of the hold, of a listener. */
export const markName = (runId: string): string => `${prefix}${runId}`;

/** The description of the webhook of a listener, by which it is found if its ID is unknown. */
export const toDescription = (runId: string): string => `cat webhooks listen ${runId}`;

export interface Mark {
  /** The ID of the webhook; null while no response has named it. */
  readonly id: string | null;
  readonly keyFingerprint: string;
  /** Where it listens; missing in a state of an earlier version. */
  readonly url?: string;
  /** The secret of the webhook; missing while no response has named it. */
  readonly secret?: string;
}

export interface FoundWebhook {
  readonly webhook: Webhook;
  /** Null if it is unknown. */
  readonly secret: string | null;
}

/** A webhook that an earlier listener has left, held for this process. */
export interface LeftWebhook extends FoundWebhook {
  readonly name: string;
  readonly hold: RunHold;
}

/**
 * The webhook of an earlier listener with this URL, which the service still delivers to; null if there is
 * none. Those with other URLs are reported and kept, because deleting one abandons its pending events. Throws
 * a CatError if a listener that lives has the URL.
 */
export async function findLeftover(host: RegistrationHost, url: string): Promise<LeftWebhook | null> {
  const { client, state, baseUrl, keyFingerprint, clock, pid, runId, signal, onProblem } = host;
  let leftover: LeftWebhook | null = null;
  for (const { name, value } of state.marks.list(baseUrl, prefix)) {
    if (name === markName(runId)) continue;
    const mark = parseJson(value) as Mark;
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
      } else if (webhook.url === url && leftover === null) {
        leftover = { name, hold, webhook, secret: mark.secret ?? null };
      } else onProblem(...leftElsewhere(webhook));
    } catch (error) {
      if (!mayNotRead(error)) {
        leftover?.hold.release();
        throw error;
      }
      onProblem(`cannot check the webhook of an earlier listener: ${(error as CatError).message}`);
    } finally {
      if (leftover?.hold !== hold) hold.release();
    }
  }
  return leftover;
}

/** The webhook of a listener, by its ID, else by its description; null if neither finds it. */
export async function findWebhook(
  client: RegistrationHost["client"],
  { id, runId }: { id: string | null; runId: string },
  signal: AbortSignal,
): Promise<Webhook | null> {
  const known = id === null ? null : await orNull(client.webhooks.get({ webhook_id: id }, { signal }));
  if (known !== null) return known;
  // A webhook that only seems to be missing would get no listener again, and its events would be lost.
  for await (const webhook of client.paginate(operations.webhooks.list, {}, { signal })) {
    if (webhook.id === id || webhook.description === toDescription(runId)) return webhook;
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

/** A next step for events that do not come: a first poll would not bring them. */
export const seeEnded = "To see what has ended: cat tasks list, cat imports list, cat exports list.";

/** Makes the service deliver to a webhook again, with its secret, or with a new one if it is unknown. */
export async function resume(
  { client, signal }: RegistrationHost,
  { webhook: { id }, secret: known }: FoundWebhook,
  events: readonly EventType[],
): Promise<string> {
  const body = { events: [...events], status: "active" as const };
  try {
    if (known !== null) {
      await client.webhooks.update({ webhook_id: id, body }, { signal });
      return known;
    }
    const renewed = { ...body, rotate_secret: true };
    const { signing_secret: secret } = await client.webhooks.update(
      { webhook_id: id, body: renewed },
      { signal },
    );
    if (secret !== undefined) return secret;
    throw new CatError("the response has no secret", { type: "bad_response", code: "wrong_shape" });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CatError)) throw error;
    const { type, code, status, requestId } = error;
    throw new CatError(`cannot take over webhook ${id} of an earlier listener: ${error.message}`, {
      type,
      code,
      status,
      requestId,
      cause: error,
      hint:
        `It keeps its pending events; the service does not report their number. ${seeEnded} ` +
        `To abandon its events: cat webhooks delete ${id}`,
    });
  }
}
