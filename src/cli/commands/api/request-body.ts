import { basename } from "node:path";
import type { RawRequest } from "../../../client/raw-request.ts";
import type { Operation } from "../../../contract/operation.ts";
import { multipartForm } from "../../../http/multipart.ts";
import type { Context } from "../../context/context.ts";
import { UsageError } from "../../context/errors.ts";
import { readBytes } from "../../files/read-bytes.ts";
import { rejectAddress } from "../../flags/local-path.ts";
import { type FieldValue, fieldOf, setField, typedValue } from "./fields.ts";

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
  if (file === "") {
    throw new UsageError("the file name is empty", {
      param: "--input",
      hint: "Choose a file, or - for standard input.",
    });
  }
  if (file === "-" && stdin.isTTY) {
    throw new UsageError("no input", {
      param: "--input",
      hint: "Choose a file, or send the body to standard input.",
    });
  }
  return readBytes(
    file,
    { stdin, cwd },
    {
      bytes: mostBytes,
      shown: "64 MB",
      param: "--input",
      hint: "The service accepts 10 MB at most.",
    },
  );
}
