import { resolve } from "node:path";
import { fileStart } from "../../../flows/files/disk.ts";
import { OutputFile } from "../../../flows/files/output-file.ts";
import { type PlanSummary, planFile } from "../../../flows/import/change-plan.ts";
import type { ImportDeps } from "../../../flows/import/import-input.ts";
import { tooManyChanges } from "../../../flows/import/plan.ts";
import type { App } from "../../app/app.ts";
import { type FlowHost, newRunId, runFlow } from "../../app/run-flow.ts";
import { ExitCode, UsageError } from "../../context/errors.ts";
import { fileWord } from "../../output/command-words.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { problemLists, rejection, reportConversions } from "./check-report.ts";
import type { ImportFlags } from "./flags.ts";
import type { OpenedFile } from "./open-file.ts";
import { PlanLines, PlanView, planVersion } from "./plan-text.ts";
import { memoryOf } from "./remembered.ts";

/** Plans the import of a file: prints what would change at the service, and writes the plan to a file. */
export async function planRun(
  app: App,
  opened: readonly OpenedFile[],
  found: FoundProblems | null,
): Promise<void> {
  app.context.keepHeapSmall?.();
  const [{ flags, file, localPhotos, converter }] = opened as [OpenedFile];
  const out = typeof flags.plan === "string" ? flags.plan : null;
  if (out !== null) await rejectOtherFile(app, out, flags);
  const lists = await problemLists(app, opened, { found });
  const [list] = lists.of;
  const view = new PlanView(app, flags.planFormat ?? "table");
  const lines = new PlanLines();
  const isPrinted = app.io.json && out === null;
  let written: OutputFile | undefined;
  const write = async (line: string) => {
    await written?.write(line);
    if (isPrinted) await app.io.data(line);
  };
  const flow = async (host: FlowHost) => {
    const deps: ImportDeps = {
      ...host,
      runId: newRunId(app.context.clock.now()),
      targets: () => Promise.reject(new Error("a plan writes no rows")),
      memory: () => memoryOf(app, flags.ledger),
      ask: undefined,
      onProblem: list!.add,
      onChecked: async (check) => {
        await list!.end({ ...check, converted: converter?.count });
        await reportConversions(app, converter, host.onProgress)();
      },
    };
    return planFile(
      { input: { ...flags, file, localPhotos }, deps },
      async ({ id, identity }, { service }) => {
        if (out !== null)
          written = await OutputFile.begin(resolve(app.context.cwd, out), true, `${id}.plan`, 0o600);
        await write(
          lines.head({
            plan: planVersion,
            id,
            identity,
            created_at: new Date(app.context.clock.now()).toISOString(),
            file: file.source.name,
            file_sha256: file.source.digest!,
            base_url: service.baseUrl,
            account: service.keyFingerprint,
            flags: flags.typed,
          }),
        );
      },
      async (row) => {
        await write(lines.row(row));
        view.add(row);
      },
    );
  };
  let summary: PlanSummary;
  try {
    const { check, plan } = await runFlow(app, flow);
    if (plan === null) {
      await lists.end([check]);
      throw rejection(opened, [check], () => true);
    }
    summary = plan.summary;
    await write(lines.end(summary));
  } catch (error) {
    await written?.discard();
    throw error;
  }
  await written?.commit();
  if (!app.io.json) await view.end(summary);
  else if (out !== null) await app.io.jsonData({ ...summary, plan_file: out });
  const isEmpty = summary.total === summary.invalid + summary.unchanged;
  if (out !== null && !isEmpty) {
    const pipe = file.source.path === null ? "pipe the same rows to" : "run";
    await app.io.note(`To apply it, ${pipe}: cat import --apply ${fileWord(out)}`);
  }
  if (summary.fail + summary.invalid > 0) app.exit = ExitCode.partial;
  const excess = tooManyChanges(
    summary.total - summary.invalid - summary.unchanged,
    summary,
    flags.maxChanges,
  );
  if (excess !== null) throw excess;
}

/** Rejects an output that exists and is not a plan: a file to import may have been meant. Throws UsageError. */
async function rejectOtherFile(app: App, out: string, { file }: ImportFlags): Promise<void> {
  const path = resolve(app.context.cwd, out);
  const hint = "Choose another file, for example --plan plan.ndjson.";
  if (out.trim() === "" || out === "-")
    throw new UsageError(`cannot use --plan ${JSON.stringify(out)}`, { param: "--plan", hint });
  const none = ({ code }: NodeJS.ErrnoException) => (code === "ENOENT" ? null : Buffer.alloc(0));
  const start = await fileStart(path, planStart.length).catch(none);
  const isInput = file !== "-" && path === resolve(app.context.cwd, file);
  if (start === null || (!isInput && start.toString("latin1") === planStart)) return;
  throw new UsageError(`cannot write --plan ${out}: the file exists and is not a plan`, {
    param: "--plan",
    hint,
  });
}

/** How a plan begins. */
const planStart = '{"plan":';
