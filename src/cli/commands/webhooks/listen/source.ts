import { randomBytes } from "node:crypto";
import { isLoopbackHost } from "../../../../contract/url-policy.ts";
import type { EventSource, ListenService } from "../../../../flows/listen/listen.ts";
import type { App } from "../../../app/app.ts";
import { defaultConcurrency } from "../../../app/default-concurrency.ts";
import { memoryOfProfile } from "../../../app/memory.ts";
import { KeyError } from "../../../context/errors.ts";
import { baseUrlInUse } from "../../../settings/settings.ts";
import { secretWarnings } from "../secret.ts";

/**
 * Where events come from: polling, a webhook that the listener creates (with a service on this machine, or with a
 * public URL), or the webhook of CAT_WEBHOOK_SECRET. The warnings are about its secret. Throws a KeyError (exit 4) without
 * any of them.
 */
export async function eventSource(
  app: App,
  { poll, publicUrl }: { poll: boolean; publicUrl: string | undefined },
): Promise<{ source: EventSource; warnings: string[] }> {
  const { env } = app.context;
  const given = env.CAT_WEBHOOK_SECRET?.trim() ?? "";
  if (poll) {
    // Handlers check signatures, so each run has a secret, if only for itself.
    const secret = given === "" ? `whsec_${randomBytes(32).toString("hex")}` : given;
    return {
      source: { kind: "poll", secret, service: await serviceOf(app) },
      warnings: secretWarnings(secret),
    };
  }
  if (publicUrl !== undefined || (await isLocal(app))) {
    const service = await serviceOf(app);
    return { source: { kind: "webhook", publicUrl: publicUrl ?? null, service }, warnings: [] };
  }
  if (given !== "") return { source: { kind: "secret", secret: given }, warnings: secretWarnings(given) };
  throw new KeyError("no webhook secret", {
    code: "missing_webhook_secret",
    hint: "Set CAT_WEBHOOK_SECRET to the signing_secret of the webhook, or add --public-url URL or --poll.",
  });
}

async function isLocal({ globals, context }: App): Promise<boolean> {
  if (globals.mock) return true;
  const baseUrl = await baseUrlInUse(globals, context.env);
  return baseUrl !== null && isLoopbackHost(new URL(baseUrl).hostname);
}

async function serviceOf(app: App): Promise<ListenService> {
  const client = await app.client();
  const { state, service } = await memoryOfProfile(app);
  return { client, state, ...service, concurrency: defaultConcurrency };
}
