import { describe, expect, test } from "vitest";
import { readFlags } from "../../../src/cli/commands/import/flags.ts";
import { importLines, type ReportedRun } from "../../../src/cli/commands/import/report.ts";
import { CatError } from "../../../src/errors.ts";
import type { ImportSummary } from "../../../src/flows/import/summary.ts";
import { Examples, noCounts } from "../../../src/flows/import/summary.ts";
import { createWorld } from "../../support/world.ts";

const summaryOf = (more: Partial<ImportSummary>): ImportSummary => ({
  ...{ run_id: "run_1", file: "a.csv", mode: "upsert", total: 5, invalid: 0, submitted: 5, succeeded: 5 },
  ...{ partial: 0, failed: 0, created: 5, updated: 0, skipped: 0, unchanged: 0, imports: [] },
  ...noCounts(),
  ...{ failed_file: null, results_file: null, duration_ms: 1000 },
  ...more,
});
const usual = {
  mode: "upsert",
  onImageError: "skip",
  wait: true,
  concurrency: 4,
  dryRun: false,
  skipInvalid: false,
  imagesOutside: false,
  convert: false,
  fresh: false,
  sameOrganization: false,
  pathStyle: false,
} as const;
const flags = (more: object = {}) => readFlags("a.csv", { ...usual, ...more }, "/");
const run = (more: Partial<ReportedRun> = {}): ReportedRun => ({
  ...{
    stopped: undefined,
    reasons: [],
    examples: new Examples(),
    isRecorded: false,
    changed: null,
    failedFileStays: true,
    format: "csv",
  },
  globals: { profile: undefined, baseUrl: undefined, mock: false },
  typed: ["import", "a.csv", "--fresh", "--unknown", "resend"],
  ...more,
});

describe("imports with unknown results", () => {
  const imports: ImportSummary["imports"] = [
    { id: "A", status: "completed", rows: 2 },
    { id: "B", status: "processing", rows: 1 },
    { id: "C", status: "completed_with_errors", rows: 1 },
    { id: "D", status: "failed", rows: 1 },
  ];
  const stopped = new Error("stopped");

  test("are listed by what is unknown, without imports whose rows were counted", () => {
    const summary = summaryOf({ imports, succeeded: 2, failed: 1, unread: ["C"] });
    expect(importLines(summary, flags(), run({ stopped })).slice(2)).toEqual([
      "  1 row in progress at the service: import B (processing)",
      "  1 row done at the service, results not read yet: import C (completed_with_errors)",
      "To resume, run the same command again (nothing is sent twice):",
      "  cat import a.csv",
    ]);
  });

  test("are not listed with --no-wait, but the command that waits for them is", () => {
    const summary = summaryOf({ imports, succeeded: 0, created: 0 });
    expect(
      importLines(summary, flags({ wait: false }), run({ typed: ["import", "--no-wait", "a.csv"] })).slice(1),
    ).toEqual(["For the results, run the command again without --no-wait:", "  cat import a.csv"]);
    const globals = { profile: undefined, baseUrl: undefined, mock: true };
    expect(importLines(summary, flags({ wait: false }), run({ globals }))).toHaveLength(1);
  });
});

test.each([
  [1, 1, "Stopped: sent 1 of 1 row of a.csv."],
  [0, 1, "Stopped: sent 0 of 1 row of a.csv."],
  [1, 2, "Stopped: sent 1 of 2 rows of a.csv."],
])("a stop after %i of %i is reported in one sentence", (submitted, total, line) => {
  const summary = summaryOf({ submitted, total, succeeded: 0, created: 0 });
  expect(importLines(summary, flags(), run({ stopped: new Error("stopped") }))[0]).toBe(line);
});

describe("the next command is", () => {
  const stopped = new CatError("no credits", { type: "payment_required", code: "insufficient_credits" });
  const summary = summaryOf({ succeeded: 0, created: 0, submitted: 0, failed_file: "f.csv" });
  const last = (more: Partial<ImportSummary>, of = flags(), how: Partial<ReportedRun> = { stopped }) =>
    importLines({ ...summary, ...more }, of, run(how)).slice(-1)[0];
  const piped = readFlags("-", usual, "/");

  test("the same one after a stop, which covers the failed file, too", () => {
    expect(last({})).toBe("  cat import a.csv");
    const lines = importLines(summary, flags(), run({ stopped }));
    expect(lines).toContain("The rows that were not sent are in f.csv.");
    expect(lines.join("\n")).not.toContain("cat import f.csv");
  });

  test("the import of the failed file for piped rows, unless it lacks some", () => {
    expect(last({}, piped)).toBe("  cat import f.csv");
    const how = { stopped, typed: ["import", "-"] };
    const unknown = [{ first_line: 2, last_line: 2, rows: 1 }];
    expect(last({ unknown }, piped, how)).toBe("  cat import -");
    const imports: ImportSummary["imports"] = [{ id: "A", status: "processing", rows: 1 }];
    expect(last({ imports }, piped, how)).toBe("  cat import -");
  });

  test("the same one if rows are unconfirmed, though others were rejected", () => {
    const refused = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 422 });
    const unknown = [{ first_line: 4002, last_line: 6001, rows: 2000 }];
    expect(last({}, flags(), { stopped: refused })).toBe("  cat import f.csv");
    expect(last({ unknown }, flags(), { stopped: refused })).toBe("  cat import a.csv");
  });

  test("the same one if results were not read, though other rows were rejected, but not with --no-wait", () => {
    const refused = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 422 });
    const imports: ImportSummary["imports"] = [{ id: "A", status: "completed_with_errors", rows: 2 }];
    const [unread, how] = [["A"], { stopped: refused }];
    expect(last({ imports, unread }, flags(), how)).toBe("  cat import a.csv");
    expect(last({ imports, unread }, flags({ wait: false }), how)).toBe("  cat import f.csv");
  });

  test("none for a changed file", () => {
    const changed = new CatError("changed", { type: "input", code: "file_changed" });
    const unknown = [{ first_line: 4002, last_line: 6001, rows: 2000 }];
    const lines = importLines({ ...summary, unknown, failed_file: null }, flags(), run({ stopped: changed }));
    expect(lines.join("\n")).not.toContain("cat import");
  });

  test("none for a changed file, whatever stopped the run, but a hint", () => {
    const changed = new CatError("a.csv was changed", {
      type: "input",
      code: "file_changed",
      hint: "Put it back.",
    });
    const unknown = [{ first_line: 2, last_line: 3, rows: 2 }];
    const more = { unknown, failed_file: null, unwritten: ["a.csv was changed"] };
    const lines = importLines({ ...summary, ...more }, flags(), run({ stopped, changed }));
    expect(lines.slice(1)).toEqual([
      "  3 rows not sent",
      "  2 rows unconfirmed: no response from the service (lines 2 to 3)",
      "a.csv was changed.",
      "Put it back.",
    ]);
    const asError = importLines({ ...summary, ...more }, flags(), run({ stopped: changed, changed }));
    expect(asError).toHaveLength(3);
  });

  test("none if the state is lost", () => {
    const gone = new CatError("gone", { type: "state", code: "state_gone" });
    const lines = importLines({ ...summary, failed_file: null }, flags(), run({ stopped: gone }));
    expect(lines.join("\n")).not.toContain("cat import");
  });
});

test("the rows sent with --no-wait do not include rows that failed before", () => {
  const imports: ImportSummary["imports"] = [{ id: "A", status: "validating", rows: 3 }];
  const summary = summaryOf({ submitted: 5, failed: 2, succeeded: 0, created: 0, imports });
  expect(importLines(summary, flags({ wait: false }), run())[0]).toMatch(
    /^Sent 3 rows of a\.csv in 1\.0 s, without waiting for the results \(import A\)\.$/,
  );
});

test("changed fields alone have results at once, also with --no-wait", async () => {
  const world = await createWorld();
  const rows = (name: string) => `reference,name,images\nA,${name},https://cdn.example.com/a.jpg\n`;
  world.write("a.csv", rows("Dress"));
  await world.cat("import a.csv");
  world.write("a.csv", rows("Robe"));
  const { exit, stderr } = await world.cat("import a.csv --no-wait --no-progress");
  const shown = stderr.replace(/in [\d.]+ s/, "in 1 s").replace(/run_\w+/, "RUN");
  expect({ exit, stderr: shown }).toEqual({
    exit: 0,
    stderr: "Imported 1 row from a.csv in 1 s: 1 updated.\nTo undo it: cat imports undo RUN\n",
  });
});

test("rows that were never sent are not called failed", async () => {
  const world = await createWorld({ env: { CAT_BASE_URL: "http://127.0.0.1:9" } });
  const rows = "reference,name,images\nA,Dress,https://cdn.example.com/a.jpg\n";
  world.write("a.csv", rows);
  const line = "--timeout 1s --no-progress";
  const named = await world.cat(`import a.csv --failed f.csv ${line}`);
  expect(named.stderr.split("\n").slice(1, 4)).toEqual([
    "  1 row not sent",
    "The rows that were not sent are in f.csv.",
    "To resume, run the same command again (nothing is sent twice):",
  ]);
  const piped = await world.cat(`import - ${line}`, { stdin: rows });
  expect(piped.stderr.split("\n").slice(1, 4)).toEqual([
    "  1 row not sent",
    "The rows that were not sent are in stdin.failed.csv. To import them, run:",
    "  cat import stdin.failed.csv",
  ]);
});

test("an existing failed file of --failed that the run did not write is reported as an earlier one", () => {
  const line = "f.csv is from an earlier run; this run did not write to it.";
  const named = flags({ failed: "f.csv" });
  expect(importLines(summaryOf({}), named, run()).at(-1)).toBe(line);
  expect(importLines(summaryOf({}), named, run({ failedFileStays: false }))).not.toContain(line);
  expect(importLines(summaryOf({ failed_file: "f.csv", failed: 1 }), named, run())).not.toContain(line);
});

test.each([
  [5, "Results of all rows: r.ndjson"],
  [2, "Results of 2 of 5 rows: r.ndjson"],
])("the summary reports that the results file has %i of five rows", (results_rows, line) => {
  const summary = summaryOf({ results_file: "r.ndjson", results_rows });
  expect(importLines(summary, flags(), run())).toContain(line);
});

test("the next command has the profile", () => {
  const globals = { profile: "dev", baseUrl: undefined, mock: false };
  const lines = importLines(summaryOf({ failed_file: "a.failed.csv" }), flags(), run({ globals }));
  expect(lines.at(-1)).toBe("  cat import a.failed.csv --profile dev");
});

test("a file without changes is reported in one sentence", () => {
  const summary = summaryOf({ submitted: 0, succeeded: 0, created: 0, unchanged: 5 });
  expect(importLines(summary, flags(), run())).toEqual(["Nothing to do: all 5 rows of a.csv are unchanged."]);
});

test("unchanged rows count as imported", () => {
  const summary = summaryOf({ submitted: 2, succeeded: 2, created: 1, updated: 1, unchanged: 3 });
  expect(importLines(summary, flags(), run())).toEqual([
    "Imported 5 rows from a.csv in 1.0 s: 1 created, 1 updated, 3 unchanged.",
  ]);
});

test("the command that resumes a run is the one that was typed; that of the failed file has the flags for its rows", () => {
  const stopped = new CatError("the service could not be reached", { type: "network", code: "refused" });
  const given = flags({
    ...{
      photos: "all",
      skipInvalid: true,
      delimiter: "tab",
      encoding: "windows-1252",
      map: ["SKU=reference"],
    },
    ...{ imagesRoot: "my photos", imagesOutside: true, convert: true, ledger: "l.db", results: "r.ndjson" },
  });
  const typed = [
    "import",
    "a.csv",
    "--photos",
    "all",
    "--map",
    "SKU=reference",
    "--images-root",
    "my photos",
  ];
  expect(
    importLines(summaryOf({ submitted: 0, created: 0 }), given, run({ stopped, typed })).slice(-2),
  ).toEqual([
    "To resume, run the same command again (nothing is sent twice):",
    "  cat import a.csv --photos all --map SKU=reference --images-root 'my photos'",
  ]);
  const failed = summaryOf({ failed: 1, failed_file: "a.failed.csv" });
  expect(importLines(failed, given, run()).at(-1)).toBe(
    "  cat import a.failed.csv --photos all --delimiter tab --encoding windows-1252 --map SKU=reference --images-root 'my photos' --images-outside --convert --ledger l.db",
  );
});

test.each([
  [1, "1 invalid row skipped"],
  [2, "2 invalid rows skipped"],
])("%d invalid rows are reported as skipped", (invalid, line) => {
  const summary = summaryOf({ invalid, submitted: 5 - invalid, succeeded: 5 - invalid });
  expect(importLines(summary, flags(), run()).slice(1)).toEqual([`  ${line}`]);
});

test("no command is suggested for rejected rows", () => {
  const stopped = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 400 });
  expect(importLines(summaryOf({ submitted: 0, created: 0 }), flags(), run({ stopped }))).toEqual([
    "Stopped: sent 0 of 5 rows of a.csv.",
    "  5 rows not sent",
  ]);
});

describe("the command for a failed file in mode create", () => {
  const lines = (more: Partial<ImportSummary>) =>
    importLines(
      summaryOf({ ...more, succeeded: 2, created: 4, failed_file: "failed.csv" }),
      flags({ mode: "create" }),
      run(),
    ).slice(-2);

  test("adds photos if all its rows have products", () => {
    expect(lines({ partial: 3 })).toEqual([
      "Partial rows are in failed.csv, with the reasons. Fix them there, then run:",
      "  cat import failed.csv",
    ]);
  });

  test("keeps the mode if some rows have no product", () => {
    expect(lines({ partial: 2, failed: 1 })).toEqual([
      "  cat import failed.csv --mode create",
      "Partial rows already exist as products. To add their missing photos, use --mode upsert.",
    ]);
  });
});

test.each([
  ["", "To import them again, run:"],
  ["C,,https://cdn.example.com/c.jpg\n", "Fix them there, then run:"],
])("rows of an import that the service could not run need no fix, next to: %j", async (other, step) => {
  const world = await createWorld();
  world.mock.faults.add({
    match: { job: "import" },
    times: 1,
    fail: { code: "worker_crashed", message: "crashed" },
  });
  world.write(
    "a.csv",
    `reference,name,images\nA,Dress,https://cdn.example.com/a.jpg\nB,Hat,https://cdn.example.com/b.jpg\n${other}`,
  );
  const ran = await world.cat("import a.csv --skip-invalid");
  expect(ran.exit).toBe(8);
  expect(ran.stderr).toContain(`${step}\n  cat import a.failed.csv`);
  expect((await world.cat("import a.failed.csv --skip-invalid")).exit).toBe(other === "" ? 0 : 8);
  expect(world.products()).toHaveLength(2);
});
