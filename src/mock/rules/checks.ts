import type * as z from "zod";
import { invalid } from "../refusal.ts";

/** `value` as the schema reads it, or 400 `invalid_request` that names the first field at fault. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { message, param } = problemsOf(parsed.error.issues[0]!, what)[0]!;
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
  if (at === "") return [{ message: `the ${what} is not right: ${issue.message}` }];
  const message = messageOf(issue);
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
};

/** The commonest cases in our own words; a message that the contract gives stays. */
function plainMessageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && issue.message.startsWith("Invalid input")) {
    if (issue.message.endsWith("received undefined")) return "is missing";
    return `must be ${kinds[issue.expected] ?? issue.expected}`;
  }
  if (issue.code === "too_small" && issue.origin === "array")
    return `must have at least ${issue.minimum} ${issue.minimum === 1 ? "entry" : "entries"}`;
  if (issue.code === "too_big" && issue.origin === "array")
    return `must have at most ${issue.maximum} entries`;
  return issue.message;
}

/** The message that says most: of a choice between forms, that of the last form. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union") return plainMessageOf(issue);
  const inner = issue.errors.at(-1)?.[0];
  return inner === undefined ? issue.message : plainMessageOf(inner);
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
