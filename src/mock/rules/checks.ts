import type * as z from "zod";
import { invalid } from "./refusal.ts";

/** `value` as the schema reads it, or 400 `invalid_request` that names the first field at fault. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const name = String(issue.path[0]);
  // A parameter that stands there again comes as a list, which nobody has sent.
  if (what === "query" && Array.isArray((value as Record<string, unknown>)[name])) {
    throw invalid(`${name}: is given more than once`, name);
  }
  const { message, param } = problemsOf(issue, what)[0]!;
  throw invalid(message, param);
}

/** What is wrong with one field, or with the whole where there is no `param`. */
export interface Problem {
  readonly message: string;
  readonly param?: string;
}

/** Everything that the schema finds wrong with `value`, in its order; none when it is right. */
export function everyProblem(schema: z.ZodType, value: unknown, what: string): Problem[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(issue, what));
}

/** The problems that an issue stands for: one, or one for every field that nobody knows. */
function problemsOf(issue: z.core.$ZodIssue, what: string): Problem[] {
  const at = pathOf(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const param = shortened(at === "" ? key : `${at}.${key}`);
      return { message: `${param} is not a field of this request`, param };
    });
  }
  const message = messageOf(issue);
  if (at === "") {
    const isPlain = message.startsWith("must ") || message.startsWith("is ");
    return [{ message: isPlain ? `the ${what} ${message}` : `the ${what} is not right: ${message}` }];
  }
  const named = `${String(issue.path.at(-1))} `;
  // An unknown word in a list of words is the list's fault: the message has its place, `param` the field (Errors).
  const isWordOfList = issue.code === "invalid_value" && typeof issue.path.at(-1) === "number";
  const param = isWordOfList ? pathOf(issue.path.slice(0, -1)) : at;
  return [{ message: `${at}: ${message.startsWith(named) ? message.slice(named.length) : message}`, param }];
}

/** What a value must be, by the schema library's word for it. */
const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** How the schema library begins its own sentences; one that begins otherwise is the contract's, and stays. */
const itsOwnWords = /^(?:Invalid|Too (?:small|big)|Unrecognized)\b/;

/** What a value must be, in plain words: the library's speak of types and options. */
function plainMessageOf(issue: z.core.$ZodIssue): string {
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
      return `must ${boundOf("least", issue.origin, issue.minimum)}`;
    case "too_big":
      if (issue.inclusive === false) return `must be less than ${issue.maximum}`;
      return `must ${boundOf("most", issue.origin, issue.maximum)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    default:
      return "does not have the form that it must have";
  }
}

const counted: Readonly<Record<string, readonly [one: string, many: string]>> = {
  array: ["entry", "entries"],
  string: ["character", "characters"],
};

function boundOf(side: "least" | "most", origin: string, bound: number | bigint): string {
  const words = counted[origin];
  if (words === undefined) return `be at ${side} ${bound}`;
  return `have at ${side} ${bound} ${words[Number(bound) === 1 ? 0 : 1]}`;
}

/** The message that says most: of a choice between forms, that of the last form. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union") return plainMessageOf(issue);
  const inner = issue.errors.at(-1)?.[0];
  return plainMessageOf(inner ?? issue);
}

/** A field's place as messages name it: `images[0].orientation`. */
function pathOf(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? String(part) : `.${String(part)}`;
  }
  return text;
}

/** A caller may name a field as long as its body; the answer need not. */
const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 197)}...` : text);
