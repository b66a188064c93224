import { isUint8Array } from "node:util/types";
import type { ClientOperation } from "../contract/client-operations.ts";
import { unknownName } from "../contract/did-you-mean.ts";
import { headersProblem } from "./own-headers.ts";
import { jsonType } from "./request.ts";

/** A message may depend on the value, but never shows it: it may be secret. */
type Check = readonly [isValid: (value: unknown) => boolean, mustBe: string | ((value: unknown) => string)];

const isFunction: Check = [(value) => typeof value === "function", "a function"];
const isText: Check = [(value) => typeof value === "string", "a string"];
const isObject: Check = [(value) => typeof value === "object" && value !== null, "an object"];
/** An object of fields: no list, Map, Promise or bytes, which JSON shows differently. */
const isFields: Check = [
  (value) => Object.prototype.toString.call(value) === "[object Object]",
  "an object of the fields to send",
];
const isYesOrNo: Check = [(value) => typeof value === "boolean", "true or false"];
const atLeast = (min: number): Check => [
  (value) => typeof value === "number" && value >= min,
  min === 0 ? "a number, 0 or more" : `a number from ${min}`,
];
const isBackoff: Check = [
  (value) =>
    ["baseMs", "capMs"].every((name) => atLeast(0)[0]((value as { [name]?: unknown } | null)?.[name])),
  "{ baseMs, capMs } in milliseconds",
];
const isClock: Check = [
  (value) => ["now", "sleep", "at"].every((name) => typeof (value as never)?.[name] === "function"),
  "a clock with now, sleep and at",
];
const isAscii: Check = [
  (value) => typeof value === "string" && /^[\x20-\x7e]*$/.test(value),
  "printable ASCII text",
];
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const isRawBody = (value: unknown): boolean => {
  const { contentType, bytes } = value as { contentType?: unknown; bytes?: unknown };
  return typeof contentType === "string" && isAscii[0](contentType) && isUint8Array(bytes);
};
/** Headers by name; `isRaw`: those of `client.raw`, whose names have lower case. */
const isHeaders = (isRaw: boolean): Check => [
  (value) => headersProblem(value, isRaw) === null,
  (value) => headersProblem(value, isRaw)!,
];
const isCount: Check = [
  (value) => Number.isInteger(value) && (value as number) >= 0,
  "an integer, 0 or more",
];
const isSignal: Check = [(value) => value instanceof AbortSignal, "an AbortSignal"];

/** The options of `createClient`: their values, or the options that they consist of. */
export const clientOptions = {
  baseUrl: isText,
  insecureHttpHosts: [
    (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string"),
    "a list of host names",
  ],
  apiKey: [
    (value: unknown) => typeof value === "string" || typeof value === "function",
    "a string or a function",
  ],
  clock: isClock,
  random: isFunction,
  userAgent: isAscii,
  fetch: isFunction,
  dispatcher: [
    (value: unknown) => typeof (value as { dispatch?: unknown } | null)?.dispatch === "function",
    "a Dispatcher of undici, with dispatch",
  ],
  headers: isHeaders(false),
  onExchange: isFunction,
  onWait: isFunction,
  env: isObject,
  timeLimits: { totalMs: atLeast(0), silenceMs: atLeast(0), attemptMs: atLeast(0) },
  retry: {
    attempts: atLeast(1),
    unreached: isYesOrNo,
    backoff: isBackoff,
    inProgress: isBackoff,
    windowMs: atLeast(0),
    rateLimited: atLeast(1),
    rateLimitedMs: atLeast(0),
  },
  maxResponseBytes: atLeast(0),
} as const satisfies Options;

interface Options {
  readonly [name: string]: Check | Options;
}

const perRequest = { signal: isSignal, timeoutMs: atLeast(0), retries: isCount, headers: isHeaders(false) };
const isClocks: Check = [
  (value) => {
    const { here, service } = (value ?? {}) as { here?: unknown; service?: unknown };
    return Number.isFinite(here) && (service === null || Number.isFinite(service));
  },
  "{ here, service } in milliseconds, where service may be null",
];

/** The options of requests, lists, polling and downloads. */
export const callOptions = {
  call: { ...perRequest, idempotencyKey: isText, keyFrom: isClocks, onDoubt: isFunction },
  list: { ...perRequest, isAhead: isYesOrNo },
  poll: { ...perRequest, done: isFunction, onResponse: isFunction, outageMs: atLeast(0) },
  download: { signal: isSignal, maxBytes: atLeast(0), attempts: atLeast(1), onLength: isFunction },
  downloadInto: {
    url: isText,
    freshUrl: isFunction,
    type: isText,
    signal: isSignal,
    limits: { totalMs: atLeast(0), attempts: atLeast(1), maxBytes: atLeast(0) },
  },
} as const satisfies Record<string, Options>;

export const toArrayOptions: Options = {
  limit: [(value) => Number.isInteger(value) && (value as number) >= 1, "an integer, 1 or more"],
};

const rawRequest = {
  method: [(value: unknown) => methods.includes(value as string), "GET, POST, PUT, PATCH or DELETE"],
  path: [
    (value: unknown) => typeof value === "string" && /^\/[\x21-\x7e]*$/.test(value),
    "an encoded path that starts with /, e.g. /v1/products",
  ],
  body: [(value: unknown) => value === null || isRawBody(value), "null, or { contentType, bytes }"],
  headers: isHeaders(true),
  listsProblems: isYesOrNo,
} as const satisfies Options;

/** Throws a TypeError for options of `createClient` that are unknown, invalid or missing. */
export function checkClientOptions(options: unknown): void {
  const what = "createClient";
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${what} takes { baseUrl, apiKey }`);
  }
  checkOptions(what, options, clientOptions);
  const { baseUrl, apiKey } = options as { baseUrl?: unknown; apiKey?: unknown };
  if (baseUrl === undefined) throw new TypeError(`${what}: baseUrl is missing: the address of the service`);
  if (apiKey === undefined || (typeof apiKey === "string" && apiKey.trim() === "")) {
    throw new TypeError(
      `${what}: apiKey is missing: the API key of your organization, which starts with ak_`,
    );
  }
  const transports = ["fetch", "dispatcher", "env"].filter((name) => (options as never)[name] !== undefined);
  if (transports.length > 1)
    throw new TypeError(`${what} takes one of ${transports.join(", ")}: each decides on the connections`);
}

/** Throws a TypeError for invalid options of a request, and for those of a write where it reads. */
export function checkCall(what: string, request: { readonly method?: string }, given?: object): void {
  checkOptions(what, given, callOptions.call);
  const { idempotencyKey, keyFrom } = (given ?? {}) as { idempotencyKey?: unknown; keyFrom?: unknown };
  if (request.method === "GET" && (idempotencyKey ?? keyFrom) !== undefined)
    throw new TypeError(`${what} only reads: a key has no effect`);
}

/** Throws a TypeError for a request for `client.raw` with a field that is unknown, invalid or missing. */
export function checkRawRequest(request: unknown): void {
  const { method, path } = (request ?? {}) as { method?: unknown; path?: unknown };
  if (typeof request !== "object" || method === undefined || path === undefined)
    throw new TypeError("client.raw takes { method, path, body }");
  checkOptions("client.raw", request as object, rawRequest);
}

/** Throws a TypeError for anything but a value of `operations`, and for a field that it does not have. */
export function checkOperation(what: string, operation: unknown, input: unknown): void {
  if (!Array.isArray((operation as { params?: unknown } | null | undefined)?.params))
    throw new TypeError(`${what} takes an operation, e.g. operations.imports.get`);
  checkInput(what, input, listFields(operation as ClientOperation));
}

/** The same for a list, which has pages. */
export function checkListOperation(what: string, operation: unknown, input: unknown): void {
  checkOperation(what, operation, input);
  if (!(operation as ClientOperation).query.includes("cursor"))
    throw new TypeError(`${what} takes an operation that lists, e.g. operations.products.list`);
}

/** The same for one that can be repeated: another would do its work each time. */
export function checkReadOperation(what: string, operation: unknown, input: unknown): void {
  checkOperation(what, operation, input);
  if ((operation as ClientOperation).method !== "GET")
    throw new TypeError(`${what} takes an operation that reads, e.g. operations.imports.get`);
}

/** Throws a TypeError for a download without a URL, e.g. of an export in progress. */
export function checkDownload(url: unknown): void {
  if (typeof url !== "string") throw new TypeError("client.download takes a signed URL");
}

/** Throws a TypeError for an incomplete download, or one with unknown or invalid options. */
export function checkDownloadInto(target: unknown, download: object | undefined): void {
  checkOptions("client.downloadInto", download, callOptions.downloadInto);
  if (!isObject[0](target) || (download as { url?: unknown } | undefined)?.url === undefined)
    throw new TypeError("client.downloadInto takes a target and { url }");
}

/** Throws a TypeError for options of `client.poll` that are unknown, invalid or missing. */
export function checkPollOptions(options: object | undefined): void {
  checkOptions("client.poll", options, callOptions.poll);
  if ((options as { done?: unknown } | undefined)?.done === undefined)
    throw new TypeError("client.poll: done is missing: a function that says whether to stop polling");
}

/** Throws a TypeError that names the first bad option, without its value: it may be secret. */
export function checkOptions(what: string, given: object | undefined, known: Options, prefix = ""): void {
  if (given !== undefined && !isObject[0](given))
    throw new TypeError(`${what}: the options must be an object`);
  for (const [name, value] of Object.entries(given ?? {})) {
    const check = Object.hasOwn(known, name) ? known[name]! : null;
    if (check === null) throw unknownName(`${what}: unknown option`, name, Object.keys(known), prefix);
    if (value === undefined) continue;
    const nested = Array.isArray(check) ? null : (check as Options);
    const [isValid, mustBe] = nested === null ? (check as Check) : isObject;
    if (!isValid(value))
      throw new TypeError(
        `${what}: ${prefix}${name}${typeof mustBe === "string" ? ` must be ${mustBe}` : mustBe(value)}`,
      );
    if (nested !== null) checkOptions(what, value as object, nested, `${prefix}${name}.`);
  }
}

export const listFields = (operation: ClientOperation): string[] => {
  const { params, query, body } = operation;
  const fields = [
    ...(jsonType(operation) === undefined ? [] : ["body", "json"]),
    ...(body.includes("application/x-ndjson") ? ["ndjson"] : []),
    ...(body.includes("multipart/form-data") ? ["file"] : []),
  ];
  return [...params, ...query, ...fields];
};

const isBytes: Check = [
  (value) => typeof value === "string" || isUint8Array(value),
  "a string or bytes (Buffer, Uint8Array); objects go into body",
];
/** The fields of an input that become the body of its request. */
const bodyFields: Options = { body: isFields, json: isBytes, ndjson: isBytes };

/** Throws a TypeError for a field that the operation lacks (it would not be sent) or another kind of body. */
export function checkInput(what: string, input: unknown, known: readonly string[]): void {
  if (input === undefined) return;
  if (typeof input !== "object" || input === null)
    throw new TypeError(`${what} takes { ${known.join(", ")} }`);
  for (const name of Object.keys(input)) {
    if (!known.includes(name)) throw unknownName(`${what}: unknown field`, name, known);
  }
  const bodies = Object.entries(input).filter(
    ([name, value]) => Object.hasOwn(bodyFields, name) && value !== undefined,
  );
  checkOptions(what, Object.fromEntries(bodies), bodyFields);
  if (bodies.length > 1)
    throw new TypeError(
      `${what} takes one of ${bodies.map(([name]) => name).join(", ")}: the others would not be sent`,
    );
}
