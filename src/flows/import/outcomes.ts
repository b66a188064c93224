import type { Client } from "../../client/client.ts";
import type { Import } from "../../contract/resources/import.ts";
import { ImportRowResult } from "../../contract/resources/import.ts";
import { BadAnswerError, SignedUrlError } from "../../http/errors.ts";
import type { SentCall } from "./send.ts";

/** Why a row, or some of its images, did not make it. */
export interface RowFailure {
  code: string;
  message: string;
}

/** What became of one row of the file. */
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

/** A results file is read again from a fresh link when it breaks off or the link has expired. */
const attempts = 3;

/** The outcome of every row of the calls that have one, in the order of the file. */
export async function* rowOutcomes(sent: readonly SentCall[], deps: OutcomeDeps): AsyncGenerator<RowOutcome> {
  for (const call of sent) {
    if (call.kind === "refused") yield* refusedRows(call);
    if (call.kind !== "accepted") continue;
    const job = deps.latest(call.importId);
    if (job?.status === "failed") {
      const message = `the import ${job.id} could not be run by the service; no row of it was processed`;
      for (const line of call.lines) yield { line, failure: { code: "import_failed", message } };
    } else if (job?.status === "completed" || job?.status === "completed_with_errors") {
      for (const result of await readResults(call.importId, call.lines.length, deps)) {
        const line = call.lines[result.line - 1]!;
        const failure = failureOf(result);
        yield failure === undefined ? { line, result } : { line, result, failure };
      }
    }
  }
}

function* refusedRows({ error, lines }: Extract<SentCall, { kind: "refused" }>): Generator<RowOutcome> {
  const named = new Map(error.problems.map((problem) => [problem.line, problem]));
  for (let index = 0; index < lines.length; index++) {
    const problem = named.get(index + 1);
    const failure =
      problem !== undefined
        ? { code: problem.code, message: problem.message }
        : named.size > 0
          ? {
              code: "call_refused",
              message: "not imported, because other rows of the same call were refused",
            }
          : { code: error.code, message: error.message };
    yield { line: lines[index]!, failure };
  }
}

/** Why a row is failed or partial, in one code and one sentence. */
function failureOf(result: ImportRowResult): RowOutcome["failure"] {
  if (result.status !== "failed" && result.status !== "partial") return undefined;
  const images = result.images.filter((image) => image.status === "failed");
  const reasons = images.map(
    ({ source, error }) => `${source}: ${error?.message ?? error?.code ?? "not attached"}`,
  );
  const parts = result.error === null ? reasons : [result.error.message, ...reasons];
  const code = result.error?.code ?? images[0]?.error?.code ?? result.status;
  return { code, message: parts.join("; ") || result.status };
}

async function readResults(importId: string, rows: number, deps: OutcomeDeps): Promise<ImportRowResult[]> {
  const { client, signal } = deps;
  for (let attempt = 1; ; attempt++) {
    // The link is signed anew on every read and must not be kept (Import, results_url).
    const job = await client.imports.get({ import_id: importId }, { signal });
    try {
      if (job.results_url === null) throw badResults(importId, "has no results yet");
      const results = await parseResults(client.download(job.results_url, { signal }), importId);
      if (results.length !== rows)
        throw badResults(importId, `has results for ${results.length} of ${rows} rows`);
      return results;
    } catch (error) {
      const again = error instanceof BadAnswerError || error instanceof SignedUrlError;
      if (!again || attempt === attempts) throw error;
    }
  }
}

async function parseResults(chunks: AsyncIterable<Uint8Array>, importId: string): Promise<ImportRowResult[]> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const text = Buffer.concat(parts).toString("utf8");
  // A file that was cut has no last line end (JSONL); its rows would be counted short.
  if (!text.endsWith("\n")) throw badResults(importId, "has a results file that breaks off");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      try {
        return ImportRowResult.parse(JSON.parse(line));
      } catch {
        throw badResults(importId, "has a results file with a line that is no row result");
      }
    });
}

const badResults = (importId: string, what: string): BadAnswerError =>
  new BadAnswerError(`the import ${importId} ${what}`, { code: "bad_results" });

/** The outcomes of `rows` and of the rows the check refused, up to `lastLine`, in the order of the file. */
export async function* withRefusedRows(
  rows: AsyncGenerator<RowOutcome>,
  refused: ReadonlyMap<number, RowFailure>,
  lastLine: number,
): AsyncGenerator<RowOutcome> {
  const waiting = [...refused].filter(([line]) => line <= lastLine);
  let next = 0;
  for await (const row of rows) {
    while (next < waiting.length && waiting[next]![0] < row.line) yield refusedRow(waiting[next++]!);
    yield row;
  }
  while (next < waiting.length) yield refusedRow(waiting[next++]!);
}

const refusedRow = ([line, failure]: [number, RowFailure]): RowOutcome => ({ line, failure });
