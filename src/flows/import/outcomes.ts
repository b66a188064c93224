import type { Client } from "../../client/client.ts";
import type { Import, ImportRowResult } from "../../contract/resources/import.ts";
import { readResults } from "./results.ts";
import type { SentCall } from "./send.ts";

/** Why a row, or some of its images, did not make it. */
export interface RowFailure {
  code: string;
  message: string;
}

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
  signal?: AbortSignal | undefined;
}

/** The outcome of every row of the calls that have one, in the order of the file. */
export async function* rowOutcomes(sent: readonly SentCall[], deps: OutcomeDeps): AsyncGenerator<RowOutcome> {
  for (const call of sent) {
    if (call.kind === "refused") yield* refusedRows(call);
    if (call.kind !== "accepted") continue;
    const { importId, lines, bytes } = call;
    const job = deps.latest(importId);
    if (job?.status === "failed") {
      const message = `the import ${importId} could not be run by the service; no row of it was processed`;
      for (const line of lines) yield { line, failure: { code: "import_failed", message } };
    } else if (job?.status === "completed" || job?.status === "completed_with_errors") {
      const results = await readResults({ importId, rows: lines.length, bytes }, deps.client, deps.signal);
      for (const result of results) {
        const line = lines[result.line - 1]!;
        const failure = failureOf(result);
        yield failure === undefined ? { line, result } : { line, result, failure };
      }
    }
  }
}

function* refusedRows({
  error,
  problems,
  lines,
}: Extract<SentCall, { kind: "refused" }>): Generator<RowOutcome> {
  const named = new Map(problems.map((problem) => [problem.line, problem]));
  const other: RowFailure =
    named.size > 0
      ? { code: "call_refused", message: "not imported, because other rows of the same call were refused" }
      : { code: error.code, message: inOneLine(error.message) };
  for (const line of lines) {
    const problem = named.get(line);
    const failure =
      problem === undefined ? other : { code: problem.code, message: inOneLine(problem.message) };
    yield { line, failure };
  }
}

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
