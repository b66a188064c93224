import { randomUUID } from "node:crypto";
import { exportLive, type LiveResult, type RowSink } from "../../../flows/export/live/export-live.ts";
import { rowFormat } from "../../../flows/export/live/row-format.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/run-id.ts";
import { counted } from "../../output/numbers.ts";
import { visibleInCell, visibleInJson } from "../../output/visible.ts";
import type { LiveInput } from "./live-flags.ts";

/** Writes the current rows to a file or to standard output. Throws what stopped it. */
export async function exportLiveRows(app: App, input: LiveInput): Promise<void> {
  const { clock, interrupt } = app.context;
  const began = clock.now();
  const runId = newRunId(began, randomUUID());
  const path = input.out === null ? null : await (await import("./out-file.ts")).checkOutFile(app, input.out);
  const client = await app.client();
  const sink = path === null ? stdoutSink(app) : await fileSink(app, path, runId);
  // Rows that scroll by show the progress themselves.
  const progress = path === null && app.context.stdout.isTTY ? null : await app.io.progress();
  const format = rowFormat(input.format, { json: visibleInJson, cell: visibleInCell });
  let result: LiveResult;
  try {
    result = await exportLive({ roles: input.roles, since: null }, format, {
      client,
      clock,
      signal: interrupt,
      sink,
      onProgress: (event) => progress?.update(event),
    });
  } finally {
    progress?.end();
  }
  await report(app, input, { runId, path, result, duration_ms: clock.now() - began });
}

const stdoutSink = (app: App): RowSink => ({
  write: (text) => app.io.data(text),
  commit: async () => {},
  discard: async () => {},
});

/** A file that appears when it is complete; what a second interrupt leaves is removed. */
async function fileSink(app: App, path: string, runId: string): Promise<RowSink> {
  const { pid, isRunning } = app.context;
  const [{ OutputFile, whereLinksLead }, { unfinishedName }] = await Promise.all([
    import("../../../flows/outputs/output-file.ts"),
    import("../../../flows/outputs/stale-parts.ts"),
  ]);
  const name = await unfinishedName(await whereLinksLead(path), { pid, runId, isRunning });
  const file = await OutputFile.begin(path, true, name);
  app.onClose(app.context.onStop(() => void file.discardAtOnce()));
  return {
    write: (text) => file.write(app.secrets.mask(text)),
    commit: () => file.commit(),
    discard: () => file.discard(),
  };
}

interface Ended {
  runId: string;
  path: string | null;
  result: LiveResult;
  duration_ms: number;
}

/** The summary: for people on stderr; with --json and a file, one object on stdout. */
async function report(app: App, { out }: LiveInput, ended: Ended): Promise<void> {
  const { products, assets, deleted } = ended.result;
  const { duration_ms, path } = ended;
  if (app.io.json) {
    // With rows on stdout, the summary would be one of them.
    if (path === null) return;
    const { stat } = await import("node:fs/promises");
    const files = [{ path: out, bytes: (await stat(path)).size }];
    return app.io.jsonData({ run_id: ended.runId, products, assets, files, jobs: [], duration_ms });
  }
  const what = `${counted(products, "product")} with ${counted(assets, "image")}`;
  const gone = deleted === 0 ? "" : ` (${counted(deleted, "product")} deleted)`;
  const where = out === null ? "" : ` to ${app.io.visible(out)}`;
  await app.io.note(`Exported ${what}${gone}${where} in ${(duration_ms / 1000).toFixed(1)} s.`);
}
