import { UsageError } from "../../context/errors.ts";
import { malformed } from "./target.ts";

/** A value of a JSON body, or the file of a form. */
export type FieldValue = string | number | boolean | null;
type Tree = { [name: string]: unknown };

/** The part of a name that adds an entry to a list. */
const added: unique symbol = Symbol("[]");

/** A field of `-F` or `-f`: the parts of its name, and its value as typed. */
export interface Field {
  /** A number selects an entry of a list; `[]` adds one. */
  readonly parts: readonly (string | number | typeof added)[];
  readonly value: string;
}

/** Parses `name=value`; names are dotted: `images[].image_id`, `inputs.0.background`. Throws UsageError. */
export function fieldOf(flag: string, text: string): Field {
  const at = text.indexOf("=");
  if (at < 1) throw malformed(flag, text);
  const parts = text
    .slice(0, at)
    .split(".")
    .flatMap((part): Field["parts"] => {
      const name = part.replace(/(?:\[\])+$/, "");
      const lists = (part.length - name.length) / 2;
      const first = /^\d{1,4}$/.test(name) ? Number(name) : name;
      return [first, ...Array.from({ length: lists }, (): typeof added => added)];
    });
  const [top] = parts;
  if (typeof top !== "string" || parts.includes("")) {
    throw new UsageError(`invalid name ${JSON.stringify(text.slice(0, at))} for ${flag}`, {
      code: "invalid_argument",
      param: flag,
      hint: "Use names such as name, size.width or images[].image_id.",
    });
  }
  return { parts, value: text.slice(at + 1) };
}

/** The value of `-F` in JSON: a number, true, false and null are what they look like; anything else is text. */
export function typedValue(text: string): FieldValue {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null") return null;
  // A number that JSON would print differently, such as 007 or 1.0, is probably a code: text keeps all of it.
  return /^-?\d/.test(text) && String(Number(text)) === text ? Number(text) : text;
}

/** Puts a value into a JSON object. Throws UsageError if an earlier field has another shape. */
export function setField(object: Tree, { parts }: Field, value: FieldValue): void {
  let at: Tree | unknown[] = object;
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    const isLast = index === parts.length - 1;
    const key = keyIn(at, part, parts[index + 1]);
    const there = (at as Tree)[key];
    if (isLast) {
      if (there !== undefined && typeof there === "object" && there !== null) throw clash(parts);
      (at as Tree)[key] = value;
      return;
    }
    const isList = next === added || typeof next === "number";
    const child = there ?? (isList ? [] : Object.create(null));
    if (typeof child !== "object" || child === null || Array.isArray(child) !== isList) throw clash(parts);
    (at as Tree)[key] = child;
    at = child as Tree | unknown[];
  }
}

/** `[]` continues the last entry of a list while it lacks the next name, as `gh api` does. */
function keyIn(
  at: Tree | unknown[],
  part: Field["parts"][number],
  next: Field["parts"][number] | undefined,
): string {
  if (part !== added) return String(part);
  const list = at as unknown[];
  const last = list.at(-1);
  const continues =
    typeof next === "string" &&
    typeof last === "object" &&
    last !== null &&
    !(next in last) &&
    !Array.isArray(last);
  return String(continues ? list.length - 1 : list.length);
}

const clash = (parts: Field["parts"]): UsageError =>
  new UsageError(`the field ${nameOf(parts)} does not fit an earlier one`, {
    code: "invalid_argument",
    param: "-F",
    hint: "A name can hold one value, a list, or other names.",
  });

const nameOf = (parts: Field["parts"]): string =>
  parts
    .map((part) => (part === added ? "[]" : `.${String(part)}`))
    .join("")
    .slice(1);
