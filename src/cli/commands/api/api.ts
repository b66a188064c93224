import { Argument, type Command, InvalidArgumentError } from "commander";
import { ownHeaders } from "../../../client/own-headers.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command } from "../../flags/command.ts";
import { conflict, either } from "../../flags/usage-error.ts";
import { several } from "../../flags/values.ts";
import type { ApiInput } from "./run.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof methods)[number];

interface ApiFlags {
  header?: Record<string, string>;
  idempotencyKey?: string;
  query?: string[];
  input?: string;
  paginate?: true;
  include?: true;
}

export function apiCommand(app: App): Command {
  const fields: ApiInput["fields"][number][] = [];
  const collect = (flag: "-F" | "-f") => (text: string) => void fields.push({ flag, text });
  return command("api", {
    usage: "[METHOD] PATH [flags]",
    about:
      "Send any request to the service and print the response. Requests are retried, paced and get an idempotency key, " +
      "as in all other commands. METHOD is GET by default, and POST with fields or --input.\n\n" +
      "PATH works with and without /v1. For the requests of the service, see GET /openapi.json of cat serve --mock.",
    examples: [
      ["view a product", "cat api /products/ID"],
      ["change a field", 'cat api PATCH /products/ID -F name="Linen dress"'],
      [
        "attach an uploaded photo",
        "cat api POST /products/ID/images -F 'images[].image_id=ID' -F 'images[].orientation=front'",
      ],
      ["print the ID of every product", "cat api /products --paginate | jq -r .id"],
      ["leave 10 credits on the mock server", "cat api /_mock/account -F credits=10"],
    ],
  })
    .addArgument(methodArgument())
    .argument("[PATH]", "path of the request, e.g. /products/ID")
    .option(
      "-F, --field <NAME=VALUE>",
      "field of a JSON body: text, a number, true, false, null or @FILE; repeatable",
      collect("-F"),
    )
    .option(
      "-f, --raw-field <NAME=TEXT>",
      "field of a JSON body that is always text; repeatable",
      collect("-f"),
    )
    .option("--query <NAME=VALUE>", "query parameter; repeatable", several)
    .option("-H, --header <NAME:VALUE>", "header of the request; repeatable", addHeader)
    .option(
      "--idempotency-key <KEY>",
      "key under which the service carries out the request once (default: a new one)",
      idempotencyKey,
    )
    .option("--input <FILE>", "file with the complete body, or - for standard input")
    .option("--paginate", "print all entries of a list, one JSON object per line")
    .option("--include", "print the status and the headers as well")
    .action(async (first: string | undefined, second: string | undefined, flags: ApiFlags) => {
      const { query = [], input, paginate = false, include = false, header = {} } = flags;
      const hasBody = fields.length > 0 || input !== undefined;
      const { method, path } = toRequest(first, second, hasBody ? "POST" : "GET");
      if (input !== undefined && fields.length > 0) throw conflict("--input", "--field");
      if (paginate && include) throw conflict("--paginate", "--include");
      const { runApi } = await import("./run.ts");
      const key = flags.idempotencyKey;
      await runApi(app, { method, path, fields, query, input, paginate, include, headers: header, key });
    });
}

/** METHOD or, without one, PATH: the first word of both. */
const methodArgument = (): Argument =>
  Object.assign(new Argument("[METHOD]", "HTTP method"), { argChoices: [...methods] });

/** The method and the path of a command line. Throws UsageError. */
function toRequest(
  first: string | undefined,
  second: string | undefined,
  usual: Method,
): { method: Method; path: string } {
  if (first === undefined) throw missingPath("");
  const method = methods.find((name) => name === first.toUpperCase());
  if (second === undefined) {
    if (method === undefined) return { method: usual, path: first };
    throw missingPath(`${method} `);
  }
  if (method !== undefined) return { method, path: second };
  throw new UsageError(`unknown method ${JSON.stringify(first)}`, {
    code: "invalid_argument",
    param: "METHOD",
    hint: `Use ${either(methods)}, or only the path.`,
  });
}

const missingPath = (method: string): UsageError =>
  new UsageError("missing argument: PATH", {
    code: "missing_argument",
    param: "PATH",
    hint: `For example: cat api ${method}/products`,
  });

/** Collects `-H name:value` by lower-case names. Errors never show the value. */
function addHeader(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name = "", value = ""] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:([\t\x20-\x7e]*)$/.exec(text) ?? [];
  const key = name.toLowerCase();
  if (key === "") throw new InvalidArgumentError("use NAME:VALUE with printable ASCII characters");
  if (key === "authorization")
    throw new InvalidArgumentError("the API key comes from cat login or CAT_API_KEY");
  if (key === "idempotency-key") throw new InvalidArgumentError("use --idempotency-key KEY");
  if (ownHeaders.has(key)) throw new InvalidArgumentError(`${key} is set by the program`);
  return { ...earlier, [key]: value.trim() };
}

/** A key as the service accepts it (Cross-cutting rule 1). */
function idempotencyKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError("use 1 to 255 printable ASCII characters without spaces");
}
