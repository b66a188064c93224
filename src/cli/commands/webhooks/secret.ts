import type { Context } from "../../context/context.ts";
import { KeyError } from "../../context/errors.ts";

/** The signing secret of CAT_WEBHOOK_SECRET. Throws a KeyError (exit 4) if it is not set. */
export function webhookSecret(env: Context["env"]): string {
  const secret = env.CAT_WEBHOOK_SECRET?.trim() ?? "";
  if (secret !== "") return secret;
  throw new KeyError("no webhook secret", {
    code: "missing_webhook_secret",
    hint: "Set CAT_WEBHOOK_SECRET to the signing_secret of the webhook (it starts with whsec_).",
  });
}
