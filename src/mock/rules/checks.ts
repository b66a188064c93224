import type * as z from "zod";
import { invalid, type Problem, Rejection } from "./rejection.ts";

/** Parses `value` with the schema, or throws 400 `invalid_request` for the first invalid field. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const name = String(issue.path[0]);
  // A repeated parameter is parsed as a list, so "must be text" would mislead.
  if (what === "query" && Array.isArray((value as Record<string, unknown>)[name])) {
    throw invalid(`${name}: appears more than once`, name);
  }
  const { message, param } = toProblems(issue, what)[0]!;
  throw invalid(message, param);
}

/** Problems named in the message of an error; all are in its list. */
const mostNamed = 10;

/** Parses `value`, or throws 400 `invalid_request` with all problems; `further` finds more in it unparsed. */
export function checkAll<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  further: (value: unknown) => readonly Problem[] = () => [],
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  const schemaProblems = parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) => toProblems(issue, what));
  const problems = [...schemaProblems, ...further(value)];
  if (parsed.success && problems.length === 0) return parsed.data;
  const named = problems.slice(0, mostNamed).map(({ message }) => message);
  if (problems.length > mostNamed) named.push(`and ${problems.length - mostNamed} more`);
  const { param } = problems[0]!;
  throw new Rejection("invalid_request", named.join("; "), { param, problems });
}

/** All problems that the schema finds in `value`, in its order. */
export function everyProblem(schema: z.ZodType, value: unknown, what: string): Problem[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => toProblems(issue, what));
}

/** The problems in a schema issue: one, or one per unknown field. */
function toProblems(issue: z.core.$ZodIssue, what: string): Problem[] {
  const at = toPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const param = shortened(at === "" ? key : `${at}.${key}`);
      return { message: `unknown field ${param}`, param };
    });
  }
  const message = toMessage(issue);
  if (at === "") {
    const isPlain = message.startsWith("must ") || message.startsWith("is ");
    return [{ message: isPlain ? `the ${what} ${message}` : `invalid ${what}: ${message}` }];
  }
  const named = `${String(issue.path.at(-1))} `;
  // For an invalid word in a list, the message names the position and `param` names the list (Errors).
  const isWordOfList = issue.code === "invalid_value" && typeof issue.path.at(-1) === "number";
  const param = isWordOfList ? toPath(issue.path.slice(0, -1)) : at;
  return [{ message: `${at}: ${message.startsWith(named) ? message.slice(named.length) : message}`, param }];
}

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** Start of the schema library's own messages. Any other message comes from the contract and is kept. */
const itsOwnWords = /^(?:Invalid|Too (?:small|big)|Unrecognized)\b/;

/** The message in plain words; those of the library speak of types and options. */
function plainMessage(issue: z.core.$ZodIssue): string {
  if (!itsOwnWords.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      if (issue.message.endsWith("received undefined")) return "is missing";
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.join(", ")}`;
    case "too_small":
      if (issue.inclusive === false) return `must be more than ${issue.minimum}`;
      return `must ${toBound("least", issue.origin, issue.minimum)}`;
    case "too_big":
      return `must ${toBound("most", issue.origin, issue.maximum)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    default:
      return "has an invalid format";
  }
}

const counted: Readonly<Record<string, readonly [one: string, many: string]>> = {
  array: ["entry", "entries"],
  string: ["character", "characters"],
};

function toBound(side: "least" | "most", origin: string, bound: number | bigint): string {
  const words = counted[origin];
  if (words === undefined) return `be at ${side} ${bound}`;
  return `have at ${side} ${bound} ${words[Number(bound) === 1 ? 0 : 1]}`;
}

/** The most useful message of an issue: for a union, that of its last form. */
function toMessage(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_key") return plainMessage(issue.issues[0]!);
  if (issue.code !== "invalid_union" || !itsOwnWords.test(issue.message)) return plainMessage(issue);
  const inner = issue.errors.at(-1)?.[0];
  return plainMessage(inner ?? issue);
}

/** The path of a field as messages show it: `images[0].orientation`. */
function toPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? String(part) : `.${String(part)}`;
  }
  return text;
}

/** Shortens a field name, which a client can make as long as the body. */
const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 197)}...` : text);
