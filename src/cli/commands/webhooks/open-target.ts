import { isLoopbackHost } from "../../../contract/url-policy.ts";
import type { DeliveryTarget } from "../../../flows/listen/trigger/deliver.ts";
import type { App } from "../../app/app.ts";
import { version } from "../../context/version.ts";
import { webhookSecret } from "./secret.ts";

/** Opens the way to a handler, with the secret that signs its deliveries. Closed when the command ends. */
export async function openTarget(app: App, url: URL): Promise<DeliveryTarget> {
  const { env, clock, interrupt } = app.context;
  const secret = webhookSecret(env);
  const { openConnections } = await import("../../../http/dispatcher.ts");
  const { poster } = await import("../../../http/post.ts");
  const connections = openConnections({ env, isLoopback: isLoopbackHost });
  app.onClose(() => connections.close());
  return {
    url,
    secret,
    send: poster({ connections, clock }),
    now: () => clock.now(),
    userAgent: `catalogue/${version}`,
    signal: interrupt,
  };
}
