import type { App } from "./app.ts";
import type { Prompts } from "./terminal-prompts.ts";

/** Whether to ask: a terminal, without `--no-input`, and without `--json`, which has no text for people. */
export const canAsk = ({ context, globals }: App): boolean =>
  // The stream of stdin is created on first use, which takes a millisecond.
  context.stderr.isTTY && globals.input && !globals.json && context.stdin.isTTY === true;

/** Opens prompts on stderr, because stdout is data. Call only if `canAsk`. Loads the prompt library. */
export const openPrompts = async (app: App): Promise<Prompts> =>
  (await import("./terminal-prompts.ts")).terminalPrompts(app);
