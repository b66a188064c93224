import type { DeliveryTarget } from "../../../flows/listen/trigger.ts";
import type { App } from "../../app/app.ts";
import { version } from "../../context/version.ts";
import { signatureHeaderInUse } from "../../settings/signature-header.ts";
import { openPoster } from "./open-poster.ts";
import { webhookSecret } from "./secret.ts";

/** Opens the way to a handler, with the secret that signs its deliveries. Closed when the command ends. */
export async function openTarget(app: App, url: URL): Promise<DeliveryTarget> {
  const { env, clock, interrupt } = app.context;
  const secret = await webhookSecret(app);
  const headerName = await signatureHeaderInUse(app.globals, env);
  return {
    url,
    secret,
    headerName,
    send: await openPoster(app),
    now: () => clock.now(),
    userAgent: `catalogue/${version}`,
    signal: interrupt,
  };
}
