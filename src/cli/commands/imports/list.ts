import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { type ListFlags, type RawListFlags, readListFlags, withListFlags } from "../../flags/list-flags.ts";
import { FirstOnes } from "../../output/first-ones.ts";
import { grouped } from "../../output/numbers.ts";
import { listedImport, sentImportColumns } from "./columns.ts";

/** `cat imports list`: parses the flags; `run` does the work. */
export const listCommand = (app: App, run = listImports): Command =>
  withListFlags(
    command("list")
      .summary("list the imports sent from this machine")
      .usage("[flags]")
      .description(
        "List the imports sent from this machine with the current profile, newest first.\n\n" +
          "This machine keeps the list, with the last status that it has seen. For the current status: cat imports get ID",
      ),
  )
    .addHelpText(
      "after",
      examples([
        ["list the last 25 imports", "cat imports list"],
        [
          "show the current status of the last import",
          "cat imports get $(cat imports list --limit 1 --json | jq -r .id)",
        ],
      ]),
    )
    .action(async (flags: RawListFlags) => run(app, readListFlags(flags)));

/** Prints the imports stored on this machine: of the current base URL, or of all if there is none. */
export async function listImports(app: App, { limit, format }: ListFlags): Promise<void> {
  const baseUrl = await baseUrlOf(app);
  const { sentJobs } = await app.state();
  const first = new FirstOnes(sentJobs.list("import", baseUrl), limit);
  async function* listed() {
    for await (const sent of first) yield listedImport(sent);
  }
  const count = await app.io.show(sentImportColumns(baseUrl === null), listed(), format);
  if (count === 0) await app.io.note(app.io.visible(whyNone(app, baseUrl)));
  else if (first.isMore) {
    await app.io.note(`Showing the newest ${grouped(count)}. To see more, add --limit N or --all.`);
  }
}

async function baseUrlOf({ globals, context, connection }: App): Promise<string | null> {
  if (globals.mock) return (await connection()).baseUrl;
  const { baseUrlInUse } = await import("../../settings/settings.ts");
  return baseUrlInUse(globals, context.env);
}

function whyNone({ globals }: App, baseUrl: string | null): string {
  if (globals.mock) return "No imports: --mock loses its data after each command.";
  return `No imports were sent from this machine${baseUrl === null ? "" : ` to ${baseUrl}`} yet.`;
}
