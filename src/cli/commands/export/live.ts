import { randomUUID } from "node:crypto";
import { exportLive, type LiveResult } from "../../../flows/export/live/export-live.ts";
import { LastExport } from "../../../flows/export/live/last-export.ts";
import { rowFormat } from "../../../flows/export/live/row-format.ts";
import { guardedCell } from "../../../flows/outputs/cells.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/run-id.ts";
import { LearnedValues } from "../../completion/learned-values.ts";
import { visibleInCell, visibleInJson } from "../../output/visible.ts";
import type { LiveInput } from "./live-flags.ts";
import { reportLive } from "./live-report.ts";
import { withRoleHint } from "./role-hint.ts";
import { fileSink, stdoutSink } from "./row-sinks.ts";

/** Writes the current rows to a file or to standard output. Throws what stopped it. */
export async function exportLiveRows(app: App, input: LiveInput): Promise<void> {
  const { clock, interrupt, stdout } = app.context;
  const { out, roles, format, formulaGuard } = input;
  const began = clock.now();
  const runId = newRunId(began, randomUUID());
  const file =
    out === null ? null : await (await import("./out-file.ts")).checkOutFile(app, out, { hasStdout: true });
  const last = input.since === "last" ? await lastExport(app, input) : null;
  const client = await app.client();
  const service = { client, signal: interrupt };
  const since =
    input.since === "last"
      ? ((await last?.startedAt(service, (sentence) => app.io.note(sentence))) ?? null)
      : input.since;
  const path = file?.path ?? null;
  const sink = file === null ? stdoutSink(app) : await fileSink(app, file, runId);
  // Rows on a terminal show the progress themselves. What reads them from a pipe may write to the same terminal as a bar.
  const progress = path === null && stdout.isTTY ? null : await app.io.progress({ lines: path === null });
  const selection = { roles, since: since === null ? null : Math.max(0, since - input.marginMs) };
  const cell = formulaGuard ? (text: string) => guardedCell(visibleInCell(text)) : visibleInCell;
  const learned = new LearnedValues();
  let result: LiveResult;
  try {
    result = await exportLive(selection, rowFormat(format, { json: visibleInJson, cell }), {
      ...service,
      clock,
      sink,
      onProgress: (event) => progress?.update(event),
      onRows: (rows) => learned.addRows(rows),
    });
  } catch (error) {
    throw withRoleHint(error, roles);
  } finally {
    progress?.end();
  }
  last?.record(result.startedAt);
  await learned.keep(app);
  await reportLive(app, { out, path, runId, result, duration_ms: clock.now() - began });
}

async function lastExport(app: App, { roles }: LiveInput): Promise<LastExport> {
  const { serviceOf } = await import("../../app/memory.ts");
  return new LastExport((await app.state()).marks, await serviceOf(app), roles);
}
