import { expect, test } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { reportedRows } from "../../../src/flows/import/close-run.ts";
import type { ImportInput } from "../../../src/flows/import/import-input.ts";
import type { OutputTargets } from "../../../src/flows/outputs/results-file.ts";
import type { SentBatch } from "../../../src/flows/run/batch.ts";

const rows = { index: 0, rows: Uint32Array.of(0), lines: Uint32Array.of(2), bytes: 1 };
const accepted: SentBatch = { ...rows, kind: "accepted", jobs: ["I"] };
const unsent: SentBatch = { ...rows, kind: "unsent", error: new Error("stopped") };
const refused = (status: number): SentBatch => ({
  ...rows,
  kind: "rejected",
  error: new ApiError({
    ...{ request: "POST /v1/imports", status },
    body: { type: "refused", code: "refused", message: "refused" },
  }),
  problems: [],
});

interface Case {
  sent?: SentBatch[];
  wait?: boolean;
  path?: string | null;
  isNamed?: boolean;
  resultsFile?: OutputTargets["resultsFile"];
  invalid?: number;
}

const toldOf = ({ sent = [accepted], wait = true, path = "a.csv", invalid = 0, ...files }: Case) => {
  const { isNamed = false, resultsFile = null } = files;
  const run = {
    input: { wait, file: { source: { path } } } as ImportInput,
    targets: { failedFile: { path: "f", name: "f", overwrite: false, isNamed }, resultsFile },
    check: { total: 3, valid: 3 - invalid, invalid, unusable: false },
  };
  const told = reportedRows(run, sent);
  return Object.entries(told).flatMap(([what, isTold]) => (isTold ? [what] : []));
};

test.each<[string, Case, string[]]>([
  ["a run that is followed to its end", {}, ["accepted", "inFiles"]],
  ["a run with --no-wait", { wait: false }, ["inFiles"]],
  [
    "a run with a results file",
    { resultsFile: { path: "r", name: "r" } },
    ["accepted", "unchanged", "inFiles"],
  ],
  [
    "a run with rejected rows",
    { sent: [accepted, refused(422), unsent] },
    ["accepted", "notAccepted", "inFiles"],
  ],
  ["a run that the same command can resume", { sent: [accepted, refused(402)] }, ["accepted", "inFiles"]],
  [
    "a resumable run with piped input",
    { sent: [refused(402)], path: null },
    ["accepted", "notAccepted", "inFiles"],
  ],
  [
    "a resumable run with --failed",
    { sent: [refused(402)], isNamed: true },
    ["accepted", "notAccepted", "inFiles"],
  ],
  ["a run whose API key is rejected at once", { sent: [refused(401), unsent] }, ["accepted"]],
  ["a run whose API key is rejected later", { sent: [accepted, refused(401)] }, ["accepted", "inFiles"]],
  [
    "a run with piped input whose API key is rejected at once",
    { sent: [refused(401)], path: null },
    ["accepted", "notAccepted", "inFiles"],
  ],
  [
    "a run with invalid rows whose API key is rejected at once",
    { sent: [refused(403)], invalid: 1 },
    ["accepted", "inFiles"],
  ],
])("an import reports the right rows for %s", (_, given, told) => {
  expect(toldOf(given)).toEqual(told);
});
