import type { Client } from "../../client/client.ts";
import type { Import, ImportRowResult } from "../../contract/resources/import.ts";
import { CatError } from "../../errors.ts";
import { ResultsReader } from "./results.ts";
import type { CallProblem, SentCall } from "./send.ts";

/** Why a row, or some of its images, did not make it. */
export interface RowFailure {
  code: string;
  message: string;
}

/** Why a row that stood after the end of the run, or waited for its turn then, is not imported. */
export const notSent: RowFailure = {
  code: "not_sent",
  message: "not sent, because the run stopped before this row",
};

/** What became of one submitted row of the file. */
export interface RowOutcome {
  /** The file's line of the row. */
  line: number;
  /** The service's word on it; absent where the row was never taken up. */
  result?: ImportRowResult;
  failure?: RowFailure;
}

export interface OutcomeDeps {
  client: Client;
  latest: (importId: string) => Import | undefined;
  /** Once it is aborted nothing more is asked of the service; what is known without asking is still told. */
  signal: AbortSignal;
  /** Told why an ended import's results could not be had; the rows of the others are read all the same. */
  onUnread: (error: unknown, importId: string) => void;
}

/** The outcome of every row of the calls that have one, in the order of the file. */
export async function* rowOutcomes(sent: readonly SentCall[], deps: OutcomeDeps): AsyncGenerator<RowOutcome> {
  const reader = new ResultsReader(deps.client, deps.signal);
  for (const call of sent) {
    if (call.kind === "refused") yield* refusedRows(call);
    if (call.kind === "unsent") for (const line of call.lines) yield { line, failure: notSent };
    if (call.kind !== "accepted") continue;
    const { importId, lines } = call;
    const status = deps.latest(importId)?.status;
    if (status === "failed") {
      const message = `the import ${importId} could not be run by the service; no row of it was processed`;
      for (const line of lines) yield { line, failure: { code: "import_failed", message } };
    } else if (status === "completed" || status === "completed_with_errors") {
      for (const result of await resultsOf(call, reader, deps)) {
        const line = lines[result.line - 1]!;
        const failure = failureOf(result);
        yield failure === undefined ? { line, result } : { line, result, failure };
      }
    }
  }
}

async function resultsOf(
  { importId, lines, bytes }: Extract<SentCall, { kind: "accepted" }>,
  reader: ResultsReader,
  { signal, onUnread }: OutcomeDeps,
): Promise<ImportRowResult[]> {
  try {
    return await reader.read({ importId, rows: lines.length, bytes });
  } catch (error) {
    if (!signal.aborted && !(error instanceof CatError)) throw error;
    onUnread(error, importId);
    return [];
  }
}

function* refusedRows({
  error,
  problems,
  lines,
}: Extract<SentCall, { kind: "refused" }>): Generator<RowOutcome> {
  const ofRows = new Map<number | null, CallProblem[]>();
  for (const problem of problems) ofRows.set(problem.line, [...(ofRows.get(problem.line) ?? []), problem]);
  const ofAll = ofRows.get(null) ?? (problems.length > 0 ? [otherRowsRefused] : [error]);
  for (const line of lines) yield { line, failure: joinedFailure(ofRows.get(line) ?? ofAll) };
}

const otherRowsRefused: RowFailure = {
  code: "call_refused",
  message: "not imported, because other rows of the same call were refused",
};

/** Everything that is wrong with one row, of which there is something: the first code, and all sentences. */
export const joinedFailure = (problems: readonly RowFailure[]): RowFailure => ({
  code: problems[0]!.code,
  message: inOneLine(problems.map(({ message }) => message).join("; ")),
});

/** Why a row is failed or partial, in one code and one sentence. */
function failureOf(result: ImportRowResult): RowFailure | undefined {
  if (result.status !== "failed" && result.status !== "partial") return undefined;
  const images = result.images.filter((image) => image.status === "failed");
  const reasons = images.map(
    ({ source, error }) => `${source}: ${error?.message ?? error?.code ?? "not attached"}`,
  );
  const parts = result.error === null ? reasons : [result.error.message, ...reasons];
  const code = result.error?.code ?? images[0]?.error?.code ?? result.status;
  return { code, message: inOneLine(parts.join("; ")) || result.status };
}

/** The service's words as they may stand in a file that people open: without what a terminal would obey. */
const inOneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
