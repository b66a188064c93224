import { describe, expect, test } from "vitest";
import { readFlags } from "../../../src/cli/commands/import/flags.ts";
import { type ReportedRun, reportLines } from "../../../src/cli/commands/import/report.ts";
import { CatError } from "../../../src/errors.ts";
import type { ImportSummary } from "../../../src/flows/import/close/summary.ts";

const summaryOf = (more: Partial<ImportSummary>): ImportSummary => ({
  ...{ run_id: "run_1", file: "a.csv", mode: "upsert", total: 5, invalid: 0, submitted: 5, succeeded: 5 },
  ...{ partial: 0, failed: 0, created: 5, updated: 0, skipped: 0, unchanged: 0, imports: [] },
  ...{ failed_file: null, results_file: null, duration_ms: 1000 },
  ...more,
});
const flags = (more: object = {}) =>
  readFlags("a.csv", { mode: "upsert", onImageError: "skip", wait: true, concurrency: 4, ...more }, "/");
const run = (more: Partial<ReportedRun> = {}): ReportedRun => ({
  ...{
    stopped: undefined,
    resultRows: 0,
    unread: new Set(),
    changed: null,
    failedFileStays: true,
    format: "csv",
  },
  globals: { profile: undefined, baseUrl: undefined, mock: false },
  ...more,
});

describe("imports whose end is not known", () => {
  const imports: ImportSummary["imports"] = [
    { id: "A", status: "completed", rows: 2 },
    { id: "B", status: "processing", rows: 1 },
    { id: "C", status: "completed_with_errors", rows: 1 },
    { id: "D", status: "failed", rows: 1 },
  ];
  const stopped = new Error("stopped");

  test("are named by what is not known; those whose rows were all counted are not", () => {
    const summary = summaryOf({ imports, succeeded: 2, failed: 1 });
    expect(reportLines(summary, flags(), run({ stopped, unread: new Set(["C"]) })).slice(2)).toEqual([
      "  1 row under way at the service: import B (processing)",
      "  1 row done at the service, with results that were not read: import C (completed_with_errors)",
      "Give the same command again to go on; nothing is sent twice:",
      "  cat import a.csv",
    ]);
  });

  test("are not named where nobody waits for them", () => {
    const summary = summaryOf({ imports, succeeded: 0, created: 0 });
    expect(reportLines(summary, flags({ wait: false }), run())).toHaveLength(1);
  });
});

test.each([
  [1, 1, "Stopped: 1 of 1 row of a.csv was submitted."],
  [0, 1, "Stopped: 0 of 1 row of a.csv was submitted."],
  [1, 2, "Stopped: 1 of 2 rows of a.csv were submitted."],
])("a stop after %i of %i is told in one sentence", (submitted, total, line) => {
  const summary = summaryOf({ submitted, total, succeeded: 0, created: 0 });
  expect(reportLines(summary, flags(), run({ stopped: new Error("stopped") }))[0]).toBe(line);
});

describe("the command to type next is one", () => {
  const stopped = new CatError("no credits", { type: "payment_required", code: "insufficient_credits" });
  const summary = summaryOf({ succeeded: 0, created: 0, submitted: 0, failed_file: "f.csv" });
  const last = (more: Partial<ImportSummary>, of = flags(), how: Partial<ReportedRun> = { stopped }) =>
    reportLines({ ...summary, ...more }, of, run(how)).slice(-1)[0];
  const piped = readFlags("-", { mode: "upsert", onImageError: "skip", wait: true, concurrency: 4 }, "/");

  test("after a stop the same one, which brings in what is in the failed file too", () => {
    expect(last({})).toBe("  cat import a.csv");
    const lines = reportLines(summary, flags(), run({ stopped }));
    expect(lines).toContain("What did not make it is in f.csv, with the reason.");
    expect(lines.join("\n")).not.toContain("cat import f.csv");
  });

  test("of what was piped in the failed file, unless something is not in it", () => {
    expect(last({}, piped)).toBe("  cat import f.csv");
    expect(last({ unknown: [{ first_line: 2, last_line: 2, rows: 1 }] }, piped)).toBe("  cat import -");
    expect(last({ imports: [{ id: "A", status: "processing", rows: 1 }] }, piped)).toBe("  cat import -");
  });

  test("the same one where nothing was heard of some rows, though others were refused", () => {
    const refused = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 422 });
    const unknown = [{ first_line: 4002, last_line: 6001, rows: 2000 }];
    expect(last({}, flags(), { stopped: refused })).toBe("  cat import f.csv");
    expect(last({ unknown }, flags(), { stopped: refused })).toBe("  cat import a.csv");
  });

  test("the same one where results were not read, though other rows were refused; not where nobody waits for them", () => {
    const refused = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 422 });
    const imports: ImportSummary["imports"] = [{ id: "A", status: "completed_with_errors", rows: 2 }];
    const how = { stopped: refused, unread: new Set(["A"]) };
    expect(last({ imports }, flags(), how)).toBe("  cat import a.csv");
    expect(last({ imports }, flags({ wait: false }), how)).toBe("  cat import f.csv");
  });

  test("none for a file that was changed, which is another one", () => {
    const changed = new CatError("changed", { type: "input", code: "file_changed" });
    const unknown = [{ first_line: 4002, last_line: 6001, rows: 2000 }];
    const lines = reportLines({ ...summary, unknown, failed_file: null }, flags(), run({ stopped: changed }));
    expect(lines.join("\n")).not.toContain("cat import");
  });

  test("none for a file that was changed, whatever else stopped the run; how to go on is said", () => {
    const changed = new CatError("a.csv was changed", {
      type: "input",
      code: "file_changed",
      hint: "Put it back.",
    });
    const unknown = [{ first_line: 2, last_line: 3, rows: 2 }];
    const more = { unknown, failed_file: null, unwritten: ["a.csv was changed"] };
    const lines = reportLines({ ...summary, ...more }, flags(), run({ stopped, changed }));
    expect(lines.slice(1)).toEqual([
      "  3 rows not sent: the run stopped before",
      "  It is not known whether the rows of lines 2 to 3 were accepted.",
      "a.csv was changed.",
      "Put it back.",
    ]);
    const asError = reportLines({ ...summary, ...more }, flags(), run({ stopped: changed, changed }));
    expect(asError).toHaveLength(3);
  });

  test("none when what was remembered is gone", () => {
    const gone = new CatError("gone", { type: "state", code: "state_gone" });
    const lines = reportLines({ ...summary, failed_file: null }, flags(), run({ stopped: gone }));
    expect(lines.join("\n")).not.toContain("cat import");
  });
});

test("rows that are not waited for are counted without those that failed before they were sent", () => {
  const summary = summaryOf({ submitted: 5, failed: 2, succeeded: 0, created: 0 });
  expect(reportLines(summary, flags({ wait: false }), run())[0]).toMatch(/^Submitted 3 rows of a\.csv /);
});

test("a failed file that this run has not written is told to be an old one, where one was named and is there", () => {
  const line = "f.csv is of an earlier run: this one has written nothing into it.";
  const named = flags({ failed: "f.csv" });
  expect(reportLines(summaryOf({}), named, run()).at(-1)).toBe(line);
  expect(reportLines(summaryOf({}), named, run({ failedFileStays: false }))).not.toContain(line);
  expect(reportLines(summaryOf({ failed_file: "f.csv", failed: 1 }), named, run())).not.toContain(line);
});

test.each([
  [5, "Results of every row: r.ndjson"],
  [2, "Results of 2 of 5 rows: r.ndjson"],
])("the results of %i of five rows are called that", (resultRows, line) => {
  expect(reportLines(summaryOf({ results_file: "r.ndjson" }), flags(), run({ resultRows }))).toContain(line);
});

test("the command to go on with names the profile", () => {
  const globals = { profile: "dev", baseUrl: undefined, mock: false };
  const lines = reportLines(summaryOf({ failed_file: "a.failed.csv" }), flags(), run({ globals }));
  expect(lines.at(-1)).toBe("  cat import a.failed.csv --profile dev");
});

test("a file that would change nothing is told in one sentence", () => {
  const summary = summaryOf({ submitted: 0, succeeded: 0, created: 0, unchanged: 5 });
  expect(reportLines(summary, flags(), run())).toEqual([
    "Nothing to do: all 5 rows of a.csv are unchanged since the last import.",
  ]);
});

test("rows that were left as they are count as done", () => {
  const summary = summaryOf({ submitted: 2, succeeded: 2, created: 1, updated: 1, unchanged: 3 });
  expect(reportLines(summary, flags(), run())).toEqual([
    "Imported 5 rows from a.csv in 1.0 s: 1 created, 1 updated, 3 unchanged.",
  ]);
});

test("the command to go on with says all that makes it the same run", () => {
  const stopped = new CatError("the service could not be reached", { type: "network", code: "refused" });
  const given = flags({
    ...{
      photos: "all",
      skipInvalid: true,
      delimiter: "tab",
      encoding: "windows-1252",
      map: ["SKU=reference"],
    },
    ...{ imagesRoot: "my photos", imagesOutside: true, ledger: "l.db", results: "r.ndjson" },
  });
  expect(reportLines(summaryOf({ submitted: 0, created: 0 }), given, run({ stopped })).slice(-2)).toEqual([
    "Give the same command again to go on; nothing is sent twice:",
    "  cat import a.csv --photos all --delimiter tab --encoding windows-1252 --map sku=reference --skip-invalid --images-root 'my photos' --images-outside --ledger l.db --results r.ndjson",
  ]);
  const failed = summaryOf({ failed: 1, failed_file: "a.failed.csv" });
  expect(reportLines(failed, given, run()).at(-1)).toBe(
    "  cat import a.failed.csv --photos all --delimiter tab --encoding windows-1252 --map sku=reference --images-root 'my photos' --images-outside --ledger l.db",
  );
});

test.each([
  [1, "1 row left out: it does not validate"],
  [2, "2 rows left out: they do not validate"],
])("of %d rows that do not validate is said that they were left out", (invalid, line) => {
  const summary = summaryOf({ invalid, submitted: 5 - invalid, succeeded: 5 - invalid });
  expect(reportLines(summary, flags(), run()).slice(1)).toEqual([`  ${line}`]);
});

test("what was refused is not to be sent again as it stands", () => {
  const stopped = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 400 });
  expect(reportLines(summaryOf({ submitted: 0, created: 0 }), flags(), run({ stopped }))).toEqual([
    "Stopped: 0 of 5 rows of a.csv were submitted.",
    "  5 rows not sent: the run stopped before",
  ]);
});

describe("the command for a failed file, in a mode that changes no product,", () => {
  const lines = (more: Partial<ImportSummary>) =>
    reportLines(
      summaryOf({ ...more, succeeded: 2, created: 4, failed_file: "failed.csv" }),
      flags({ mode: "create" }),
      run(),
    ).slice(-2);

  test("adds photos where every row in it has a product", () => {
    expect(lines({ partial: 3 })).toEqual([
      "What did not make it is in failed.csv, with the reason. Put it right, then run:",
      "  cat import failed.csv",
    ]);
  });

  test("stays in that mode where others have none", () => {
    expect(lines({ partial: 2, failed: 1 })).toEqual([
      "  cat import failed.csv --mode create",
      "Rows that are partial exist already: to add their missing photos, give --mode upsert.",
    ]);
  });
});
