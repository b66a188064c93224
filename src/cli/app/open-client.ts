import { type Client, createClient } from "../../client/client.ts";
import { describeExchange, type ExchangeLog } from "../../http/exchange-log.ts";
import type { Context } from "../context/context.ts";
import { version } from "../context/version.ts";
import type { Connection } from "../settings/settings.ts";
import { waitNotes } from "./wait-notes.ts";

/**
 * Creates the client of a command. `trace` gets one line per request, secrets masked, for `--verbose`. `note`
 * gets a sentence for every long wait, and `onExchange` the result of each attempt.
 */
export const openClient = (
  { clock, random, env }: Pick<Context, "clock" | "random" | "env">,
  connection: Connection,
  listeners: {
    trace: ((line: string) => void) | undefined;
    note: (text: string) => Promise<void>;
    onExchange: (line: ExchangeLog) => void;
  },
): Client =>
  createClient({
    ...connection,
    clock,
    random,
    env,
    userAgent: `catalogue/${version}`,
    onWait: waitNotes(clock, listeners.note),
    onExchange(line) {
      listeners.onExchange(line);
      listeners.trace?.(describeExchange(line));
    },
  });
