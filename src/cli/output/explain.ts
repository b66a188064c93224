import { CatError } from "../../errors.ts";
import { InterruptError } from "../context/errors.ts";
import { exitCodeOf } from "../context/exit.ts";
import { jsonLine } from "./json.ts";
import { visible } from "./visible.ts";

/** How an error is to be told. */
export interface Telling {
  json: boolean;
  /** Whether a stack trace is wanted. */
  verbose: boolean;
  /** Colours the word "error". */
  paint(text: string): string;
}

/**
 * An error as it stands on stderr: one or two plain lines, or one JSON object (interface, Exit status). Empty for an
 * end that is no error, such as a reader that went away.
 */
export function explain(error: unknown, telling: Telling): string {
  const exit = exitCodeOf(error);
  if (exit === 0) return "";
  const traced = telling.verbose && error instanceof Error && !(error instanceof InterruptError);
  const trace = traced ? `${error.stack ?? ""}\n${causes(error)}` : "";
  return (telling.json ? asJson(error, exit) : asLines(error, telling)) + trace;
}

function asLines(error: unknown, telling: Telling): string {
  if (!(error instanceof CatError)) {
    return (
      `${telling.paint("error:")} internal error: ${visible(messageOf(error))}\n` +
      "This is a bug. Run the command again with --verbose and report the output.\n"
    );
  }
  if (error.type === "interrupted") return lines(error.message, error.hint);
  // The request id is what the service's people ask for.
  const request =
    error.requestId !== undefined && !error.message.includes(error.requestId)
      ? ` (request ${error.requestId})`
      : "";
  return `${telling.paint("error:")} ${lines(sentence(error.message) + request, error.hint)}`;
}

/** A message without the full stop that some end with. */
const sentence = (message: string): string => message.replace(/\.$/, "");

const lines = (first: string, second: string | undefined): string =>
  `${visible(first)}\n${second === undefined ? "" : `${visible(second)}\n`}`;

function asJson(error: unknown, exit: number): string {
  const body =
    error instanceof CatError
      ? {
          type: error.type,
          code: error.code,
          message: error.hint === undefined ? error.message : `${sentence(error.message)}. ${error.hint}`,
          param: error.param,
          status: error.status,
          request_id: error.requestId,
        }
      : { type: "internal", code: "fault", message: messageOf(error) };
  return jsonLine({ error: { ...body, exit } });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function causes(error: Error): string {
  let text = "";
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    text += `caused by ${cause.stack ?? cause.message}\n`;
  }
  return text;
}
