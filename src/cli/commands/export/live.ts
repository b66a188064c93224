import { stat } from "node:fs/promises";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import {
  exportLive,
  LastExport,
  type LiveResult,
  type RowSink,
} from "../../../flows/export/live/export-live.ts";
import { rowFormat } from "../../../flows/export/live/row-format.ts";
import { leftOutText } from "../../../flows/export/reviews.ts";
import { plainCsv, separatedCsv } from "../../../flows/outputs/cells.ts";
import { guardedCell } from "../../../flows/outputs/formulas.ts";
import type { ByteSink } from "../../../flows/outputs/workbook-file.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { identifyService } from "../../app/profile-state.ts";
import { LearnedValues } from "../../completion/learned-values.ts";
import { rejectTerminal } from "../../output/io.ts";
import { visibleInCell, visibleInJson } from "../../output/visible.ts";
import { excelStyle } from "../../settings/csv-style.ts";
import type { LiveInput } from "./flags.ts";
import { openGate } from "./known-decisions.ts";
import { withRoleHint } from "./role-flags.ts";

/** A decision changes no product. */
const changesOnly =
  "Only products that changed since then are exported, not those of which an image was reviewed since. --since last has both.";

/** Writes the current rows to a file or to standard output. Throws what stopped it. */
export async function exportLiveRows(app: App, input: LiveInput): Promise<void> {
  const { clock, interrupt, stdout } = app.context;
  const { roles, format, formulaGuard, excel } = input;
  const began = clock.now();
  const runId = await app.runs.begin("export", input.out ?? "-");
  const target = await openTarget(app, input, runId);
  const gate = await openGate(app, input);
  const last =
    input.since === "last"
      ? new LastExport((await app.state()).marks, await identifyService(app), roles, gate)
      : null;
  const client = await app.client();
  app.runs.starts(runId);
  const service = { client, signal: interrupt };
  if (typeof input.since === "number" && gate.filter !== null) await app.io.note(changesOnly);
  const since =
    input.since === "last"
      ? await last!.startedAt(service, (sentence) => app.io.note(sentence))
      : input.since;
  const sink = await target.begin();
  // Rows on a terminal show the progress. What reads them from a pipe may write to the terminal of a bar.
  const isFile = target.name !== null;
  const progress = !isFile && stdout.isTTY ? null : await app.io.progress({ lines: !isFile });
  const selection = { roles, since: since === null ? null : Math.max(0, since - input.marginMs) };
  const cell = formulaGuard ? (text: string) => guardedCell(visibleInCell(text)) : visibleInCell;
  const csv = format === "csv" ? ((await excelStyle(app, excel)) ?? plainCsv) : separatedCsv;
  const learned = new LearnedValues();
  let result: LiveResult;
  try {
    result = await exportLive(
      selection,
      rowFormat(
        format === "xlsx" ? "csv" : format,
        { json: visibleInJson, cell },
        csv,
        gate.filter === null ? [] : ["decision"],
      ),
      {
        ...service,
        clock,
        sink,
        onProgress: (event) => progress?.update(event),
        onRows: (rows) => learned.addRows(rows),
        gate,
      },
    );
  } catch (error) {
    throw withRoleHint(error, roles);
  } finally {
    progress?.end();
  }
  last?.record(result.startedAt);
  await learned.keep(app);
  app.runs.counted({ run_id: runId, products: result.products, assets: result.assets, ...result.leftOut });
  await report(app, target, { run_id: runId, ...result }, clock.now() - began);
}

/** Where rows go, checked before the first request. */
interface Target {
  /** As typed; null for standard output. */
  readonly name: string | null;
  begin(): Promise<RowSink> | RowSink;
  /** The length of the complete file. */
  bytes(): Promise<number>;
}

async function openTarget(app: App, { out, bucket, format }: LiveInput, runId: string): Promise<Target> {
  const isWorkbook = format === "xlsx";
  if (out === null) {
    if (isWorkbook) rejectTerminal(app.context, "--out catalogue.xlsx");
    const sink = stdoutSink(app, format);
    return { name: null, begin: () => (isWorkbook ? workbookOf(sink) : sink), bytes: async () => 0 };
  }
  if (isBucketAddress(out)) {
    const { objectFile } = await import("../../files/open-bucket.ts");
    const file = await objectFile(app, out, { flags: bucket, type: contentTypes[format] });
    const sink = {
      writeBytes: (bytes: Uint8Array) => file.write(bytes),
      commit: () => file.commit(),
      discard: () => file.discard(),
    };
    return {
      name: out,
      begin: () => (isWorkbook ? workbookOf(sink) : file),
      bytes: async () => file.bytes,
    };
  }
  const { beginOutFile, checkOutFile } = await import("../../files/out-files.ts");
  const file = await checkOutFile(app, out, { hasStdout: true });
  return {
    name: file.name,
    // A file that appears when it is complete.
    async begin() {
      const output = await beginOutFile(app, file, runId);
      return isWorkbook ? workbookOf(output) : output;
    },
    bytes: async () => (await stat(file.path)).size,
  };
}

const workbookOf = async (sink: ByteSink<unknown>): Promise<RowSink> =>
  new (await import("../../../flows/export/live/workbook-rows.ts")).WorkbookRows(sink);

const contentTypes: Readonly<Record<LiveInput["format"], string>> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

/** Standard output. Each write has left the program when it resolves. */
const stdoutSink = (app: App, format: LiveInput["format"]) => ({
  write: (text: string) => (format === "csv" ? app.io.csv(text) : app.io.data(text)),
  writeBytes: (bytes: Uint8Array) => app.io.data(bytes),
  commit: async () => {},
  discard: async () => {},
});

/** The summary: on stderr, or with --json and a file on stdout. With rows on stdout it looked like one. */
async function report(
  app: App,
  { name, bytes }: Target,
  { run_id, products, assets, deleted, leftOut }: LiveResult & { run_id: string },
  duration_ms: number,
): Promise<void> {
  const files = name === null ? [] : [{ path: name, bytes: await bytes() }];
  const more = { ...(deleted > 0 && { deleted }), ...leftOut };
  const summary = { run_id, products, assets, ...more, files, jobs: [], duration_ms };
  app.runs.summary = summary;
  if (app.io.json) return name === null ? undefined : app.io.jsonData(summary);
  const what = `${counted(products, "product")} with ${counted(assets, "image")}`;
  const gone = deleted === 0 ? "" : ` (${counted(deleted, "product")} deleted)`;
  const where = name === null ? "" : ` to ${app.io.visible(name)}`;
  await app.io.note(`Exported ${what}${gone}${where} in ${(duration_ms / 1000).toFixed(1)} s.`);
  const omitted = leftOutText(leftOut);
  if (omitted !== null) await app.io.note(`  ${omitted}`);
}
