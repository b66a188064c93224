import { type Command, InvalidArgumentError } from "commander";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command } from "../../flags/command.ts";
import { either } from "../../flags/usage-error.ts";
import { named, wholeNumber } from "../../flags/values.ts";
import { type McpFlags, type Permission, permissions } from "./permissions.ts";

type RawMcpFlags = Pick<McpFlags, "root"> & Partial<McpFlags>;

/** `cat mcp`: the commands as tools for agents, on standard input and output. */
export const mcpCommand = (app: App): Command =>
  command("mcp", {
    about:
      "Let an agent use your catalogue, by the Model Context Protocol on standard input and output. " +
      "Add this command to the settings of the agent.\n\n" +
      "Without --allow the tools only read. Deleting products and generating images also asks a person each time, " +
      "through the agent's program; --yes agrees in advance.",
    examples: [
      ["read only, with files of this folder", "cat mcp"],
      [
        "also import, and generate at most 50 images per day",
        "cat mcp --root ~/shop --allow writes,generations --max-generations 50",
      ],
      ["try it without an account", "cat mcp --mock --allow writes,generations,deletes"],
    ],
  })
    .option("--allow <KIND,...>", `also allow tools for ${either(permissions)}`, readAllowed)
    .option("--root <DIR>", "the only folder whose files the tools read and write", ".")
    .option(
      "--max-generations <N>",
      "the most images that the tools may generate per day (UTC)",
      wholeNumber({ min: 0 }),
    )
    .action(async ({ maxGenerations = null, allow = new Set(), root }: RawMcpFlags) => {
      const flags: McpFlags = { allow, root, maxGenerations };
      named("--root", flags.root, "Choose a folder.");
      if (app.globals.yes && flags.allow.has("generations") && maxGenerations === null)
        throw new UsageError("--yes with --allow generations needs --max-generations", {
          param: "--max-generations",
          hint: "Add --max-generations N, or remove --yes so that a person is asked each time.",
        });
      const { serveTools, serveWithMock } = await import("./tool-server.ts");
      await (app.globals.mock ? serveWithMock(app) : serveTools(app, flags));
    });

function readAllowed(text: string, earlier: ReadonlySet<Permission> = new Set()): ReadonlySet<Permission> {
  const kinds = text.split(",").map((part) => part.trim());
  const isKnown = (kind: string): kind is Permission => permissions.some((known) => known === kind);
  if (!kinds.every(isKnown)) throw new InvalidArgumentError(`use ${permissions.join(",")}, or some of them`);
  return new Set([...earlier, ...kinds]);
}
