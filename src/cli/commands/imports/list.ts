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
      .summary("list the imports that this machine has sent")
      .usage("[flags]")
      .description(
        "List the imports that this machine has sent with the profile in use, the newest first. " +
          "The service has no such list, so it is the one kept here: status is what was last seen, and nothing is asked.",
      ),
  )
    .addHelpText(
      "after",
      examples([
        ["the last 25 imports", "cat imports list"],
        ["how the last one is now", "cat imports get $(cat imports list --limit 1 --json | jq -r .id)"],
      ]),
    )
    .action(async (flags: RawListFlags) => run(app, readListFlags(flags)));

/** Prints what this machine remembers to have sent: to the base URL in use where there is one, else to any. */
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
    await app.io.note(`These are the newest ${grouped(count)}; --all shows all, --limit N more.`);
  }
}

async function baseUrlOf({ globals, context, connection }: App): Promise<string | null> {
  if (globals.mock) return (await connection()).baseUrl;
  const { baseUrlInUse } = await import("../../settings/settings.ts");
  return baseUrlInUse(globals, context.env);
}

function whyNone({ globals }: App, baseUrl: string | null): string {
  if (globals.mock) return "There are none: with --mock nothing is kept from one call to the next.";
  return `No import was sent from this machine${baseUrl === null ? "" : ` to ${baseUrl}`} yet.`;
}
