import { describeExchange, type ExchangeLog } from "../../http/exchange-log.ts";
import type { Io } from "./io.ts";
import { jsonLine } from "./visible.ts";

type StderrIo = Pick<Io, "json" | "line" | "visible">;

/** Prints a warning and its next step on stderr: JSON with `--json`, nothing with `--quiet`. */
export async function warn(
  { io }: { readonly io: StderrIo & Pick<Io, "quiet" | "paintNote"> },
  message: string,
  hint?: string,
): Promise<void> {
  if (io.quiet) return;
  if (io.json) return io.line(jsonLine({ warning: { message: io.visible(message), hint } }).trimEnd());
  const words = `${io.paintNote.yellow("warning:")} ${io.visible(message)}`;
  await io.line(hint === undefined ? words : `${words}\n${hint}`);
}

/** Prints a line on stderr whatever the flags; as a warning with `--json`, whose lines are all JSON. */
export async function tell({ io }: { readonly io: StderrIo }, text: string): Promise<void> {
  const shown = io.visible(text);
  await io.line(io.json ? jsonLine({ warning: { message: shown } }).trimEnd() : shown);
}

/** Prints a request on stderr, as `--verbose` does: a line of text, or with `--json` an object. */
export async function showRequest(io: StderrIo, exchange: ExchangeLog): Promise<void> {
  if (!io.json) return io.line(io.visible(describeExchange(exchange)));
  const request = {
    method: exchange.method,
    url: io.visible(`${exchange.origin}${exchange.path}`),
    status: exchange.status,
    error: exchange.status === null ? exchange.error : null,
    ms: Math.round(exchange.ms),
    attempt: exchange.attempt,
    request_id: exchange.requestId === null ? null : io.visible(exchange.requestId),
    idempotency_key: exchange.idempotencyKey,
    api_key: exchange.apiKey,
    replayed: exchange.replayed,
  };
  await io.line(jsonLine({ request }).trimEnd());
}
