import type { Client } from "../../../client/client.ts";
import { CatError } from "../../../errors.ts";
import { sentGenerations } from "../../../flows/generate/generation.ts";
import { importKind } from "../../../flows/import/import-input.ts";
import type { State } from "../../../state/state.ts";
import { UsageError } from "../../context/errors.ts";
import type { Job } from "./jobs.ts";
import type { Session } from "./session.ts";

/** Tasks read for one page. */
const mostRead = 500;

interface Asked {
  readonly run: string;
  readonly status?: "pending" | "succeeded" | "partial" | "failed" | "queued" | "running" | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface Rows {
  readonly rows: readonly unknown[];
  readonly next_cursor: string | null;
}

/** A page of the problems of a check, the rows of an import, or the tasks of a generation. */
export async function runRows(asked: Asked, { app, jobs, options }: Session): Promise<Rows> {
  const job = jobs.find(asked.run);
  if (job !== undefined && !job.hasRun) {
    if (asked.status === undefined) return pageOf(listed(keptResults(job), "problems"), asked);
    throw new UsageError("problems have no status", { param: "status", hint: "Remove it." });
  }
  const state = await app.state();
  const id = job?.id ?? state.sentJobs.find(asked.run)?.runId ?? asked.run;
  const found = state.runList.get(id);
  if (found === null)
    throw new CatError(`no run ${JSON.stringify(asked.run)} on this machine`, {
      type: "not_found",
      code: "run_not_found",
      hint: "Use the run of a start tool.",
    });
  const client = await app.client();
  if (found.kind === importKind) return importedRows(asked, id, state, client, options);
  const sent = [...sentGenerations(state, id).values()].flatMap(({ taskId, generation: { line } }) =>
    taskId === null ? [] : { line, taskId },
  );
  // With those that existed before the run, which only its output has.
  const all = listed(job?.results ?? [], "tasks") as { line: number; id: string }[];
  const tasks = all.map(({ line, id: taskId }) => ({ line, taskId }));
  return taskRows(tasks.length > 0 ? tasks : sent, asked, async ({ line, taskId }) => ({
    line,
    ...(await client.tasks.get({ task_id: taskId }, options)),
  }));
}

/** Only the service knows the status of a task: reads until one matches, so that pages are not empty. */
async function taskRows<Sent, Row extends { status: string }>(
  tasks: readonly Sent[],
  asked: Asked,
  read: (task: Sent) => Promise<Row>,
): Promise<Rows> {
  const isAsked = ({ status }: Row) => (asked.status ?? status) === status;
  let { cursor } = asked;
  for (let done = 0; ; ) {
    const page = pageOf(tasks, { ...asked, cursor });
    const rows = (await Promise.all(page.rows.map(read))).filter(isAsked);
    done += page.rows.length;
    if (rows.length > 0 || page.next_cursor === null || done >= mostRead)
      return { rows, next_cursor: page.next_cursor };
    cursor = page.next_cursor;
  }
}

/** The entries of a list in the summaries that a command printed. */
const listed = (results: readonly unknown[], name: "problems" | "tasks"): readonly unknown[] =>
  results.flatMap((result) => {
    const list = (result as Record<string, unknown> | null)?.[name];
    return Array.isArray(list) ? list : [];
  });

/** The summaries that a command printed. Throws a CatError if they were not kept. */
function keptResults({ exit, results }: Job): readonly unknown[] {
  if (results === null)
    throw exit === null
      ? new CatError("the run has no rows yet", {
          type: "conflict",
          code: "run_not_ended",
          hint: "Wait for it with run_status, then use the tool again.",
        })
      : new CatError("the file has too many problems to list", {
          type: "input",
          code: "too_many_problems",
          hint: "Check a part of the file, or run cat import FILE --dry-run in a terminal.",
        });
  return results;
}

function pageOf<Row>(
  all: readonly Row[],
  { cursor, limit }: Asked,
): { rows: readonly Row[]; next_cursor: string | null } {
  const start = Number(cursor ?? 0);
  if (!Number.isSafeInteger(start) || start < 0) throw invalidCursor();
  const end = start + limit;
  return { rows: all.slice(start, end), next_cursor: end < all.length ? String(end) : null };
}

/** A run has sent several imports; the cursor names the one to read, and the place in it. */
async function importedRows(
  { status, cursor, limit }: Asked,
  run: string,
  { sentJobs }: State,
  client: Client,
  options: Session["options"],
): Promise<Rows> {
  const ids = [...sentJobs.list(importKind, null)]
    .flatMap(({ id, runId }) => (runId === run ? id : []))
    .reverse();
  if (ids.length === 0) return { rows: [], next_cursor: null };
  const [id = "", within] = cursor?.split(" ") ?? [ids[0]!];
  const at = ids.indexOf(id);
  if (at === -1) throw invalidCursor();
  const query = {
    import_id: id,
    limit,
    ...(status && { status: status as "failed" }),
    ...(within && { cursor: within }),
  };
  const { data, next_cursor } = await client.imports.rows(query, options);
  const lines = sentJobs.lines(id);
  const next = next_cursor !== null ? `${id} ${next_cursor}` : (ids[at + 1] ?? null);
  return { rows: data.map((row) => ({ file_line: lines?.[row.line - 1], ...row })), next_cursor: next };
}

const invalidCursor = (): CatError =>
  new CatError("invalid cursor", {
    type: "input",
    code: "invalid_cursor",
    param: "cursor",
    hint: "Use the next_cursor of the page before.",
  });
