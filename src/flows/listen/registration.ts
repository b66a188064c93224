import type { Client } from "../../client/client.ts";
import type { Clock } from "../../clock.ts";
import { operations } from "../../contract/client-operations.ts";
import { webhookRetryTotalMs } from "../../contract/limits.ts";
import type { Webhook } from "../../contract/resources/webhooks.ts";
import type { EventType } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import type { RunHold } from "../../state/runs.ts";
import type { State } from "../../state/state.ts";
import { carriedOut, isRejectedByService, mayNotRead, orNull } from "../service-errors.ts";

/** The listener for which a webhook is registered, and its service. */
interface Registrar {
  readonly client: Pick<Client, "webhooks" | "paginate">;
  readonly state: Pick<State, "marks" | "runs">;
  readonly baseUrl: string;
  /** Whether the webhook stays at the end, with its secret, for the next listener at its URL. */
  readonly keeps: boolean;
  /** The events of which one must come; null if all events are wanted. */
  readonly awaited: readonly EventType[] | null;
  /** A digest of the API key. */
  readonly keyFingerprint: string;
  readonly clock: Clock;
  readonly pid: number;
  /** Names this run of the listener. */
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Receives a sentence for people. */
  readonly onNote: (sentence: string) => void;
  /** Receives a warning about the webhook of a listener: a phrase in lower case, and the next step. */
  readonly onProblem: (message: string, hint?: string) => void;
}

const prefix = "listen ";
/** Holds of listeners belong to no account. */
const noAccount = 0;

/** The name of the mark, and of the hold, of a listener. */
const markName = (runId: string): string => `${prefix}${runId}`;

/** The description of the webhook of a listener, by which it is found if its ID is unknown. */
const toDescription = (runId: string): string => `cat webhooks listen ${runId}`;

interface Mark {
  /** The ID of the webhook; null while no response has named it. */
  readonly id: string | null;
  readonly keyFingerprint: string;
  /** Where it listens; missing in a state of an earlier version. */
  readonly url?: string;
  /** The secret of the webhook; missing while no response has named it. */
  readonly secret?: string;
}

/** A webhook that an earlier listener has left, held for this process. */
interface Leftover {
  readonly name: string;
  readonly hold: RunHold;
  readonly webhook: Webhook;
  /** Null if it is unknown. */
  readonly secret: string | null;
}

/**
 * The webhook of an earlier listener with this URL, which the service still delivers to; null if there is
 * none. Those with other URLs are reported and kept, because deleting one abandons its pending events. Throws
 * a CatError if a listener that lives has the URL.
 */
async function findLeftover(deps: Registrar, runId: string, url: string): Promise<Leftover | null> {
  const { client, state, baseUrl, keyFingerprint, clock, pid, signal, onProblem } = deps;
  let leftover: Leftover | null = null;
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
async function findWebhook(
  client: Registrar["client"],
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

/** A webhook with its secret. */
export interface RegisteredWebhook {
  readonly id: string;
  readonly secret: string;
}

/** The webhook of one listener, from before its creation to its deletion. */
interface Registration {
  /** Takes over the webhook that an earlier listener left at the URL, or creates one. Throws the error of the service. */
  register(url: string, events: readonly EventType[]): Promise<RegisteredWebhook>;
  /** Reads it; null if it gets events. Throws the error of the service. */
  check(signal: AbortSignal): Promise<WebhookFault | null>;
  /** Creates another one instead of one that is gone. Throws the error of the service. */
  registerAgain(url: string, events: readonly EventType[]): Promise<RegisteredWebhook>;
  /**
   * Deletes it within 10 s, and returns whether it did. Notes a failure: the next listener takes it over
   * then. One that was taken over is kept, with a warning, while events from before the takeover may be
   * pending.
   */
  end(): Promise<boolean>;
}

/** A state in which a webhook gets no events, or not those of its listener. */
export type WebhookFault = "gone" | "paused" | "disabled" | "narrowed";

const longestEndMs = 10_000;

/** A next step for events that do not come: a first poll would not bring them. */
export const seeEnded = "To see what has ended: cat tasks list, cat imports list, cat exports list.";

/**
 * Prepares a webhook. A mark is written before it is created, so that no kill leaves a webhook that the next
 * listener cannot find.
 */
export function openRegistration(deps: Registrar): Registration {
  const { client, state, baseUrl, keyFingerprint, clock, pid, runId, signal } = deps;
  let name = markName(runId);
  // Other listeners see by the hold that this one is alive.
  const own = state.runs.hold(noAccount, name, { pid, since: clock.now() });
  if ("heldBy" in own) throw new Error("a run ID was used twice");
  let hold = own;
  /** What this listener deletes at its end: only its mark, or a webhook, whose ID may be unknown. */
  let remains: "nothing" | "mark" | { readonly id: string | null } = "mark";
  let wanted: readonly EventType[] = [];
  /** Set by a takeover: until when events from before it may be pending, in milliseconds since the epoch. */
  let taken: { id: string; url: string; until: number } | null = null;
  /** The run in its mark: after a takeover, that of the earlier listener. */
  const markedRun = () => name.slice(prefix.length);
  const mark = (url: string, webhook: { id: string | null; secret?: string }) =>
    state.marks.set(baseUrl, name, JSON.stringify({ ...webhook, keyFingerprint, url } satisfies Mark));

  async function create(url: string, events: readonly EventType[]): Promise<RegisteredWebhook> {
    remains = { id: null };
    const body = { url, events: [...events], description: toDescription(markedRun()) };
    try {
      const { reply, odd } = await carriedOut(client.webhooks.create({ body }, { signal }));
      const { id, signing_secret: secret } = reply;
      mark(url, { id, ...(typeof secret === "string" && { secret }) });
      remains = { id };
      if (odd !== undefined) throw odd;
      return { id, secret };
    } catch (error) {
      if (isRejectedByService(error)) remains = "mark";
      throw error;
    }
  }

  async function takeOver(
    url: string,
    leftover: Leftover,
    events: readonly EventType[],
  ): Promise<RegisteredWebhook> {
    const { id } = leftover.webhook;
    state.marks.remove(baseUrl, name);
    hold.release();
    ({ name, hold } = leftover);
    // The webhook has pending events: without its secret it stays for the next listener.
    remains = "nothing";
    // A kill before the response that has a new secret must not leave the old one.
    if (leftover.secret === null) mark(url, { id });
    const secret = await resume(deps, leftover, events);
    mark(url, { id, secret });
    remains = { id };
    // The service has gone on delivering to it while no listener ran.
    taken = { id, url, until: clock.now() + webhookRetryTotalMs };
    deps.onNote(
      `Took over webhook ${id}, which an earlier listener had left. The service sends its pending events again within about six hours.`,
    );
    return { id, secret };
  }

  return {
    async register(url, events) {
      wanted = events;
      mark(url, { id: null });
      const leftover = await findLeftover(deps, runId, url);
      return leftover === null ? create(url, events) : takeOver(url, leftover, events);
    },
    async check(patience) {
      const id = typeof remains === "object" ? remains.id : null;
      if (id === null) return "gone";
      const webhook = await findWebhook(client, { id, runId: markedRun() }, patience);
      if (webhook?.id !== id) return "gone";
      // An unknown status is one of a later version of the service.
      const { status } = webhook;
      if (status === "paused" || status === "disabled") return status as WebhookFault;
      return isNarrowed(webhook, wanted, deps.awaited) ? "narrowed" : null;
    },
    async registerAgain(url, events) {
      taken = null;
      // An attempt without a response may have created one.
      const unnamed = await findWebhook(client, { id: null, runId: markedRun() }, signal);
      mark(url, { id: unnamed?.id ?? null });
      if (unnamed === null) return create(url, events);
      const { id } = unnamed;
      remains = { id: null };
      const secret = await resume(deps, { webhook: unnamed, secret: null }, events);
      mark(url, { id, secret });
      remains = { id };
      return { id, secret };
    },
    async end() {
      const patience = new AbortController();
      const cancel = clock.at(clock.now() + longestEndMs, () => patience.abort(new Error("timed out")));
      try {
        if (deps.keeps && typeof remains === "object" && remains.id !== null) {
          deps.onNote(`Webhook ${remains.id} stays, with its secret, for the next listener at its URL.`);
          return false;
        }
        if (taken !== null && clock.now() < taken.until) {
          deps.onProblem(...kept(taken.id, taken.url));
          return false;
        }
        if (typeof remains === "object") {
          const webhookId =
            remains.id ?? (await findWebhook(client, { id: null, runId: markedRun() }, patience.signal))?.id;
          if (webhookId !== undefined)
            await orNull(client.webhooks.delete({ webhook_id: webhookId }, { signal: patience.signal }));
        }
        if (remains !== "nothing") state.marks.remove(baseUrl, name);
        return typeof remains === "object";
      } catch {
        const id = typeof remains === "object" ? remains.id : null;
        const which = id === null ? "a webhook that may have been created" : `webhook ${id}`;
        deps.onNote(`Could not delete ${which}. The next cat webhooks listen at its URL takes it over.`);
        return false;
      } finally {
        cancel();
        hold.release();
      }
    },
  };
}

/** Whether a webhook lacks events of its listener: all that it waits for, else any. */
function isNarrowed(
  { events }: Webhook,
  wanted: readonly EventType[],
  awaited: Registrar["awaited"],
): boolean {
  const lacks = (event: EventType) => !events.includes(event);
  return awaited === null ? wanted.some(lacks) : awaited.every(lacks);
}

const kept = (id: string, url: string): [message: string, hint: string] => [
  `webhook ${id} was kept: events from before its takeover may be pending`,
  `The next cat webhooks listen at ${url} takes it over. To abandon its events: cat webhooks delete ${id}`,
];

/** Makes the service deliver to a webhook again, with its secret, or with a new one if it is unknown. */
async function resume(
  { client, signal }: Registrar,
  { webhook: { id }, secret: known }: Pick<Leftover, "webhook" | "secret">,
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
