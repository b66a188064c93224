import type { Command } from "commander";
import { grouped } from "../../flows/words.ts";
import type { SentJob } from "../../state/sent-jobs.ts";
import { StateError } from "../../state/state-error.ts";
import type { App } from "../app/app.ts";
import { openToRead } from "../app/profile-state.ts";
import { type CommandTexts, command } from "../flags/command.ts";
import {
  type RawListFlags,
  type ResourceForm,
  readLimit,
  readPrintFlags,
  withListFlags,
} from "../flags/print-flags.ts";
import { named } from "../flags/values.ts";
import { whole } from "../output/table.ts";
import { baseUrlInUse } from "../settings/settings.ts";
import { namedForm } from "./forms.ts";
import { FirstOnes, singly } from "./list-resource.ts";

/** Describes the list of one kind of job, which this machine keeps because the service has none. */
export interface SentJobList extends Pick<CommandTexts, "examples"> {
  /** The kind of its runs, e.g. `import`; the command group is the plural. */
  readonly kind: string;
  /** The verb for the jobs, and the word before the service: `sent` and `to`. */
  readonly verb: string;
  readonly preposition: string;
  /** The fields with the number of rows, and with the variant of a job. */
  readonly rows: string;
  readonly variant: string;
  /** Whether its runs can have a ledger of their own. */
  readonly hasLedger?: boolean;
}

/** A printed job. `at`: when the service accepted it, by the local clock; RFC 3339 in UTC. */
type ListedJob = Readonly<Record<string, string | number>>;

/** `list` for jobs started from this machine, with the flags of all lists, without a request. */
export function listSentJobs(app: App, list: SentJobList): Command {
  const { kind, verb, examples } = list;
  const subcommand = withListFlags(
    command("list", {
      summary: `list the ${kind}s ${verb} from this machine`,
      about:
        `List the ${kind}s ${verb} from this machine with the current profile, newest first.\n\n` +
        `This machine keeps the list, with the last status that it has seen. For the current status: cat ${kind}s get ID`,
      examples,
    }),
  );
  if (list.hasLedger)
    subcommand.option("--ledger <FILE>", `list the ${kind}s of a ledger, of all machines that used it`);
  return subcommand.action((flags: RawListFlags & { ledger?: string }) => printSentJobs(app, list, flags));
}

/** Prints the jobs of the current base URL, or of all if there is none. */
async function printSentJobs(
  app: App,
  list: SentJobList,
  flags: RawListFlags & { ledger?: string },
): Promise<void> {
  const { kind, verb, preposition } = list;
  // Unknown fields are rejected before anything else.
  readPrintFlags(flags, sentJobForm(list, false));
  named("--ledger", flags.ledger, "Choose a file.");
  const baseUrl = await knownBaseUrl(app);
  const { sentJobs } = await openToRead(app, flags.ledger);
  const jobs = new FirstOnes(singly(sentJobs.list(kind, baseUrl)), readLimit(flags));
  async function* rows() {
    for await (const page of jobs) yield page.map((job) => toListed(list, job));
  }
  const count = await app.io.showPages(readPrintFlags(flags, sentJobForm(list, baseUrl === null)), rows());
  if (count === 0) {
    const where = baseUrl === null ? "" : ` ${preposition} ${baseUrl}`;
    const none = app.globals.mock
      ? `No ${kind}s: --mock loses its data after each command.`
      : `No ${kind}s were ${verb} from this machine${where} yet.`;
    await app.io.note(app.io.visible(none));
  } else if (jobs.isMore) {
    await app.io.note(`Showing the newest ${grouped(count)}. To see more, add --limit N or --all.`);
  }
}

/** `manyServices` adds the base URL to tables. */
const sentJobForm = ({ rows, variant }: SentJobList, manyServices: boolean): ResourceForm<ListedJob> =>
  namedForm(
    [
      ...["id", "file", rows].map((name) => ({ name, value: (job: ListedJob) => job[name] })),
      { name: variant, value: (job) => job[variant], drop: "first", least: whole },
      { name: "status", value: ({ status }) => status, least: whole },
      // To the minute, in UTC.
      { name: "at", value: ({ at }) => `${String(at).slice(0, 16)}Z`, only: "table", least: whole },
      { name: "at", value: ({ at }) => at, only: "csv" },
      { name: "base_url", value: (job) => job.base_url, ...(manyServices ? {} : { only: "csv" }) },
      { name: "run_id", value: (job) => job.run_id, only: "csv" },
    ],
    ["id", "file", rows, variant, "status", "at", "base_url", "run_id"],
  );

const toListed = (list: SentJobList, job: SentJob): ListedJob => ({
  id: job.id,
  file: job.file,
  [list.rows]: job.rows,
  [list.variant]: job.variant,
  status: job.status,
  at: new Date(job.at).toISOString(),
  base_url: job.baseUrl,
  run_id: job.runId,
});

async function knownBaseUrl({ globals, context, connection }: App): Promise<string | null> {
  if (globals.mock) return (await connection()).baseUrl;
  return baseUrlInUse(globals, context);
}

/** Stores the status of a job started here, for its list. Notes a failure. `noun`: e.g. `import`. */
export const rememberStatus =
  (noun: string) =>
  async (app: App, { id, status }: { readonly id: string; readonly status: string }): Promise<void> => {
    try {
      const { baseUrl } = await app.connection();
      const { sentJobs } = await app.state();
      if (sentJobs.find(id)?.baseUrl === baseUrl) sentJobs.seen(id, status);
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      await app.io.note(app.io.visible(`cat ${noun}s list will not show this status: ${error.message}.`));
    }
  };
