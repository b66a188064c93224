import { expect, test } from "vitest";
import { CatError } from "../../../../src/errors.ts";
import type { SentBatch } from "../../../../src/flows/batches/sent-batch.ts";
import { whatIsTold } from "../../../../src/flows/import/close/what-is-told.ts";
import type { ImportInput } from "../../../../src/flows/import/run/import-input.ts";
import type { OutputTargets } from "../../../../src/flows/outputs/output-targets.ts";

const rows = { index: 0, rows: Uint32Array.of(0), lines: Uint32Array.of(2), bytes: 1 };
const accepted: SentBatch = { ...rows, kind: "accepted", jobs: ["I"] };
const unsent: SentBatch = { ...rows, kind: "unsent", error: new Error("stopped") };
const refused = (status: number): SentBatch => ({
  ...rows,
  kind: "refused",
  error: new CatError("refused", { type: "refused", code: "refused", status }),
  problems: [],
});

interface Case {
  sent?: SentBatch[];
  wait?: boolean;
  path?: string | null;
  overwrite?: boolean;
  resultsFile?: OutputTargets["resultsFile"];
  invalid?: number;
}

const toldOf = ({ sent = [accepted], wait = true, path = "a.csv", invalid = 0, ...files }: Case) => {
  const { overwrite = false, resultsFile = null } = files;
  const told = whatIsTold({
    input: { wait, file: { source: { path } } } as ImportInput,
    targets: { failedFile: { path: "f", name: "f", overwrite }, resultsFile },
    check: { total: 3, valid: 3 - invalid, invalid, unusable: false },
    sent,
  });
  return Object.entries(told).flatMap(([what, isTold]) => (isTold ? [what] : []));
};

test.each<[string, Case, string[]]>([
  ["a run that is waited for", {}, ["accepted", "inFiles"]],
  ["one that is not", { wait: false }, ["inFiles"]],
  [
    "one whose results are asked for",
    { resultsFile: { path: "r", name: "r" } },
    ["accepted", "unchanged", "inFiles"],
  ],
  [
    "one of which rows were refused",
    { sent: [accepted, refused(422), unsent] },
    ["accepted", "notTakenUp", "inFiles"],
  ],
  ["one that the same command goes on with", { sent: [accepted, refused(402)] }, ["accepted", "inFiles"]],
  ["the same of piped rows", { sent: [refused(402)], path: null }, ["accepted", "notTakenUp", "inFiles"]],
  [
    "the same with a failed file that was asked for",
    { sent: [refused(402)], overwrite: true },
    ["accepted", "notTakenUp", "inFiles"],
  ],
  ["one whose key was refused at once", { sent: [refused(401), unsent] }, ["accepted"]],
  ["one whose key was refused later", { sent: [accepted, refused(401)] }, ["accepted", "inFiles"]],
  [
    "the same of piped rows, at once",
    { sent: [refused(401)], path: null },
    ["accepted", "notTakenUp", "inFiles"],
  ],
  [
    "a key refused at once beside rows that do not validate",
    { sent: [refused(403)], invalid: 1 },
    ["accepted", "inFiles"],
  ],
])("of %s", (_, given, told) => {
  expect(toldOf(given)).toEqual(told);
});
