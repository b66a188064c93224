import { type Client, createClient } from "../client/client.ts";
import { describeExchange } from "../http/exchange-log.ts";
import type { App } from "./app.ts";
import { version } from "./version.ts";

/** The client of a command, connected as its settings say; closed with the app. */
export async function openClient(app: App): Promise<Client> {
  const { baseUrl, apiKey } = await app.connection();
  const { clock, random, env } = app.context;
  const client = createClient({
    baseUrl,
    apiKey,
    clock,
    random,
    env,
    userAgent: `catalogue/${version}`,
    ...(app.globals.verbose
      ? { onExchange: (line) => app.io.line(app.io.visible(describeExchange(line))) }
      : {}),
  });
  app.onClose(() => client.close());
  return client;
}
