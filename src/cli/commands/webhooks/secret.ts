import type { App } from "../../app/app.ts";
import { KeyError } from "../../context/errors.ts";
import { warn } from "./listen/warn.ts";

/**
 * The signing secret of CAT_WEBHOOK_SECRET. Warns about one that cannot be complete, and throws a KeyError (exit 4) if
 * it is not set.
 */
export async function webhookSecret(app: App): Promise<string> {
  const secret = app.context.env.CAT_WEBHOOK_SECRET?.trim() ?? "";
  if (secret === "") {
    throw new KeyError("no webhook secret", {
      code: "missing_webhook_secret",
      hint: "Set CAT_WEBHOOK_SECRET to the signing_secret of the webhook (it starts with whsec_).",
    });
  }
  for (const warning of secretWarnings(secret)) await warn(app, warning);
  return secret;
}

/** What is wrong with a secret at first sight, in sentences: those of the service start with `whsec_`. */
export const secretWarnings = (secret: string): string[] =>
  secret.startsWith("whsec_")
    ? []
    : ["CAT_WEBHOOK_SECRET does not start with whsec_: use the complete signing_secret of the webhook"];
