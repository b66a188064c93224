import { isLoopbackHost } from "../../contract/url-policy.ts";
import { openConnections } from "../../http/connections.ts";
import { type PostOutcome, poster } from "../../http/post.ts";
import type { Context } from "../context/context.ts";
import { version } from "../context/version.ts";

export type NoticeStep = "start" | "success" | "fail";

/** A receiver of notices, and whether it is a check-in service with addresses for start and fail. */
export interface NoticeReceiver {
  readonly url: URL;
  readonly hasSteps: boolean;
  /** Connects the start of a run with its end. */
  readonly id: string;
}

/** A notice holds the end of a command for no longer than this, with all attempts. */
export const noticeMs = 10_000;

/** The pauses before the second and the third attempt, in milliseconds. */
const pausesMs = [1_000, 3_000];

/** A URL whose typed form ends in a slash is that of a check-in service. */
export const toReceiver = (typed: string, url: URL): NoticeReceiver => ({
  url,
  hasSteps: /^[^?#]*\/(?:[?#]|$)/.test(typed.trim()),
  id: crypto.randomUUID(),
});

/** The address of a step: `URL/start`, `URL` for a success, `URL/fail`, each with the ID of the run. */
export function addressOf({ url, hasSteps, id }: NoticeReceiver, step: NoticeStep): URL {
  const to = new URL(url);
  [to.hash, to.username, to.password] = ["", "", ""];
  if (!hasSteps) return to;
  const path = to.pathname.slice(0, -1);
  to.pathname = step === "success" ? path : `${path}/${step}`;
  to.search += `${to.search === "" ? "" : "&"}rid=${id}`;
  return to;
}

/** Sends a notice until `until`, in up to three attempts. Returns why none arrived, or null; never throws. */
export async function sendNotice(
  { env, clock }: Pick<Context, "env" | "clock">,
  { receiver, step, body }: { receiver: NoticeReceiver; step: NoticeStep; body: string },
  { until, signal }: { until: number; signal: AbortSignal | undefined },
): Promise<string | null> {
  try {
    const connections = openConnections({ env, isDirect: ({ hostname }) => isLoopbackHost(hostname) });
    const post = poster({ connections, clock });
    const request = {
      url: addressOf(receiver, step),
      headers: [
        ["content-type", "application/json"],
        ["user-agent", `catalogue/${version}`],
        ...authorization(receiver.url),
      ] as const,
      body: Buffer.from(body),
      ...(signal && { signal }),
    };
    try {
      for (let attempt = 0; ; attempt++) {
        const outcome = await post({ ...request, timeoutMs: Math.max(0, until - clock.now()) });
        if (outcome.status !== null && outcome.status >= 200 && outcome.status < 300) return null;
        const pause = pausesMs[attempt];
        const isLast = pause === undefined || clock.now() + pause >= until || !mayPass(outcome);
        if (isLast) return describeFailure(outcome, attempt + 1);
        await clock.sleep(pause, signal);
      }
    } finally {
      await connections.close();
    }
  } catch (error) {
    return ((signal?.aborted ? signal.reason : error) as Error).message;
  }
}

/** Whether another attempt may succeed. */
const mayPass = ({ status }: PostOutcome): boolean =>
  status === null || status === 408 || status === 429 || status >= 500;

function describeFailure(outcome: PostOutcome, attempts: number): string {
  const { status } = outcome;
  if (status === null) {
    const why = outcome.failure === "timeout" ? `no response within ${noticeMs / 1000} s` : outcome.why;
    return attempts === 1 ? why : `${why} (${attempts} attempts)`;
  }
  if (status >= 300 && status < 400) return `it responds with ${status}; redirects are not followed`;
  return `it responds with ${status}${attempts === 1 ? "" : ` (${attempts} attempts)`}`;
}

/** The user name and password of a URL, as a header. */
function authorization({ username, password }: URL): (readonly [string, string])[] {
  if (username === "" && password === "") return [];
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return [["authorization", `Basic ${Buffer.from(pair).toString("base64")}`]];
}
