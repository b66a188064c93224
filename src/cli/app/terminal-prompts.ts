import { Writable } from "node:stream";
import { confirm, input, password, search, select } from "@inquirer/prompts";
import stringWidth from "string-width";
import { InterruptError } from "../context/errors.ts";
import type { Output } from "../context/standard-streams.ts";
import { lineWidth, wrappedText } from "../output/wrapped.ts";
import type { App } from "./app.ts";

export interface Choice<Answer> {
  name: string;
  value: Answer;
}

interface InputOptions {
  /** Whether a rejected text is removed from the screen instead of offered for editing. */
  readonly clears?: boolean;
}

/** Questions at the terminal. Each rejects with an InterruptError on Ctrl-C, Ctrl-D or a signal. */
export interface Prompts {
  /** `usual` is the choice under the cursor at first. */
  select<Answer>(message: string, choices: readonly Choice<Answer>[], usual: Answer): Promise<Answer>;
  /** A list that `find` narrows by what is typed. */
  search<Answer>(
    message: string,
    find: (term: string | undefined, signal: AbortSignal) => Promise<Choice<Answer>[]>,
  ): Promise<Answer>;
  /** A text; `check` returns true, or the problem to show. Empty input means `usual`. */
  input(
    message: string,
    usual: string | undefined,
    check: (text: string) => true | string,
    options?: InputOptions,
  ): Promise<string>;
  /** A text of which the screen shows nothing. */
  secret(message: string, check: (text: string) => true | string): Promise<string>;
  /** Resolves to true without a question with `--yes`. */
  confirm(message: string, usual: boolean): Promise<boolean>;
}

function fitting({ context: { stderr }, io }: App) {
  // The library breaks long lines inside words. A question has two characters before it.
  const width = lineWidth(stderr);
  const fitted = (text: string) => wrappedText(io.asCalled(text), width === null ? null : width - 2);
  return {
    fitted,
    fittedProblem: (check: (text: string) => true | string) => (text: string) => {
      const problem = check(text);
      return problem === true || fitted(problem);
    },
    // A list higher than the terminal could not be redrawn: question, help and typed text need room.
    linesBelow: (question: string) => Math.max(3, stderr.rows - question.split("\n").length - 4),
    // A chosen one is shown after the question, or below it if the line has no room.
    fittedChoices: <Answer>(question: string, choices: readonly Choice<Answer>[]) =>
      choices.map(({ name, value }) => {
        const lines = wrappedText(name, width === null ? null : width - 4).replaceAll("\n", "\n    ");
        const isLong = width !== null && stringWidth(`? ${question.split("\n").at(-1)} ${name}`) > width;
        return { name: lines, short: isLong ? `\n  ${lines}` : name, value };
      }),
  };
}

/** Asks one question, which Ctrl-C, Ctrl-D, a signal or a closed terminal ends. */
async function asked<Answer>(
  { context: { stdin, stderr, interrupt }, io, secrets }: App,
  ask: (place: AskPlace) => Promise<Answer>,
): Promise<Answer> {
  const isPlain = io.paintNote.bold("x") === "x";
  const gone = new AbortController();
  const leave = () => gone.abort();
  let signal: "SIGINT" | "SIGHUP" = "SIGINT";
  const hangUp = () => {
    signal = "SIGHUP";
    // The library sets the mode of a terminal that was closed, and throws what the terminal reports of it.
    stdin.removeAllListeners("error").on("error", () => {});
    leave();
  };
  // After Ctrl-D, or when the terminal is closed, the library would wait forever.
  const onKey = (_: unknown, key?: { ctrl?: boolean; name?: string }) => {
    if (key?.ctrl && key.name === "d") leave();
  };
  stdin.on("keypress", onKey).on("end", hangUp).on("close", leave);
  interrupt.addEventListener("abort", leave);
  if (interrupt.aborted) leave();
  try {
    return await ask({ input: stdin, output: screenOn(stderr, isPlain, secrets.mask), signal: gone.signal });
  } catch (error) {
    const { name } = error as Error;
    if (name !== "ExitPromptError" && name !== "AbortPromptError") throw error;
    throw interrupt.aborted ? interrupt.reason : new InterruptError(signal);
  } finally {
    stdin.off("keypress", onKey).off("end", hangUp).off("close", leave);
    interrupt.removeEventListener("abort", leave);
  }
}

/** Prompts by the library. */
export function terminalPrompts(app: App): Prompts {
  const { fitted, fittedProblem, fittedChoices, linesBelow } = fitting(app);
  return {
    select: (text, choices, usual) => {
      const message = fitted(text);
      const list = {
        choices: fittedChoices(message, choices),
        default: usual,
        pageSize: linesBelow(message),
      };
      return asked(app, (place) => select({ message, ...list, loop: false }, place));
    },
    search: (text, find) => {
      const message = fitted(text);
      const source = async (term: string | undefined, { signal }: { signal: AbortSignal }) =>
        fittedChoices(message, await find(term, signal));
      const pageSize = Math.min(12, linesBelow(message));
      return asked(app, (place) => search({ message, source, pageSize }, place));
    },
    input: (message, usual, check, { clears = false } = {}) =>
      asked(app, (place) =>
        input(
          {
            message: fitted(message),
            validate: fittedProblem(check),
            ...(usual === undefined ? {} : { default: usual }),
            theme: { validationFailureMode: clears ? "clear" : "keep" },
          },
          place,
        ),
      ),
    // Without `toggleMask: false`, Ctrl-T shows the text.
    secret: (message, check) =>
      asked(app, (place) =>
        password(
          { message: fitted(message), mask: false, toggleMask: false, validate: fittedProblem(check) },
          place,
        ),
      ),
    confirm: (message, usual) =>
      app.globals.yes
        ? Promise.resolve(true)
        : asked(app, (place) => confirm({ message: fitted(message), default: usual }, place)),
  };
}

/** A stream for one question, which leaves stderr open; without colors it only keeps cursor movements. */
function screenOn(
  { raw, columns }: Output,
  isPlain: boolean,
  mask: (text: string) => string,
): NodeJS.WritableStream {
  const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
    const text = mask(String(chunk));
    raw.write(isPlain ? text.replace(/\x1b\[[\d;]*m/g, "") : text);
    // At once: what waited here would come after a later line on stderr.
    done();
  };
  return Object.assign(new Writable({ write, decodeStrings: false }), { isTTY: true, columns });
}

interface AskPlace {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}
