import { ApiError, withoutStop } from "../../client/api-error.ts";
import type { ErrorCode, ErrorType } from "../../contract/error-codes.ts";
import { CatError } from "../../errors.ts";
import { maskedKeys, maskedSignatures } from "../../http/mask.ts";
import { shortMessage, shortText, visible } from "../../text.ts";
import { DeclinedError, InterruptError, toExitCode } from "../context/errors.ts";
import { jsonLine } from "./visible.ts";
import { wrappedText } from "./wrapped.ts";

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

/** An error for stderr: one or two lines, or one JSON object. Empty after a closed output pipe. */
export function explain(error: unknown, format: ErrorFormat): string {
  const exit = toExitCode(error);
  if (exit === 0 && !(error instanceof DeclinedError)) return "";
  const isFault = !(error instanceof InterruptError || error instanceof DeclinedError);
  const traced = format.verbose && error instanceof Error && isFault;
  const shown = (text: string) => visible(masked(text, format));
  const trace = traced ? `${toStack(error, shown)}\n${causes(error, shown)}` : "";
  if (format.json) return asJson(error, exit, format, trace);
  return wrappedText(asLines(error, format, shown), format.width) + trace;
}

type Shown = (text: string) => string;

/** A text of an error: of the service, a storage server, the command line or a bug. */
const masked = (text: string, format: ErrorFormat): string =>
  maskedKeys(maskedSignatures(format.mask?.(text) ?? text));

function asLines(error: unknown, format: ErrorFormat, shown: Shown): string {
  if (!(error instanceof CatError)) {
    return (
      `${format.paint("error:")} internal error: ${shown(toMessage(error))}\n` +
      "This is a bug. Run the command again with --verbose and report the output.\n"
    );
  }
  if (error.type === "interrupted") return lines(shown(error.message), error.hint, shown);
  if (error instanceof DeclinedError) return lines(shown(capitalized(error.message)), undefined, shown);
  const message = withShortText(withRequest(error), error, shown);
  return `${format.paint("error:")} ${lines(message, nextStep(error), shown)}`;
}

/** A message to show, with the start of what the service said; `--json` has all of it. */
function withShortText(message: string, error: unknown, shown: Shown): string {
  let text = shown(message);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof ApiError)) continue;
    const said = shown(withoutStop(cause.body.message));
    text = text.replace(said, () => shortText(said));
  }
  return text;
}

/** A message as a sentence of its own. */
const capitalized = (message: string): string => `${message[0]!.toUpperCase()}${message.slice(1)}.`;

/** The message with the request ID, which the support team of the service asks for. */
function withRequest({ message, requestId }: CatError): string {
  const text = sentence(message);
  if (requestId === undefined || text.includes(requestId)) return text;
  // After the method and the path, where the message ends with them.
  return /\([A-Z]+ \/[^()]*\)$/.test(text)
    ? `${text.slice(0, -1)}, request ${requestId})`
    : `${text} (request ${requestId})`;
}

/** A message without the service's full stop; a placeholder such as `R,...` stays. */
const sentence = (message: string): string => message.replace(/(?<!\.)\.$/, "");

/** The message of an error and its next step, in sentences. */
export function withNextStep(error: CatError): string {
  const step = nextStep(error);
  if (step === undefined) return error.message;
  const first = sentence(error.message);
  return `${first}${/[?!]$/.test(first) ? "" : "."} ${step}`;
}

const lines = (first: string, second: string | undefined, shown: Shown): string =>
  `${shortMessage(first)}\n${second === undefined ? "" : `${shown(second)}\n`}`;

function asJson(error: unknown, exit: number, format: ErrorFormat, trace: string): string {
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
      : { type: "internal", code: "fault", message: plain(toMessage(error)) };
  return maskedSignatures(
    jsonLine({ error: { ...body, exit, stack: trace === "" ? undefined : trace.trimEnd() } }),
  );
}

const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function causes(error: Error, shown: Shown): string {
  let text = "";
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    text += `caused by ${toStack(cause, shown)}\n`;
  }
  return text;
}

/** The stack trace, whose first lines are the message: that may have texts of the service. */
function toStack({ stack, message }: Error, shown: Shown): string {
  const text = stack === undefined ? message : stack.replace(message, () => shown(message));
  return text.split("\n").map(shown).join("\n");
}

/** The next step for each error code of the contract; without one, it does not compile. */
export const nextSteps: Readonly<Record<ErrorCode | RowCode, string>> = {
  invalid_request: "Fix the value that the message names, and run the command again.",
  invalid_cursor: "Read the list again from its first page.",
  missing_api_key: "Run: cat login (or set CAT_API_KEY). To try it without an account, add --mock.",
  invalid_api_key:
    "Use the complete key of your organization, and one that is not revoked: set CAT_API_KEY, or run: cat login",
  insufficient_credits: "Add credits or a subscription in the dashboard, and run the command again.",
  insufficient_scope: "Use a key with this scope.",
  user_key_not_allowed: "Create a key of your organization in the dashboard, then run: cat login",
  url_expired: "Run the command again for a new URL.",
  host_not_allowed: "Use the address of the mock server on this machine, for example http://127.0.0.1:4010.",
  route_not_found: "Check the path. To see the base URL in use: cat whoami",
  product_not_found: "Check the ID or the reference. To search: cat products list --q TEXT",
  image_not_found: "Check the ID. To see the images of a product: cat products get REFERENCE",
  import_not_found: "Check the ID. To list your imports: cat imports list",
  export_not_found: "Check the ID. To list your exports: cat exports list",
  task_not_found: "Check the ID. To list the tasks: cat tasks list",
  model_not_found: "Check the ID or the name. To list the models: cat models list",
  webhook_not_found: "Check the ID. To list the webhooks: cat webhooks list",
  delivery_not_found: "Check the ID. The mock server lists the deliveries at /_mock/deliveries.",
  method_not_allowed: "Use another method. To see the allowed ones, add --include.",
  request_timeout: "Check your network and run the command again.",
  reference_already_exists:
    "Use another reference, or change the existing product: cat products update REFERENCE",
  request_in_progress: "Wait a few minutes and run the command again.",
  precondition_failed: "Run the command again to download the complete file.",
  body_too_large: "Send less: up to 8 MB per request, and 10 MB per image.",
  uri_too_long: "Use a shorter path or query.",
  unsupported_media_type: "Send JSON, or a JPEG, PNG or WebP file as an image.",
  range_not_satisfiable: "Run the command again to download the complete file.",
  idempotency_key_reused:
    "The service had a request with this key and another body. Check what it did; the key is free again after 24 hours.",
  cannot_drop_last_image: "Attach another photo first: cat products attach REFERENCE FILE",
  inputs_mismatch: "Use only values that the subtype allows. To see them: cat beautify --help",
  image_required: "Attach a photo to the product first: cat products attach REFERENCE FILE",
  rate_limit_exceeded: "Wait a minute and run the command again.",
  headers_too_large: "Check that CAT_API_KEY is only the key.",
  internal_error:
    "Run the command again later. If it keeps failing, send the request ID to the support of the service.",
  not_implemented: "Update this program, or send the request ID to the support of the service.",
  upstream_unavailable: "Run the command again in a few minutes.",
  invalid_row: "Fix the row. To check a file before it is sent: cat import FILE --dry-run",
  duplicate_reference_in_file: "Keep one row per reference. To check a file: cat import FILE --dry-run",
};

/** Codes of import problems (Known codes); `cat import` finds them before it sends. */
type RowCode = "invalid_row" | "duplicate_reference_in_file";

/** The next step for a code that this version does not know: the set of codes may grow. */
const byType: Readonly<Record<ErrorType, string>> = {
  invalid_request: nextSteps.invalid_request,
  not_found: "Check the ID, and the base URL in use: cat whoami",
  unauthorized: nextSteps.invalid_api_key,
  forbidden: "Use a key that is allowed to do this. To see the key in use: cat whoami",
  payment_required: nextSteps.insufficient_credits,
  conflict: "Check what exists already, and run the command again.",
  rate_limited: nextSteps.rate_limit_exceeded,
  internal: nextSteps.internal_error,
  not_implemented: nextSteps.not_implemented,
};

const checkBaseUrl = "Check that the base URL is the address of the service.";

/** The next step for failures of the network and of responses that are not the service's, by code. */
const ofTransport: Readonly<Record<string, string>> = {
  connection_cut: nextSteps.request_timeout,
  attempt_timeout: nextSteps.request_timeout,
  deadline: nextSteps.request_timeout,
  not_http: checkBaseUrl,
  response_too_large: checkBaseUrl,
  signed_url_refused: nextSteps.url_expired,
  download_refused: "Run the command again later.",
  not_a_file: "Run the command again later.",
};

/** The next step after an error: its own, by its code, by its type; else undefined. */
export function nextStep({ hint, code, type, status }: CatError): string | undefined {
  const known: Readonly<Record<string, string>> = { ...ofTransport, ...nextSteps };
  if (hint !== undefined) return hint;
  if (Object.hasOwn(known, code)) return known[code];
  return status !== undefined && Object.hasOwn(byType, type) ? byType[type as ErrorType] : undefined;
}
