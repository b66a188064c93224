import { join } from "node:path";
import { type Client, createClient } from "../../client/client.ts";
import type { ClientOptions } from "../../client/options.ts";
import { type Clock, MovableClock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import type { ExchangeLog } from "../../http/exchange-log.ts";
import type { HttpCoreOptions } from "../../http/http-core.ts";
import type { OnWait, WaitReason } from "../../http/retry.ts";
import { countsOf } from "../../http/shared-count.ts";
import type { Mock } from "../../mock/index.ts";
import type { Context } from "../context/context.ts";
import type { GlobalOptions } from "../context/globals.ts";
import { version } from "../context/version.ts";
import type { Io } from "../output/io.ts";
import { showRequest } from "../output/io.ts";
import { findHomeFolder } from "../settings/home-folder.ts";
import { type Connection, insecureHosts, insecureNote } from "../settings/settings.ts";

interface ClientApp {
  readonly context: Context;
  readonly globals: Pick<GlobalOptions, "verbose">;
  readonly io: Io;
  lastFailure: LastFailure | null;
}

/** The client of a command: notes long waits, keeps the latest failure, prints requests (`--verbose`). */
export function openClient(
  app: ClientApp,
  connection: Connection,
  counts?: HttpCoreOptions["counts"],
): Client {
  const { io, globals } = app;
  const { clock, random, env } = app.context;
  app.lastFailure ??= new LastFailure();
  const { lastFailure } = app;
  const insecure = insecureNote(connection.baseUrl, env);
  if (insecure !== null) void io.note(insecure);
  const options: ClientOptions = {
    ...connection,
    insecureHttpHosts: [...insecureHosts(env)],
    clock,
    random,
    env,
    userAgent: `catalogue/${version}`,
    onWait: waitNotes(clock, (text) => io.note(text)),
    onExchange(exchange) {
      lastFailure.record(exchange);
      if (globals.verbose) void showRequest(io, exchange);
    },
  };
  return createClient(options, counts);
}

/** The requests of all processes of the key; none with `--mock`, or without a home folder. */
export function sharedCounts(
  { globals, context }: { globals: Pick<GlobalOptions, "mock">; context: Context },
  { baseUrl, apiKey }: Connection,
) {
  if (globals.mock) return undefined;
  try {
    return countsOf(join(findHomeFolder(context.env, context.host), "state", "rate"), baseUrl, apiKey);
  } catch {
    return undefined;
  }
}

/** A shorter wait is over before the user has read the note. */
const shortestMs = 2_000;

/** The time after a pause in an outage in which the attempts that follow get no separate notes. */
const quietMs = 60_000;

/** Short waits for the rate limit that follow each other get a note after this time. */
const patienceMs = 5_000;

const notes: Readonly<
  Record<Exclude<WaitReason, "job" | "outage" | "response" | "slow_line">, (wait: string) => string>
> = {
  rate_window: (wait) => `Rate limit reached; continuing in ${wait}.`,
  rate_limited: (wait) => `The service asked to slow down; retrying in ${wait}.`,
  in_progress: (wait) => `The service is still working on an earlier attempt; retrying in ${wait}.`,
  server_error: (wait) => `The service failed; retrying in ${wait}.`,
  network: (wait) => `Cannot reach the service; retrying in ${wait}.`,
};

/** Notes for long waits: one per reason, and one per minute of an outage. */
export function waitNotes(clock: Clock, note: (text: string) => Promise<void>): OnWait {
  const quietUntil = new Map<WaitReason, number>();
  const limited = { since: 0, until: Number.NEGATIVE_INFINITY };
  /** Whether waits for the rate limit have followed each other for so long that they need a note. */
  const isLimitedLong = (now: number, ms: number): boolean => {
    if (now > limited.until + shortestMs) limited.since = now;
    limited.until = now + ms;
    return now - limited.since >= patienceMs;
  };
  const noteRetry = (reason: keyof typeof notes, ms: number, now: number) => {
    const isRate = reason === "rate_window" || reason === "rate_limited";
    const isLong = isRate && isLimitedLong(now, ms);
    if (ms >= shortestMs) return noteOnce(reason, now, ms, notes[reason](seconds(ms)));
    if (!isLong || now < (quietUntil.get(reason) ?? 0)) return;
    quietUntil.set("rate_window", now + quietMs).set("rate_limited", now + quietMs);
    void note("The service asked to slow down; still retrying.");
  };
  /** Notes a wait once, until the quiet time has passed. */
  const noteOnce = (reason: WaitReason, now: number, quiet: number, text: string) => {
    if (now < (quietUntil.get(reason) ?? 0)) return;
    quietUntil.set(reason, now + quiet);
    void note(text);
  };
  return ({ reason, ms, since = clock.now() }) => {
    const now = clock.now();
    // The progress of the job is shown anyway.
    if (reason === "job") return;
    if (reason === "outage") {
      for (const cause of ["network", "server_error", "response"] as const)
        quietUntil.set(cause, now + ms + quietMs);
      const silentMs = now - since;
      const silence = `No response from the service for ${duration(silentMs)}; still retrying.`;
      noteOnce(reason, now, quietMs, silentMs >= shortestMs ? silence : notes.server_error(seconds(ms)));
    } else if (reason === "response")
      noteOnce(reason, now, patienceMs, `Waiting for the service to respond (${duration(ms)} so far).`);
    else if (reason === "slow_line")
      noteOnce(reason, now, quietMs, "The connection is slow; transferring fewer files at once.");
    else noteRetry(reason, ms, now);
  };
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;

/** E.g. `90 s` or `4 min`. */
const duration = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.floor(ms / 60_000)} min`;

/** Reasons for a missing response, by code. Other errors reveal nothing about the service. */
const because: Readonly<Record<string, string>> = {
  unreachable: "cannot be reached",
  host_not_found: "cannot be found",
  proxy_unreachable: "cannot be reached, because its proxy cannot",
  connection_cut: "closes the connection",
  attempt_timeout: "does not respond",
};

/** The failure of the latest attempt: retries are silent, so a timeout would hide the cause. */
export class LastFailure {
  /** The number of requests by the status of the response; `none` without one. */
  readonly statuses = new Map<string, number>();
  #words: string | null = null;

  record({ origin, status, error }: ExchangeLog): void {
    const name = `${status ?? "none"}`;
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
    if (status !== null)
      this.#words = status >= 500 || status === 429 ? `${origin} responds with ${status}` : null;
    else if (error !== null && because[error] !== undefined) this.#words = `${origin} ${because[error]}`;
  }

  /** Adds the failure to the error of a wait that timed out (`--timeout`); others stay the same. */
  addTo(error: unknown): unknown {
    if (this.#words === null || !(error instanceof CatError) || error.code !== "wait_timeout") return error;
    const { type, code, hint } = error;
    return new CatError(`${error.message}: ${this.#words}`, { type, code, hint, cause: error });
  }
}

/**
 * Starts the mock service of `--mock`: in this process, for this command only, with 24 demo products and no
 * rate limit. The seed is fixed, so that the next command finds the IDs that this one prints; the speed keeps
 * a demo short.
 */
export async function startPrivateMock(clock: Clock): Promise<Mock> {
  const { startMock } = await import("../../mock/index.ts");
  return startMock({
    demo: 24,
    seed: 1,
    speed: 20,
    rateLimit: false,
    // One clock for both, so that time also passes in the mock while the CLI waits.
    ...(clock instanceof MovableClock ? { clock } : {}),
  });
}
