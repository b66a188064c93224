import { Writable } from "node:stream";
import type { Output } from "../context/context.ts";
import { InterruptError } from "../context/errors.ts";
import type { App } from "./app.ts";

/** One answer to choose from. */
export interface Choice<Answer> {
  name: string;
  value: Answer;
}

/** Questions to the person at the terminal. Each rejects with an InterruptError when it is not answered: Ctrl-C, Ctrl-D, a signal. */
export interface Prompts {
  /** `usual` is what is under the cursor at first. */
  select<Answer>(message: string, choices: readonly Choice<Answer>[], usual: Answer): Promise<Answer>;
  /** `--yes` answers it. */
  confirm(message: string, usual: boolean): Promise<boolean>;
}

/**
 * Whether somebody can be asked: both ends are a terminal, and nobody said `--no-input`, or `--json`, with which nothing for
 * people stands on stderr (interface, Commands).
 */
export const canAsk = ({ context, globals }: App): boolean =>
  context.stdin.isTTY === true && context.stderr.isTTY && globals.input && !globals.json;

/** Questions on stderr, as stdout is data. Only where `canAsk`. The library loads with this call. */
export async function openPrompts({ context, globals, io, secrets }: App): Promise<Prompts> {
  const { select, confirm } = await import("@inquirer/prompts");
  const { stdin, stderr, interrupt } = context;
  const isPlain = io.paintNote.bold("x") === "x";
  // What is higher than the terminal could not be drawn anew: the question may take several lines, and the help one.
  const { rows = 24 } = stderr.raw as { rows?: number };
  const pageSize = Math.max(3, Math.min(12, rows - 6));
  async function asked<Answer>(ask: (place: AskPlace) => Promise<Answer>): Promise<Answer> {
    const gone = new AbortController();
    const leave = () => gone.abort();
    // With Ctrl-D the library would wait for ever, as it would for a terminal that was closed.
    const onKey = (_: unknown, key?: { ctrl?: boolean; name?: string }) => {
      if (key?.ctrl && key.name === "d") leave();
    };
    stdin.on("keypress", onKey).on("end", leave).on("close", leave);
    interrupt.addEventListener("abort", leave);
    if (interrupt.aborted) leave();
    try {
      return await ask({
        input: stdin,
        output: screenOn(stderr, isPlain, secrets.mask),
        signal: gone.signal,
      });
    } catch (error) {
      const { name } = error as Error;
      if (name !== "ExitPromptError" && name !== "AbortPromptError") throw error;
      throw interrupt.aborted ? interrupt.reason : new InterruptError("SIGINT");
    } finally {
      stdin.off("keypress", onKey).off("end", leave).off("close", leave);
      interrupt.removeEventListener("abort", leave);
    }
  }
  return {
    select: (message, choices, usual) =>
      asked((place) => select({ message, choices, default: usual, pageSize, loop: false }, place)),
    confirm: (message, usual) =>
      globals.yes ? Promise.resolve(true) : asked((place) => confirm({ message, default: usual }, place)),
  };
}

/**
 * What one question is drawn on: the library ends it, and the terminal is to stay. It colours whatever is asked of it, so
 * where colours are not wanted what sets them is left out, and what moves the cursor stays.
 */
function screenOn(
  { raw, columns }: Output,
  isPlain: boolean,
  mask: (text: string) => string,
): NodeJS.WritableStream {
  const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
    const text = mask(String(chunk));
    raw.write(isPlain ? text.replace(/\x1b\[[\d;]*m/g, "") : text, done);
  };
  return Object.assign(new Writable({ write, decodeStrings: false }), { isTTY: true, columns });
}

interface AskPlace {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}
