import type { App } from "../../app/app.ts";

/** Prints a webhook with its new signing secret, which the service shows only once (Webhooks). */
export async function showWithSecret(
  app: App,
  webhook: { readonly signing_secret?: string | undefined },
): Promise<void> {
  if (webhook.signing_secret !== undefined) app.secrets.show(webhook.signing_secret);
  await app.io.resource(webhook);
  await app.io.note("Store the signing_secret now: the service does not show it again.");
}
