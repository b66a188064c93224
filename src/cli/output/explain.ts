import { CatError } from "../../errors.ts";
import { maskedKeys, maskedSignatures } from "../../http/mask.ts";
import { InterruptError } from "../context/errors.ts";
import { exitCodeOf } from "../context/exit.ts";
import { jsonLine } from "./json.ts";
import { nextStep } from "./next-steps.ts";
import { visible } from "./visible.ts";
import { wrappedText } from "./wrapped.ts";

/** The format of an error. */
export interface ErrorFormat {
  json: boolean;
  /** Whether to add the stack trace. */
  verbose: boolean;
  /** The width of the terminal; null for no limit (`lineWidth`). */
  width: number | null;
  /** Masks the secrets of the user, before everything else that looks like an API key is masked. */
  mask?(text: string): string;
  /** Colors the word "error". */
  paint(text: string): string;
}

/**
 * The text of an error for stderr: one or two plain lines, wrapped to the width, or one JSON object.
 * Empty if the exit status is 0, as after a closed output pipe.
 */
export function explain(error: unknown, format: ErrorFormat): string {
  const exit = exitCodeOf(error);
  if (exit === 0) return "";
  const traced = format.verbose && error instanceof Error && !(error instanceof InterruptError);
  const shown = (text: string) => visible(masked(text, format));
  const trace = traced ? `${stackOf(error, shown)}\n${causes(error, shown)}` : "";
  return (
    (format.json ? asJson(error, exit, format) : wrappedText(asLines(error, format, shown), format.width)) +
    trace
  );
}

type Shown = (text: string) => string;

/** A text of an error, which may be one of the service, of a storage server, of the command line or of a bug. */
const masked = (text: string, format: ErrorFormat): string =>
  maskedKeys(maskedSignatures(format.mask?.(text) ?? text));

function asLines(error: unknown, format: ErrorFormat, shown: Shown): string {
  if (!(error instanceof CatError)) {
    return (
      `${format.paint("error:")} internal error: ${shown(messageOf(error))}\n` +
      "This is a bug. Run the command again with --verbose and report the output.\n"
    );
  }
  if (error.type === "interrupted") return lines(error.message, error.hint, shown);
  return `${format.paint("error:")} ${lines(withRequest(error), nextStep(error), shown)}`;
}

/** The message with the request ID, which the support team of the service asks for. */
function withRequest({ message, requestId }: CatError): string {
  const text = sentence(message);
  if (requestId === undefined || text.includes(requestId)) return text;
  // After the method and the path, where the message ends with them.
  return /\([A-Z]+ \/[^()]*\)$/.test(text)
    ? `${text.slice(0, -1)}, request ${requestId})`
    : `${text} (request ${requestId})`;
}

/** A message without the full stop that messages of the service end with; a placeholder such as `R,...` stays. */
const sentence = (message: string): string => message.replace(/(?<!\.)\.$/, "");

function withNextStep(error: CatError): string {
  const step = nextStep(error);
  if (step === undefined) return error.message;
  const first = sentence(error.message);
  return `${first}${/[?!]$/.test(first) ? "" : "."} ${step}`;
}

const lines = (first: string, second: string | undefined, shown: Shown): string =>
  `${shown(first)}\n${second === undefined ? "" : `${shown(second)}\n`}`;

function asJson(error: unknown, exit: number, format: ErrorFormat): string {
  // Before the text becomes JSON: the letter of an escape would look like a part of the word before a key.
  const plain = (text: string) => masked(text, format);
  const body =
    error instanceof CatError
      ? {
          type: error.type,
          code: error.code,
          message: plain(withNextStep(error)),
          param: error.param === undefined ? undefined : plain(error.param),
          status: error.status,
          request_id: error.requestId,
        }
      : { type: "internal", code: "fault", message: plain(messageOf(error)) };
  return maskedSignatures(jsonLine({ error: { ...body, exit } }));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function causes(error: Error, shown: Shown): string {
  let text = "";
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    text += `caused by ${stackOf(cause, shown)}\n`;
  }
  return text;
}

/** The stack trace, whose first lines are the message: that may have texts of the service. */
function stackOf({ stack, message }: Error, shown: Shown): string {
  const text = stack === undefined ? message : stack.replace(message, () => shown(message));
  return text.split("\n").map(shown).join("\n");
}
