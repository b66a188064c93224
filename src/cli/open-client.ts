import { type Client, createClient } from "../client/client.ts";
import { describeExchange } from "../http/exchange-log.ts";
import type { Context } from "./context.ts";
import type { Connection } from "./settings/settings.ts";
import { version } from "./version.ts";

/** The client of a command. `trace` is told a line a request, secrets masked; for `--verbose`. */
export const openClient = (
  { clock, random, env }: Pick<Context, "clock" | "random" | "env">,
  connection: Connection,
  trace: ((line: string) => void) | undefined,
): Client =>
  createClient({
    ...connection,
    clock,
    random,
    env,
    userAgent: `catalogue/${version}`,
    onExchange: trace === undefined ? undefined : (line) => trace(describeExchange(line)),
  });
