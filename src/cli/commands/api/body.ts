import { basename } from "node:path";
import type { RawRequest } from "../../../client/exchanges.ts";
import { jsonType } from "../../../client/request.ts";
import type { ClientOperation } from "../../../contract/client-operations.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { multipartForm } from "../../../http/send.ts";
import { DeepJsonError, isObject, parseJson } from "../../../json.ts";
import { decodedText, markedEncoding } from "../../../text.ts";
import type { Context } from "../../context/context.ts";
import { UsageError } from "../../context/errors.ts";
import { readBytes } from "../../files/read-bytes.ts";
import { rejectAddress } from "../../flags/local-path.ts";
import { malformed } from "./target.ts";

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

/** The body: `--input`, JSON of fields, or a form of one file, typed by the operation. Throws UsageError. */
export async function requestBody(
  flags: BodyFlags,
  operation: ClientOperation | null,
  source: Source,
): Promise<Body> {
  const isForm = operation?.body.includes("multipart/form-data") ?? false;
  if (flags.input !== undefined) {
    const bytes = await readInput(flags.input, source);
    return isForm ? form(flags.input, bytes) : textOrBytes(flags.input, bytes, operation);
  }
  if (flags.fields.length === 0) return null;
  const fields = flags.fields.map(({ flag, text }) => parseField(flag, text));
  for (const { file } of fields) if (file !== null) rejectAddress(file, "@FILE");
  const [{ file, parts }] = fields as [Field];
  if (isForm && file !== null && parts[0] === "file" && fields.length === 1)
    return form(file, await readInput(file, source));
  const object: Tree = Object.create(null);
  for (const field of fields)
    setField(object, field, field.file === null ? field.value : await readText(field.file, source));
  if (isForm) {
    throw new UsageError("this request takes one file", {
      code: "invalid_argument",
      param: "-F",
      hint: "Use -F file=@FILE or --input FILE.",
    });
  }
  return { contentType: typeOfJson(operation), bytes: Buffer.from(JSON.stringify(object)) };
}

function form(file: string, bytes: Uint8Array): Body {
  const { contentType, body } = multipartForm("file", {
    bytes,
    filename: file === "-" ? "stdin" : basename(file),
  });
  return { contentType, bytes: body };
}

/** `application/json`, or the JSON type of the operation. */
const typeOfJson = (operation: ClientOperation | null): string =>
  (operation === null ? undefined : jsonType(operation)) ?? "application/json";

/** JSON and rows of a file, in UTF-8 as the service reads it; any other bytes as they are. */
function textOrBytes(file: string, bytes: Uint8Array, operation: ClientOperation | null): Body {
  const text = decodedText(bytes);
  const contentType = detectContentType(file, text, operation);
  const isText = contentType !== "application/octet-stream" && markedEncoding(bytes) !== null;
  return { contentType, bytes: isText ? Buffer.from(text) : bytes };
}

function detectContentType(file: string, text: string, operation: ClientOperation | null): string {
  // A single line is JSON as well, so only the name says that it is a row.
  const takesRows = operation === null || operation.body.includes("application/x-ndjson");
  const isRows = takesRows && /\.(?:ndjson|jsonl)$/i.test(file);
  if (!isRows && isJson(text, file)) return typeOfJson(operation);
  const lines = [...text.split("\n").entries()].filter(([, line]) => line.trim() !== "");
  const areJson = lines.every(([index, line]) => isJson(line, file, index));
  if (isRows || (lines.length > 1 && areJson)) return "application/x-ndjson";
  // The service explains what is wrong with a body that should be JSON.
  return operation === null || operation.body.length === 0
    ? "application/octet-stream"
    : typeOfJson(operation);
}

/** Whether a text of the file is JSON. Throws InputError for one that is nested too deeply. */
function isJson(text: string, file: string, linesBefore = 0): boolean {
  try {
    parseJson(text);
    return true;
  } catch (error) {
    if (!(error instanceof DeepJsonError)) return false;
    const place = `${file === "-" ? "standard input" : file}:${linesBefore + error.line}`;
    throw new InputError(
      `${place}: ${error.message}`,
      "invalid_json",
      "Nothing was sent. Choose another file.",
    );
  }
}

async function readText(file: string, source: Source): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readInput(file, source));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${file === "-" ? "standard input" : file} is not UTF-8 text`, {
      code: "invalid_argument",
      param: "-F",
      hint: "A JSON field holds text. To upload a photo: cat api POST /images -F file=@FILE",
    });
  }
}

async function readInput(file: string, { stdin, cwd }: Source): Promise<Uint8Array> {
  const missing = (message: string, hint: string) => new UsageError(message, { param: "--input", hint });
  if (file === "") throw missing("the file name is empty", "Choose a file, or - for standard input.");
  if (file === "-" && stdin.isTTY)
    throw missing("no input", "Choose a file, or send the body to standard input.");
  const hint = "The service accepts 10 MB at most.";
  return readBytes(file, { stdin, cwd }, { bytes: mostBytes, shown: "64 MB", param: "--input", hint });
}

type FieldValue = string | number | boolean | null;

/** A list or an object of the body; both are filled by key. */
type Tree = Record<string, unknown>;

/** The most parts of a name: the body would be nested too deeply to be written. */
const mostParts = 100;

/** A field of `-F` or `-f`: the parts of its name, and its value. */
interface Field {
  /** A number selects an entry of a list; `[]` adds one. */
  readonly parts: readonly (string | number)[];
  readonly value: FieldValue;
  /** The file of `-F name=@FILE`; null for a value. */
  readonly file: string | null;
}

/** Parses `name=value`; names are dotted: `images[].image_id`, `inputs.0.background`. Throws UsageError. */
function parseField(flag: string, text: string): Field {
  const at = text.indexOf("=");
  if (at < 1) throw malformed(flag, text);
  const name = text.slice(0, at);
  const parts = name
    .split(".")
    .flatMap(withLists)
    .map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : part));
  if (typeof parts[0] !== "string" || parts[0] === "[]" || parts.includes("") || parts.length > mostParts) {
    throw new UsageError(`invalid name ${JSON.stringify(name)} for ${flag}`, {
      code: "invalid_argument",
      param: flag,
      hint: "Use names such as name, size.width or images[].image_id.",
    });
  }
  const value = text.slice(at + 1);
  const file = flag === "-F" && value.startsWith("@") ? value.slice(1) : null;
  return { parts, file, value: flag === "-F" ? typedValue(value) : value };
}

/** `images[]` as a name and a list. */
function withLists(part: string): string[] {
  let end = part.length;
  while (end > 2 && part.endsWith("[]", end)) end -= 2;
  return [part.slice(0, end), ...Array<string>((part.length - end) / 2).fill("[]")];
}

/** The JSON value of `-F`: numbers, true, false and null by their form; else text. */
function typedValue(text: string): FieldValue {
  if (/^(?:true|false|null)$/.test(text)) return JSON.parse(text);
  // A number that JSON would print differently, such as 007 or 1.0, is probably a code: text keeps all of it.
  return /^-?\d/.test(text) && String(Number(text)) === text ? Number(text) : text;
}

/** Puts a value into a JSON object. Throws UsageError if an earlier field has another shape. */
function setField(object: Tree, { parts }: Field, value: FieldValue): void {
  let at = object;
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    const key = part === "[]" ? String(indexIn(at as unknown as unknown[], next)) : part;
    const isList = next === "[]" || typeof next === "number";
    const child = next === undefined ? value : (at[key] ?? (isList ? [] : Object.create(null)));
    const isTree = (thing: unknown) => typeof thing === "object" && thing !== null;
    if (next === undefined ? isTree(at[key]) : !isTree(child) || Array.isArray(child) !== isList) {
      throw new UsageError(
        `the field ${parts.join(".").replaceAll(".[]", "[]")} does not fit an earlier one`,
        {
          code: "invalid_argument",
          param: "-F",
          hint: "A name can hold one value, a list, or other names.",
        },
      );
    }
    at[key] = child;
    at = child as Tree;
  }
}

/** `[]` continues the last entry of a list while it lacks the next name, as `gh api` does. */
function indexIn(list: readonly unknown[], next: string | number | undefined): number {
  const last = list.at(-1);
  const isOpen = isObject(last) && typeof next === "string" && next !== "[]" && !(next in last);
  return isOpen ? list.length - 1 : list.length;
}
