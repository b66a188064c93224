import { Argument, type Command, InvalidArgumentError } from "commander";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import type { ApiInput } from "./api/run.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

interface RawApiFlags {
  query?: string[];
  input?: string;
  paginate?: true;
  include?: true;
}

/** `cat api`: parses the flags; `run` does the work. */
export function apiCommand(app: App, run?: (app: App, input: ApiInput) => Promise<void>): Command {
  const fields: ApiInput["fields"][number][] = [];
  const collect = (flag: "-F" | "-f") => (text: string) => void fields.push({ flag, text });
  return command("api")
    .usage("METHOD PATH [flags]")
    .description(
      "Send any request to the service and print the response. Requests are retried, paced and get an idempotency key, " +
        "as in all other commands.\n\n" +
        "PATH works with and without /v1. For the requests of the service, see GET /openapi.json of cat serve --mock.",
    )
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
    .option("--query <NAME=VALUE>", "query parameter; repeatable", (text: string, earlier: string[] = []) => [
      ...earlier,
      text,
    ])
    .option("--input <FILE>", "file with the complete body, or - for standard input")
    .option("--paginate", "print all entries of a list, one JSON object per line")
    .option("--include", "print the status and the headers as well")
    .addHelpText(
      "after",
      examples([
        ["view a product", "cat api GET /products/ID"],
        ["change a field", 'cat api PATCH /products/ID -F name="Linen dress"'],
        [
          "attach an uploaded photo",
          "cat api POST /products/ID/images -F 'images[].image_id=ID' -F 'images[].orientation=front'",
        ],
        ["print the ID of every product", "cat api GET /products --paginate | jq -r .id"],
      ]),
    )
    .action(async (method: ApiInput["method"], path: string, flags: RawApiFlags, made: Command) => {
      const { query = [], input, paginate = false, include = false } = flags;
      checkTogether(made, { input, paginate, include, hasFields: fields.length > 0 });
      const { runApi } = await import("./api/run.ts");
      await (run ?? runApi)(app, { method, path, fields, query, input, paginate, include });
    });
}

/** METHOD, in upper or lower case: `choices` of commander would accept upper case only. */
const methodArgument = (): Argument =>
  Object.assign(new Argument("<METHOD>", "HTTP method").argParser(methodOf), { argChoices: [...methods] });

function methodOf(text: string): ApiInput["method"] {
  const method = methods.find((one) => one === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError("use GET, POST, PUT, PATCH or DELETE");
  return method;
}

/** Commander's own conflicts know no repeatable flags with a value that is collected elsewhere. */
function checkTogether(
  made: Command,
  given: { input: string | undefined; paginate: boolean; include: boolean; hasFields: boolean },
): void {
  const conflict = (one: string, other: string) =>
    made.error(`error: option '${one}' cannot be used with option '${other}'`, {
      code: "commander.conflictingOption",
    });
  if (given.input !== undefined && given.hasFields) conflict("--input", "--field");
  if (given.paginate && given.include) conflict("--paginate", "--include");
}
