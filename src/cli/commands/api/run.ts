import { STATUS_CODES } from "node:http";
import type { Client } from "../../../client/client.ts";
import type { RawRequest, RawResponse } from "../../../client/exchanges.ts";
import { type Page, readPages } from "../../../client/pages.ts";
import type { ClientOperation } from "../../../contract/client-operations.ts";
import type { CatError } from "../../../errors.ts";
import { isKeyTaken } from "../../../flows/service-errors.ts";
import { BadResponseError } from "../../../http/errors.ts";
import type { App } from "../../app/app.ts";
import { sendOnce, unlessDone } from "../../app/send-once.ts";
import { UsageError, withHint } from "../../context/errors.ts";
import type { Pages } from "../../output/list.ts";
import { indented } from "../../output/list.ts";
import { type BodyFlags, requestBody } from "./body.ts";
import { isList, knownOperation, parseTarget, requestHint, type Target } from "./target.ts";

export interface ApiInput extends BodyFlags {
  readonly method: RawRequest["method"];
  readonly path: string;
  readonly query: readonly string[];
  readonly paginate: boolean;
  readonly include: boolean;
  /** `-H`, by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string | undefined;
}

/** Sends a request, or every page of a list. Throws the service's error after printing it. */
export async function runApi(app: App, input: ApiInput): Promise<void> {
  const { method } = input;
  const { baseUrl } = await app.connection();
  const target = parseTarget(input.path, baseUrl, input.query);
  const operation = knownOperation(method, target.path);
  if (method === "GET") checkGet(input);
  if (input.paginate) checkList(method, operation);
  const body = await requestBody(input, operation, app.context);
  const client = await app.client();
  const request: RawRequest = {
    method,
    body,
    path: toAddress(target),
    headers: input.headers,
    listsProblems: operation?.listsProblems ?? false,
  };
  if (input.paginate)
    await app.io.showPages({ columns: [], format: "ndjson" }, pages(app, client, request, target));
  else await sendOne(app, client, request, { input, target, operation });
}

/** Sends one request and prints its response. Throws the service's error after printing it. */
async function sendOne(
  app: App,
  client: Client,
  request: RawRequest,
  { input, target, operation }: { input: ApiInput; target: Target; operation: ClientOperation | null },
): Promise<void> {
  const { method } = input;
  const { interrupt: signal } = app.context;
  const check =
    input.key === undefined
      ? `Check what it did before you send ${method} ${target.path} again.`
      : "Run the same command again: with the same key it is carried out once.";
  const response = await (method === "GET"
    ? client.raw(request, { signal })
    : sendOnce((options) => client.raw(request, { ...options, signal, idempotencyKey: input.key }), check));
  const json = readJson(response);
  // A login page may respond with 200 to any request.
  const isOdd = json.error !== null && (operation?.reply != null || json.error.code === "wrong_shape");
  // The result of a write is printed also then.
  if (response.error === null && isOdd && json.error?.reply === undefined) throw json.error;
  await printResponse(app, response, { json, include: input.include });
  const error = response.error ?? (isOdd ? json.error : null);
  if (error === null) return;
  if (input.key !== undefined && isKeyTaken(error))
    throw withHint(error, "Use another --idempotency-key, or repeat the request unchanged.");
  throw hinted(method === "GET" ? error : unlessDone(error, check), method, target);
}

/** Throws UsageError for what a GET request does not have. */
function checkGet({ fields, input, key }: ApiInput): void {
  const code = "invalid_argument";
  if (fields.length > 0 || input !== undefined) {
    const hint = "Use --query name=value, or another method.";
    throw new UsageError("a GET request has no body", { code, param: "METHOD", hint });
  }
  if (key === undefined) return;
  const hint = "Remove it: a GET request changes nothing.";
  throw new UsageError("a GET request has no idempotency key", { code, param: "--idempotency-key", hint });
}

function checkList(method: string, operation: ClientOperation | null): void {
  if (method === "GET" && (operation === null || isList(operation))) return;
  throw new UsageError("--paginate works with lists only", {
    code: "invalid_argument",
    param: "--paginate",
    hint: "Remove it, or request a list, for example: cat api GET /products --paginate",
  });
}

/** The entries of all pages, as the service sends them. */
function pages(app: App, client: Client, request: RawRequest, target: Target): Pages<unknown> {
  const [limit, cursor] = ["limit", "cursor"].map((name) => target.query.get(name) ?? undefined);
  const input = { limit, cursor };
  return readPages(target.path, input, async ({ limit, cursor = input.cursor }) => {
    target.query.set("limit", String(limit));
    if (cursor !== undefined) target.query.set("cursor", cursor);
    const response = await client.raw(
      { ...request, path: toAddress(target) },
      { signal: app.context.interrupt },
    );
    if (response.error !== null) throw hinted(response.error, request.method, target);
    return parsePage(response, target.path);
  });
}

function parsePage(response: RawResponse, path: string): Page<unknown> {
  const page = response.json() as Page<unknown> | null;
  const cursor = page?.next_cursor ?? null;
  // Two lists or objects are never equal, so their repetition would not be noticed.
  const isCursor = cursor === null || typeof cursor !== "object";
  if (Array.isArray(page?.data) && typeof page.has_more === "boolean" && isCursor)
    return { ...page, next_cursor: cursor };
  throw new BadResponseError(`GET ${path} did not return a list`, {
    code: "wrong_shape",
    status: response.status,
    hint: "Run the command again without --paginate.",
  });
}

const toAddress = ({ path, query }: Target): string => (query.size === 0 ? path : `${path}?${query}`);

/** The error with a next step for a request that the service does not have. */
function hinted(error: CatError, method: string, { path }: Target): CatError {
  const hint =
    error.hint ?? (error.status === 404 || error.status === 405 ? requestHint(method, path) : undefined);
  return hint === error.hint ? error : withHint(error, hint);
}

/** Prints a response, JSON indented on a terminal. `include` adds the head, with `--json` in one object. */
async function printResponse(
  app: App,
  response: RawResponse,
  { json: body, include }: { json: ReadJson; include: boolean },
): Promise<void> {
  const { io, context } = app;
  const json = body.error === null || body.error.reply !== undefined ? body : null;
  // The service shows a signing secret once, so it must not be masked (Webhooks).
  if (response.error === null) showSecret(app, json?.value);
  if (include && io.json) {
    const { status, headers } = response;
    const body = json === null ? toText(response) : json.value;
    return io.jsonData({ status, headers, body: response.bytes.length === 0 ? null : body });
  }
  if (include) await io.text(head(response, io.visible));
  if (response.bytes.length === 0) return;
  if (json === null) {
    const text = toText(response);
    return io.data(text ?? response.bytes);
  }
  if (context.stdout.isTTY && !io.json) await io.data(`${indented(json.value)}\n`);
  else await io.jsonData(json.value);
}

/** The status line and the headers, and an empty line. */
function head({ status, headers }: RawResponse, visible: (text: string) => string): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((text) => visible(`${name}: ${text}`)),
  );
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trim(), ...lines].join("\n")}\n\n`;
}

/** The JSON of a response; after an error what can be used of it. */
interface ReadJson {
  readonly value: unknown;
  readonly error: BadResponseError | null;
}

function readJson(response: RawResponse): ReadJson {
  try {
    return { value: response.json(), error: null };
  } catch (error) {
    if (!(error instanceof BadResponseError)) throw error;
    return { value: error.reply, error };
  }
}

/** The body as text; null if it is not UTF-8. */
function toText({ bytes }: RawResponse): string | null {
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
