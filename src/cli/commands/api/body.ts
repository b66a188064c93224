import { basename } from "node:path";
import type { RawRequest } from "../../../client/raw-request.ts";
import type { Operation } from "../../../contract/operation.ts";
import { multipartForm } from "../../../http/multipart.ts";
import type { Context } from "../../context/context.ts";
import { UsageError } from "../../context/errors.ts";
import { readBytes } from "../../files/read-bytes.ts";
import { rejectAddress } from "../../flags/local-path.ts";
import { malformed } from "./target.ts";

/** The parts of a body as typed. */
export interface BodyFlags {
  /** `-F name=value` and `-f name=value`, in the order of the command line. */
  readonly fields: readonly { readonly flag: "-F" | "-f"; readonly text: string }[];
  /** `--input`: a file with the body, or `-`. */
  readonly input: string | undefined;
}

/** The longest body that is read, in bytes; the service accepts 10 MB at most. */
const mostBytes = 64 * 1024 * 1024;

type Body = RawRequest["body"];
type Source = Pick<Context, "stdin" | "cwd">;

/**
 * The body of a request: the bytes of `--input`, or JSON made of the fields. The operation, if known, decides the
 * content type; a form for it gets the one file that the flags name. Throws UsageError.
 */
export async function requestBody(
  flags: BodyFlags,
  operation: Operation | null,
  source: Source,
): Promise<Body> {
  const isForm = operation?.body?.["multipart/form-data"] !== undefined;
  if (flags.input !== undefined) {
    const bytes = await bytesOf(flags.input, source);
    return isForm ? form(flags.input, bytes) : { contentType: contentTypeOf(bytes, operation), bytes };
  }
  if (flags.fields.length === 0) return null;
  const object = Object.create(null) as Record<string, unknown>;
  for (const { flag, text } of flags.fields) {
    const field = fieldOf(flag, text);
    const isFile = flag === "-F" && field.value.startsWith("@");
    if (isFile) rejectAddress(field.value.slice(1), "@FILE");
    if (isForm && isFile && field.parts[0] === "file" && flags.fields.length === 1) {
      const file = field.value.slice(1);
      return form(file, await bytesOf(file, source));
    }
    const value: FieldValue = isFile
      ? await textOf(field.value.slice(1), source)
      : flag === "-F"
        ? typedValue(field.value)
        : field.value;
    setField(object, field, value);
  }
  if (isForm) {
    throw new UsageError("this request takes one file", {
      code: "invalid_argument",
      param: "-F",
      hint: "Use -F file=@FILE or --input FILE.",
    });
  }
  return { contentType: jsonTypeOf(operation), bytes: Buffer.from(JSON.stringify(object)) };
}

function form(file: string, bytes: Uint8Array): Body {
  const { contentType, body } = multipartForm("file", {
    bytes,
    filename: file === "-" ? "stdin" : basename(file),
  });
  return { contentType, bytes: body };
}

/** `application/json`, or the JSON type of the operation, e.g. a merge patch. */
const jsonTypeOf = (operation: Operation | null): string =>
  Object.keys(operation?.body ?? {}).find((type) => /\bjson\b/.test(type) && !type.includes("ndjson")) ??
  "application/json";

function contentTypeOf(bytes: Uint8Array, operation: Operation | null): string {
  const text = new TextDecoder().decode(bytes);
  if (isJson(text)) return jsonTypeOf(operation);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > 1 && lines.every(isJson)) return "application/x-ndjson";
  // The service explains what is wrong with a body that should be JSON.
  return operation?.body === undefined ? "application/octet-stream" : jsonTypeOf(operation);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function textOf(file: string, source: Source): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await bytesOf(file, source));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${file === "-" ? "standard input" : file} is not UTF-8 text`, {
      code: "invalid_argument",
      param: "-F",
      hint: "A JSON field holds text. To upload a photo: cat api POST /images -F file=@FILE",
    });
  }
}

async function bytesOf(file: string, { stdin, cwd }: Source): Promise<Uint8Array> {
  const missing = (message: string, hint: string) => new UsageError(message, { param: "--input", hint });
  if (file === "") throw missing("the file name is empty", "Choose a file, or - for standard input.");
  if (file === "-" && stdin.isTTY)
    throw missing("no input", "Choose a file, or send the body to standard input.");
  const hint = "The service accepts 10 MB at most.";
  return readBytes(file, { stdin, cwd }, { bytes: mostBytes, shown: "64 MB", param: "--input", hint });
}

/** A value of a JSON body, or the file of a form. */
type FieldValue = string | number | boolean | null;
type Tree = { [name: string]: unknown };

/** The part of a name that adds an entry to a list. */
const added: unique symbol = Symbol("[]");

/** A field of `-F` or `-f`: the parts of its name, and its value as typed. */
interface Field {
  /** A number selects an entry of a list; `[]` adds one. */
  readonly parts: readonly (string | number | typeof added)[];
  readonly value: string;
}

/** Parses `name=value`; names are dotted: `images[].image_id`, `inputs.0.background`. Throws UsageError. */
function fieldOf(flag: string, text: string): Field {
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
function typedValue(text: string): FieldValue {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null") return null;
  // A number that JSON would print differently, such as 007 or 1.0, is probably a code: text keeps all of it.
  return /^-?\d/.test(text) && String(Number(text)) === text ? Number(text) : text;
}

/** Puts a value into a JSON object. Throws UsageError if an earlier field has another shape. */
function setField(object: Tree, { parts }: Field, value: FieldValue): void {
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
