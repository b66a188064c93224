import { STATUS_CODES } from "node:http";
import type { RawResponse } from "../../../client/raw-request.ts";
import type { App } from "../../app/app.ts";
import { indented } from "../../output/list.ts";

/**
 * Prints a response on stdout: JSON on one line, indented on a terminal; anything else unchanged. `include` adds the
 * status and the headers; with `--json` they and the body are one object.
 */
export async function printResponse(app: App, response: RawResponse, include: boolean): Promise<void> {
  const { io, context } = app;
  const json = jsonOr(response);
  // The service shows a signing secret once, so it must not be masked (Webhooks).
  if (response.error === null) showSecret(app, json?.value);
  if (include && io.json) {
    const { status, headers } = response;
    const body = json === null ? textOf(response) : json.value;
    return io.jsonData({ status, headers, body: response.bytes.length === 0 ? null : body });
  }
  if (include) await io.data(head(response, io.visible));
  if (response.bytes.length === 0) return;
  if (json === null) {
    const text = textOf(response);
    return io.data(text ?? response.bytes);
  }
  if (context.stdout.isTTY && !io.json) await io.data(`${indented(json.value)}\n`);
  else await io.jsonData(json.value);
}

/** The status line and the headers, and an empty line. */
function head({ status, headers }: RawResponse, visible: (text: string) => string): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => visible(`${name}: ${one}`)),
  );
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trim(), ...lines].join("\n")}\n\n`;
}

function jsonOr(response: RawResponse): { value: unknown } | null {
  try {
    return { value: response.json() };
  } catch {
    return null;
  }
}

/** The body as text; null if it is not UTF-8. */
function textOf({ bytes }: RawResponse): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function showSecret(app: App, body: unknown): void {
  const secret = (body as { signing_secret?: unknown } | null | undefined)?.signing_secret;
  if (typeof secret === "string") app.secrets.show(secret);
}
