import { isLoopbackHost } from "../../../contract/url-policy.ts";
import { CatError } from "../../../errors.ts";
import { firstLine, longestLine } from "../../../flows/listen/forward.ts";
import { type DeliveryTarget, sendDelivery } from "../../../flows/listen/trigger.ts";
import { grouped } from "../../../flows/words.ts";
import type { Post, PostFailure, PostOutcome } from "../../../http/post.ts";
import type { App } from "../../app/app.ts";
import { ExitCode, KeyError, PartialError } from "../../context/errors.ts";
import { version } from "../../context/version.ts";
import { warn } from "../../output/io.ts";
import type { Printing } from "../../output/table.ts";
import { namedForm } from "../../resources/forms.ts";
import { signatureHeaderInUse } from "../../settings/settings.ts";

/** Opens connections to handlers, and returns what sends one request. Closed when the command ends. */
export async function openPoster(app: App): Promise<(post: Post) => Promise<PostOutcome>> {
  const { env, clock } = app.context;
  const { openConnections } = await import("../../../http/connections.ts");
  const { poster } = await import("../../../http/post.ts");
  const connections = openConnections({ env, isDirect: ({ hostname }) => isLoopbackHost(hostname) });
  app.onClose(() => connections.close());
  return poster({ connections, clock });
}

/** Opens the way to a handler, with the secret that signs its deliveries. Closed when the command ends. */
export async function openTarget(app: App, url: URL): Promise<DeliveryTarget> {
  const { clock, interrupt } = app.context;
  return {
    url,
    secret: await webhookSecret(app),
    headerName: await signatureHeaderInUse(app.globals, app.context),
    send: await openPoster(app),
    now: () => clock.now(),
    userAgent: `catalogue/${version}`,
    signal: interrupt,
  };
}

/** The secret of CAT_WEBHOOK_SECRET; warns if it cannot be complete. Throws KeyError (exit 4) if not set. */
export async function webhookSecret(app: App): Promise<string> {
  const secret = app.context.env.CAT_WEBHOOK_SECRET?.trim() ?? "";
  if (secret === "")
    throw missingSecret(
      "Set CAT_WEBHOOK_SECRET to the signing_secret of the webhook (it starts with whsec_).",
    );
  for (const warning of secretWarnings(secret)) await warn(app, warning);
  return secret;
}

export const missingSecret = (hint: string): KeyError =>
  new KeyError("no webhook secret", { code: "missing_webhook_secret", hint });

/** The problems of a secret at first sight, in sentences: those of the service start with `whsec_`. */
export const secretWarnings = (secret: string): string[] =>
  secret.startsWith("whsec_")
    ? []
    : ["CAT_WEBHOOK_SECRET does not start with whsec_: use the complete signing_secret of the webhook"];

/** One event that was sent to a handler, and its response. */
export interface Delivered {
  readonly id: string;
  readonly type: string;
  readonly url: string;
  readonly status: number | null;
  /** The first line of the response, or why there is none. */
  readonly response: string;
  readonly ms: number;
  /** Why there is no response, and the next step where one is known. */
  readonly failure?: PostFailure;
  readonly hint?: string | undefined;
}

export const deliveredForm = namedForm<Delivered>(
  [
    { name: "id", value: ({ id }) => id },
    { name: "type", value: ({ type }) => type },
    { name: "url", value: ({ url }) => url, only: "csv" },
    { name: "status", value: ({ status }) => status ?? "none" },
    { name: "response", value: ({ response }) => response },
    { name: "ms", value: ({ ms }) => ms, only: "csv" },
  ],
  ["id", "type", "url", "status", "response", "ms"],
);

/** Sends events one by one, prints responses. Exits with 7 if the handler is unreachable, 8 if it rejects. */
export async function deliverAll(
  app: App,
  target: DeliveryTarget,
  events: Iterable<{ readonly id: string; readonly type: string; readonly body: string }>,
  printing: Printing<Delivered>,
): Promise<void> {
  const all: Delivered[] = [];
  async function* deliveries() {
    for (const { id, type, body } of events) {
      const delivered = toDelivered({ id, type, url: target.url.href }, await sendDelivery(target, body));
      all.push(delivered);
      yield delivered;
    }
  }
  await app.io.show(printing, deliveries());
  const failed = all.filter(({ status }) => status === null || status < 200 || status >= 300).length;
  if (failed === 0) return;
  if (all.every(({ failure }) => failure === "unreachable")) return reportUnreachable(app, all[0]?.hint);
  const which = `${grouped(failed)} of ${grouped(all.length)} deliveries`;
  if (all.every(({ status }) => status === null))
    return reportHandler(
      app,
      `handler did not respond to ${which}`,
      "It has 10 s: respond first, and work afterwards.",
    );
  await reportHandler(app, `handler did not accept ${which}`, "Check its output, and run the command again.");
}

const toDelivered = (event: Pick<Delivered, "id" | "type" | "url">, outcome: PostOutcome): Delivered => {
  const { status, ms } = outcome;
  if (status === null)
    return { ...event, status, response: outcome.why, ms, failure: outcome.failure, hint: outcome.hint };
  return { ...event, status, response: firstLine(outcome.text).slice(0, longestLine), ms };
};

/** Exits with 8, because of the handler. */
export async function reportHandler(app: App, what: string, hint: string): Promise<void> {
  await app.io.note(`The ${what}. ${hint}`);
  throw new PartialError(`the ${what}`, { hint });
}

/** Exits with 7. Throws a CatError for programs, which read the reason on stderr. */
export async function reportUnreachable(app: App, hint = "Check that it runs, and its URL."): Promise<void> {
  if (app.io.json)
    throw new CatError("cannot reach the handler", { type: "network", code: "unreachable", hint });
  app.exit = ExitCode.unavailable;
  await app.io.note(`The handler cannot be reached. ${hint}`);
}
