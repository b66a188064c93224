import type { Listening } from "../../../../flows/listen/listen.ts";
import type { App } from "../../../app/app.ts";

interface GreetingOptions {
  readonly logPath: string;
  readonly printSecret: boolean;
  /** Whether a command runs meanwhile, with which the listener ends. */
  readonly hasCommand: boolean;
}

/** Notes where the listener listens, or what it polls, and where its log is. */
export async function greeting(
  app: App,
  { url, webhookId, secret }: Listening,
  { logPath, printSecret, hasCommand }: GreetingOptions,
): Promise<void> {
  const { bold } = app.io.paintNote;
  const { visible } = app.io;
  const where =
    url === null
      ? `Polling ${bold(visible((await app.connection()).baseUrl))}.`
      : `Listening on ${bold(visible(url))}${webhookId === null ? "" : ` with webhook ${webhookId}`}.`;
  const end = hasCommand ? "" : " To stop, press Ctrl-C.";
  await app.io.note(`${where}${end}\nEvents are stored in ${visible(logPath)}.`);
  if (printSecret) await app.io.note(`Signing secret: ${secret}`);
}
