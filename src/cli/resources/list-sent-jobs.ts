import type { Command } from "commander";
import { grouped } from "../../flows/words.ts";
import type { SentJob } from "../../state/sent-jobs.ts";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import { type RawListFlags, readLimit, withListFlags } from "../flags/list-flags.ts";
import { readPrintFlags } from "../flags/print-flags.ts";
import type { Column } from "../output/columns.ts";
import { FirstOnes } from "../output/first-ones.ts";
import { namedForm } from "./named-form.ts";

/** Describes the list of one kind of job, which this machine keeps because the service has none. */
export interface SentJobList<Row> {
  /** The kind of its runs, e.g. `import`; the command group is the plural. */
  readonly kind: string;
  /** What was done with the jobs, and the word before the service: `sent` and `to`. */
  readonly verb: string;
  readonly preposition: string;
  readonly listed: (job: SentJob) => Row;
  readonly fields: readonly (keyof Row & string)[];
  /** `manyServices`: whether jobs of several base URLs are listed. */
  readonly columns: (manyServices: boolean) => readonly Column<Row>[];
  readonly examples: Parameters<typeof examples>[0];
}

/** `list` for jobs started from this machine, with the flags of all lists, without a request. */
export const listSentJobs =
  <Row>(list: SentJobList<Row>) =>
  (app: App): Command => {
    const { kind, verb } = list;
    return withListFlags(
      command("list")
        .summary(`list the ${kind}s ${verb} from this machine`)
        .usage("[flags]")
        .description(
          `List the ${kind}s ${verb} from this machine with the current profile, newest first.\n\n` +
            `This machine keeps the list, with the last status that it has seen. For the current status: cat ${kind}s get ID`,
        ),
    )
      .addHelpText("after", examples(list.examples))
      .action(async (flags: RawListFlags) => printSentJobs(app, list, flags));
  };

/** Prints the jobs of the current base URL, or of all if there is none. */
async function printSentJobs<Row>(
  app: App,
  { kind, verb, preposition, listed, fields, columns }: SentJobList<Row>,
  flags: RawListFlags,
): Promise<void> {
  const printing = (manyServices: boolean) => readPrintFlags(flags, namedForm(columns(manyServices), fields));
  // Unknown fields are rejected before anything else.
  printing(false);
  const baseUrl = await baseUrlOf(app);
  const { sentJobs } = await app.state();
  const first = new FirstOnes(sentJobs.list(kind, baseUrl), readLimit(flags));
  async function* rows() {
    for await (const sent of first) yield listed(sent);
  }
  const count = await app.io.show(printing(baseUrl === null), rows());
  if (count === 0) {
    const where = baseUrl === null ? "" : ` ${preposition} ${baseUrl}`;
    const none = app.globals.mock
      ? `No ${kind}s: --mock loses its data after each command.`
      : `No ${kind}s were ${verb} from this machine${where} yet.`;
    await app.io.note(app.io.visible(none));
  } else if (first.isMore) {
    await app.io.note(`Showing the newest ${grouped(count)}. To see more, add --limit N or --all.`);
  }
}

async function baseUrlOf({ globals, context, connection }: App): Promise<string | null> {
  if (globals.mock) return (await connection()).baseUrl;
  const { baseUrlInUse } = await import("../settings/settings.ts");
  return baseUrlInUse(globals, context.env);
}
