import { type Client, createClient } from "../client/client.ts";
import { describeExchange } from "../http/exchange-log.ts";
import type { Context } from "./context.ts";
import type { Connection } from "./settings/settings.ts";
import { version } from "./version.ts";
import { waitNotes } from "./wait-notes.ts";

/** The client of a command. `trace` is told a line a request, secrets masked, for `--verbose`; `note` every long wait. */
export const openClient = (
  { clock, random, env }: Pick<Context, "clock" | "random" | "env">,
  connection: Connection,
  told: { trace: ((line: string) => void) | undefined; note: (text: string) => Promise<void> },
): Client =>
  createClient({
    ...connection,
    clock,
    random,
    env,
    userAgent: `catalogue/${version}`,
    onWait: waitNotes(clock, told.note),
    onExchange: told.trace && ((line) => told.trace?.(describeExchange(line))),
  });
