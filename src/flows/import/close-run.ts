import type { Client } from "../../client/client.ts";
import type { Import } from "../../contract/resources/import.ts";
import type { CheckResult } from "./check.ts";
import { decisive, isOfCaller } from "./faults-of-service.ts";
import type { ImportDeps, ImportInput, OutputTargets } from "./import-input.ts";
import { notSent, rowOutcomes } from "./outcomes.ts";
import { Outputs } from "./outputs.ts";
import type { RefusedRows } from "./refused-rows.ts";
import type { SentCall } from "./send.ts";
import { beginSummary, countOutcome, type ImportSummary } from "./summary.ts";

export interface Run {
  input: ImportInput;
  deps: ImportDeps;
  targets: OutputTargets;
  client: Client;
  check: CheckResult;
  /** Rows that the check refused, when the others were to be imported. */
  refused: RefusedRows;
  sent: readonly SentCall[];
  /** Whether every call of the file was sent and accepted. */
  complete: boolean;
  latest: (importId: string) => Import | undefined;
  /** Aborted by an interrupt and when the wait runs out. */
  signal: AbortSignal;
}

/** How a run ended. */
export interface ClosedRun {
  summary: ImportSummary;
  /** Why not all results could be read, or all rows be written down. */
  stopped: unknown;
  /** How many rows the results file has. */
  resultRows: number;
  /** The imports that have ended and whose results were not read. */
  unread: ReadonlySet<string>;
}

/**
 * The end of a run: what became of each row is read, counted, and written to the results file and the failed file, in
 * one walk in the order of the file. An error on the way does not take the summary with it.
 * After an interrupt nothing more is asked of the service, but what was never sent is still written down.
 */
export async function closeRun(run: Run): Promise<ClosedRun> {
  const { input, deps, client, check, sent, latest, signal } = run;
  const head = { run_id: deps.runId, file: input.source.name, mode: input.mode };
  const summary = beginSummary({ ...head, total: check.total, invalid: check.invalid }, sent, latest);
  const outputs = new Outputs({ ...input, ...run.targets }, run.refused, deps.runId);
  let stopped: unknown;
  const unread = new Set<string>();
  const onUnread = (error: unknown, importId: string) => {
    stopped = decisive(stopped, error);
    unread.add(importId);
  };
  const asked = input.wait ? sent : sent.filter((call) => call.kind !== "accepted");
  const worthWriting = isOwed(run);
  let rows = 0;
  for await (const outcome of rowOutcomes(asked, { client, latest, signal, onUnread })) {
    countOutcome(summary, outcome);
    if (worthWriting) await outputs.add(outcome);
    deps.onProgress({ step: "reading results", done: ++rows, total: check.valid });
  }
  const lastSent = sent.reduce((last, call) => Math.max(last, call.lines.at(-1) ?? 0), 0);
  const written = await outputs.close(lastSent, run.complete || !worthWriting ? null : notSent);
  const { faults } = outputs;
  const unwritten = faults.length > 0 ? { unwritten: faults.map(({ message }) => message) } : {};
  const notRead = unread.size > 0 ? { unread: [...unread] } : {};
  return {
    ...{ summary: { ...summary, ...written, ...notRead, ...unwritten }, stopped: stopped ?? faults[0] },
    ...{ resultRows: outputs.resultRows, unread },
  };
}

/**
 * Whether the user is to have a failed file. Not when the key was refused before anything was taken up: then the input
 * itself is what is to be imported again. But what was piped in is nowhere else, and a file that was asked for is written.
 */
const isOwed = (run: Run): boolean =>
  !wasNotLetIn(run) || run.input.source.path === null || run.targets.failedFile.overwrite;

/** Whether the key was refused before anything was taken up. */
const wasNotLetIn = ({ check, sent }: Run): boolean =>
  check.invalid === 0 &&
  sent.some((call) => call.kind === "refused") &&
  sent.every((call) => call.kind === "unsent" || (call.kind === "refused" && isOfCaller(call.error)));
