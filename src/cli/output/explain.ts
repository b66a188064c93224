import { CatError } from "../../errors.ts";
import { maskedSignatures } from "../../http/mask.ts";
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
  /** Colors the word "error". */
  paint(text: string): string;
}

/**
 * The text of an error for stderr: one or two plain lines, wrapped to the width, or one JSON object (interface, Exit
 * status). Empty if the exit status is 0, as after a closed output pipe.
 */
export function explain(error: unknown, format: ErrorFormat): string {
  const exit = exitCodeOf(error);
  if (exit === 0) return "";
  const traced = format.verbose && error instanceof Error && !(error instanceof InterruptError);
  const trace = traced ? `${stackOf(error)}\n${causes(error)}` : "";
  return (format.json ? asJson(error, exit) : wrappedText(asLines(error, format), format.width)) + trace;
}

function asLines(error: unknown, format: ErrorFormat): string {
  if (!(error instanceof CatError)) {
    return (
      `${format.paint("error:")} internal error: ${shown(messageOf(error))}\n` +
      "This is a bug. Run the command again with --verbose and report the output.\n"
    );
  }
  if (error.type === "interrupted") return lines(error.message, error.hint);
  return `${format.paint("error:")} ${lines(withRequest(error), nextStep(error))}`;
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

const lines = (first: string, second: string | undefined): string =>
  `${shown(first)}\n${second === undefined ? "" : `${shown(second)}\n`}`;

/** A text of an error, which may be one of the service, of a storage server or of a bug. */
const shown = (text: string): string => visible(maskedSignatures(text));

function asJson(error: unknown, exit: number): string {
  const body =
    error instanceof CatError
      ? {
          type: error.type,
          code: error.code,
          message: withNextStep(error),
          param: error.param,
          status: error.status,
          request_id: error.requestId,
        }
      : { type: "internal", code: "fault", message: messageOf(error) };
  return maskedSignatures(jsonLine({ error: { ...body, exit } }));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function causes(error: Error): string {
  let text = "";
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    text += `caused by ${stackOf(cause)}\n`;
  }
  return text;
}

/** The stack trace, whose first lines are the message: that may have texts of the service. */
function stackOf({ stack, message }: Error): string {
  const text = stack === undefined ? message : stack.replace(message, () => shown(message));
  return text.split("\n").map(shown).join("\n");
}
