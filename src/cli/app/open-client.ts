import { type Client, createClient } from "../../client/client.ts";
import { describeExchange, type ExchangeLog } from "../../http/exchange-log.ts";
import type { Context } from "../context/context.ts";
import { version } from "../context/version.ts";
import type { Connection } from "../settings/settings.ts";
import { waitNotes } from "./wait-notes.ts";

/**
 * The client of a command. `trace` is told a line a request, secrets masked, for `--verbose`; `note` every long wait;
 * `onExchange` what came of each attempt.
 */
export const openClient = (
  { clock, random, env }: Pick<Context, "clock" | "random" | "env">,
  connection: Connection,
  told: {
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
    onWait: waitNotes(clock, told.note),
    onExchange(line) {
      told.onExchange(line);
      told.trace?.(describeExchange(line));
    },
  });
