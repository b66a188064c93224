import type { Fault, RequestDetail } from "../data.ts";

export function describeFault({
  id: _id,
  acted: _acted,
  match,
  skip,
  times,
  probability,
  ...effect
}: Fault): string {
  const { method, path, pattern, job, event, ...others } = (match ?? {}) as Record<
    string,
    string | undefined
  >;
  const request = [method, path, pattern].filter(Boolean).join(" ") || "any request";
  const what =
    job !== undefined ? `${job} jobs` : event === undefined ? request : `deliveries of ${event} event`;
  const more = Object.entries(others).map(([name, value]) => `, ${describeEffect(name, value)}`);
  const shown = Object.entries(effect).map(([name, value]) => describeEffect(name, value));
  const spared = typeof skip === "number" ? `, after ${skip} matches` : "";
  const chance = typeof probability === "number" ? `, ${Math.round(probability * 100)} % of the time` : "";
  const limit = typeof times === "number" ? `, ${times === 1 ? "once" : `${times} times`}` : "";
  return `${what}${more.join("")}: ${shown.join(", ")}${spared}${limit}${chance}`;
}

function describeEffect(name: string, value: unknown): string {
  if (name === "status") return `status ${value}`;
  if (name === "delay_ms") return `delay of ${value} ms`;
  if (name === "drop")
    return value === "crash" ? "crash after the work" : `connection closed ${value} the work`;
  if (name === "truncate") return `response cut after ${value} bytes`;
  if (name === "fail") return `fails with ${(value as { code: string }).code}`;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${name} ${text.length > longestShown ? `${text.slice(0, longestShown)}…` : text}`;
}

const longestShown = 100;

/** Why a request got its response, if that is not obvious: one sentence per reason. */
export function reasonsFor({ row, request, first, faults }: RequestDetail): string[] {
  const reasons = faults.map((fault) =>
    fault.match === undefined
      ? `Fault ${fault.id} acted. It was removed.`
      : `Fault ${fault.id} acted: ${describeFault(fault)}.`,
  );
  const isFaulty = faults.length > 0;
  if (row.status === null) {
    if (row.isOver && !isFaulty) reasons.push("The client closed the connection before the response.");
    else if (!row.isOver) reasons.push("The request is in progress.");
    return reasons;
  }
  if (row.replayed) {
    reasons.push(
      first === null
        ? "The stored response of its idempotency key was replayed. The log no longer has the first request."
        : `The stored response of request ${first.number} was replayed, which has the same idempotency key.`,
    );
  } else if (row.code === "idempotency_key_reused" || row.code === "request_in_progress") {
    if (first !== null) reasons.push(`Request ${first.number} has the same idempotency key.`);
  }
  reasons.push(...problemsIn(request.response?.body?.content ?? ""));
  const headers = request.response?.headers ?? {};
  if (row.status === 429 && !isFaulty) {
    const reset = new Date(Number(headers["x-ratelimit-reset"]) * 1_000).toISOString().slice(11, 19);
    reasons.push(
      `${headers["x-ratelimit-limit"]} ${row.method === "GET" ? "reads" : "writes"} per minute are used. The next window begins at ${reset}.`,
    );
  }
  return reasons;
}

export interface Problem {
  message: string;
  param?: string | null;
  line?: number;
  input_index?: number;
}

/** The message of a problem, after the field that it is about, unless the message names it. */
export const shownProblem = ({ message, param }: Problem): string =>
  param == null || message.startsWith(`${param}: `) || message.endsWith(` ${param}`)
    ? message
    : `${param}: ${message}`;

const shownProblems = 10;

function problemsIn(text: string): string[] {
  try {
    const { error, errors } = JSON.parse(text) as { error?: Problem; errors?: Problem[] };
    // A fault can send anything as an error.
    const problems = (error === undefined ? (errors ?? []) : [error]).filter(
      ({ message }) => typeof message === "string",
    );
    const lines = problems.slice(0, shownProblems).map((problem) => {
      const { line, input_index: input } = problem;
      return `${line === undefined ? "" : `line ${line}, `}${input === undefined ? "" : `input ${input}, `}${shownProblem(problem)}`;
    });
    const more = problems.length - lines.length;
    return more > 0 ? [...lines, `${more} more problems are in the response.`] : lines;
  } catch {
    return [];
  }
}

/** Headers that curl sets itself, or that belong to one connection. */
const unneeded = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "expect",
  "authorization",
]);

/** The command that repeats a request in a POSIX shell; a key that is not the mock's is in CAT_API_KEY. */
export function toCurl({ row, request }: RequestDetail, origin: string): string {
  const parts = ["curl"];
  // Otherwise curl takes braces and brackets for a pattern, and removes dots from a path.
  if (/[[\]{}]/.test(request.path)) parts.push("--globoff");
  if (/\/\.{1,2}(?:[/?#]|$)/.test(request.path)) parts.push("--path-as-is");
  if (row.method !== "GET") parts.push("-X", row.method);
  if (row.key !== null) {
    parts.push(
      "-H",
      row.key === "***" ? '"Authorization: Bearer $CAT_API_KEY"' : quoted(`Authorization: Bearer ${row.key}`),
    );
  }
  for (const [name, value] of Object.entries(request.headers)) {
    // Without its value, curl sends a header only if a semicolon follows the name.
    if (!unneeded.has(name)) parts.push("-H", quoted(value === "" ? `${name};` : `${name}: ${value}`));
  }
  const { body } = request;
  let note = "";
  if (body != null) {
    if (body.encoding === "utf8" && body.note === undefined && !body.content.includes("\0")) {
      parts.push("--data-raw", quoted(body.content));
    } else {
      parts.push("--data-binary", "@BODY");
      note = `# Save the body of ${body.bytes} bytes as BODY first.\n`;
    }
  }
  parts.push(quoted(origin + request.path));
  return note + parts.join(" ");
}

/** A word for a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
