import { Argument, type Command, InvalidArgumentError } from "commander";
import type { App } from "../../app/app.ts";
import { command } from "../../flags/command.ts";
import { conflict } from "../../flags/usage-error.ts";
import { several } from "../../flags/values.ts";
import type { ApiInput } from "./run.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

interface ApiFlags {
  query?: string[];
  input?: string;
  paginate?: true;
  include?: true;
}

/** `cat api` */
export function apiCommand(app: App): Command {
  const fields: ApiInput["fields"][number][] = [];
  const collect = (flag: "-F" | "-f") => (text: string) => void fields.push({ flag, text });
  return command("api", {
    usage: "METHOD PATH [flags]",
    about:
      "Send any request to the service and print the response. Requests are retried, paced and get an idempotency key, " +
      "as in all other commands.\n\n" +
      "PATH works with and without /v1. For the requests of the service, see GET /openapi.json of cat serve --mock.",
    examples: [
      ["view a product", "cat api GET /products/ID"],
      ["change a field", 'cat api PATCH /products/ID -F name="Linen dress"'],
      [
        "attach an uploaded photo",
        "cat api POST /products/ID/images -F 'images[].image_id=ID' -F 'images[].orientation=front'",
      ],
      ["print the ID of every product", "cat api GET /products --paginate | jq -r .id"],
    ],
  })
    .addArgument(methodArgument())
    .argument("<PATH>", "path of the request, e.g. /products/ID")
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
    .option("--input <FILE>", "file with the complete body, or - for standard input")
    .option("--paginate", "print all entries of a list, one JSON object per line")
    .option("--include", "print the status and the headers as well")
    .action(async (method: ApiInput["method"], path: string, flags: ApiFlags) => {
      const { query = [], input, paginate = false, include = false } = flags;
      if (input !== undefined && fields.length > 0) throw conflict("--input", "--field");
      if (paginate && include) throw conflict("--paginate", "--include");
      const { runApi } = await import("./run.ts");
      await runApi(app, { method, path, fields, query, input, paginate, include });
    });
}

/** METHOD, in upper or lower case: `choices` of commander would accept upper case only. */
const methodArgument = (): Argument =>
  Object.assign(new Argument("<METHOD>", "HTTP method").argParser(toMethod), { argChoices: [...methods] });

function toMethod(text: string): ApiInput["method"] {
  const method = methods.find((name) => name === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError("use GET, POST, PUT, PATCH or DELETE");
  return method;
}
