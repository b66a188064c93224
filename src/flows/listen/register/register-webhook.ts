import { webhookRetryTotalMs } from "../../../contract/limits.ts";
import type { EventType } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import { isRefusal, orNull } from "../../service-errors.ts";
import {
  descriptionOf,
  findLeftover,
  findWebhook,
  type Leftover,
  markName,
  markText,
  noAccount,
} from "./leftovers.ts";
import type { RegisterDeps } from "./register-deps.ts";

export interface Registered {
  readonly id: string;
  readonly secret: string;
  /** The secret before a takeover, which deliveries in flight were signed with; null if there is none. */
  readonly earlierSecret: string | null;
}

/** The webhook of one listener, from before its creation to its deletion. */
export interface Registration {
  /** Takes over the webhook that an earlier listener left at the URL, or creates one. Throws the error of the service. */
  register(url: string, events: readonly EventType[]): Promise<Registered>;
  /**
   * Deletes it within 10 s, and returns whether it did. Notes a failure: the next listener takes it over then. One that
   * was taken over is kept, with a warning, while events from before the takeover may be pending.
   */
  end(): Promise<boolean>;
}

const longestEndMs = 10_000;

/** A next step for events that do not come: a first poll would not bring them. */
export const seeEnded = "To see what has ended: cat tasks list, cat imports list, cat exports list.";

/**
 * Prepares a webhook. A mark is written before it is created, so that no kill leaves a webhook that the next listener
 * cannot find.
 */
export function openRegistration(deps: RegisterDeps): Registration {
  const { client, state, baseUrl, keyFingerprint, clock, pid, runId, signal } = deps;
  let name = markName(runId);
  // Other listeners see by the hold that this one is alive.
  const own = state.runs.hold(noAccount, name, { pid, since: clock.now() });
  if ("heldBy" in own) throw new Error("a run ID was used twice");
  let hold = own;
  /** What this listener deletes at its end: only its mark, or a webhook, whose ID may be unknown. */
  let left: "nothing" | "mark" | { readonly id: string | null } = "mark";
  /** Set by a takeover: until when events from before it may be pending, in milliseconds since the epoch. */
  let taken: {
    readonly id: string;
    readonly url: string;
    readonly secret: string;
    readonly until: number;
  } | null = null;
  const mark = (url: string, webhook: { id: string | null; secret?: string }) =>
    state.marks.set(baseUrl, name, markText({ ...webhook, keyFingerprint, url }));

  async function create(url: string, events: readonly EventType[]): Promise<Registered> {
    left = { id: null };
    const body = { url, events: [...events], description: descriptionOf(runId) };
    try {
      const { id, signing_secret: secret } = await client.webhooks.create({ body }, { signal });
      mark(url, { id, secret });
      left = { id };
      return { id, secret, earlierSecret: null };
    } catch (error) {
      if (isRefusal(error)) left = "mark";
      throw error;
    }
  }

  async function takeOver(
    url: string,
    leftover: Leftover,
    events: readonly EventType[],
  ): Promise<Registered> {
    const { id } = leftover.webhook;
    state.marks.remove(baseUrl, name);
    hold.release();
    ({ name, hold } = leftover);
    // The webhook has pending events: without a new secret it stays for the next listener.
    left = "nothing";
    const secret = await newSecret(deps, id, events);
    mark(url, { id, secret });
    left = { id };
    // The service has delivered to it while nobody was listening.
    taken = { id, url, secret, until: clock.now() + webhookRetryTotalMs };
    deps.onNote(
      `Took over webhook ${id}, which an earlier listener had left. The service sends its pending events again within about six hours.`,
    );
    return { id, secret, earlierSecret: leftover.secret };
  }

  return {
    async register(url, events) {
      mark(url, { id: null });
      const leftover = await findLeftover(deps, runId, url);
      return leftover === null ? create(url, events) : takeOver(url, leftover, events);
    },
    async end() {
      const patience = new AbortController();
      const cancel = clock.at(clock.now() + longestEndMs, () => patience.abort(new Error("timed out")));
      try {
        if (taken !== null && clock.now() < taken.until) {
          const { id, url, secret } = taken;
          mark(url, { id, secret });
          deps.onProblem(...kept(id, url));
          return false;
        }
        if (typeof left === "object") await deleteWebhook(client, { id: left.id, runId }, patience.signal);
        if (left !== "nothing") state.marks.remove(baseUrl, name);
        return typeof left === "object";
      } catch {
        const id = typeof left === "object" ? left.id : null;
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

const kept = (id: string, url: string): [message: string, hint: string] => [
  `webhook ${id} was kept: events from before its takeover may be pending`,
  `The next cat webhooks listen at ${url} takes it over. To abandon its events: cat webhooks delete ${id}`,
];

/**
 * Makes the service deliver to a webhook again, signed with a new secret: the stored one may have been replaced since,
 * also by a listener that was killed before it stored it.
 */
async function newSecret(
  { client, signal }: RegisterDeps,
  id: string,
  events: readonly EventType[],
): Promise<string> {
  const body = { events: [...events], status: "active" as const, rotate_secret: true };
  try {
    const { signing_secret: secret } = await client.webhooks.update({ webhook_id: id, body }, { signal });
    if (secret !== undefined) return secret;
    throw new CatError("the response has no secret", { type: "bad_answer", code: "wrong_shape" });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CatError)) throw error;
    const { type, code, status, requestId } = error;
    throw new CatError(`cannot take over webhook ${id} of an earlier listener: ${error.message}`, {
      ...{ type, code, status, requestId, cause: error },
      hint:
        `It keeps its pending events; the service does not report their number. ${seeEnded} ` +
        `To abandon its events: cat webhooks delete ${id}`,
    });
  }
}

async function deleteWebhook(
  client: RegisterDeps["client"],
  { id, runId }: { id: string | null; runId: string },
  signal: AbortSignal,
): Promise<void> {
  const found = id ?? (await findWebhook(client, { id, runId }, signal))?.id;
  if (found !== undefined) await orNull(client.webhooks.delete({ webhook_id: found }, { signal }));
}
