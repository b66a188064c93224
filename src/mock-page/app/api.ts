import { type Problem, shownProblem } from "./describe.ts";

export class Rejection extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

/** The start of the mock's URLs, without a slash at the end. A proxy may serve the mock below a path. */
export const mockUrl = (): string => new URL(".", location.href).href.slice(0, -1);

/**
 * Sends a request to the mock and parses its response. The path is relative to the page, without a slash at
 * its start. Throws a `Rejection` with the messages of the mock.
 */
export async function call<T = unknown>(
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
): Promise<T> {
  const init: RequestInit = { method };
  if (body instanceof Blob) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new Error("The mock does not respond. Is it still running?");
  }
  const text = await response.text();
  if (!response.ok) throw new Rejection(problemsIn(text) ?? [`The mock responded with ${response.status}.`]);
  return JSON.parse(text) as T;
}

function problemsIn(text: string): string[] | undefined {
  try {
    const { error, errors = [error] } = JSON.parse(text) as { error: Problem; errors?: Problem[] };
    return errors.map(shownProblem);
  } catch {
    return undefined;
  }
}

/** Copies a text: by a hidden field without a secure context, which hosts other than loopback lack. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
