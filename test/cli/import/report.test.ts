import { describe, expect, test } from "vitest";
import { readFlags } from "../../../src/cli/commands/import/flags.ts";
import { importLines } from "../../../src/cli/commands/import/report.ts";
import { CatError } from "../../../src/errors.ts";
import { Examples, type ImportSummary, noCounts } from "../../../src/flows/import/summary.ts";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const head = "reference,name,images\n";
const row = (name: string, photo = name) => `${name},Dress,https://cdn.example.com/${photo}.jpg\n`;
const ab = head + row("A") + row("B");

const post = { method: "POST", path: "/v1/imports" } as const;
/** The service has no credits for it: no row is sent. */
const unpaid: FaultOrder = { match: post, status: 402 };
const rejected: FaultOrder = { match: post, status: 422 };
/** Neither the results of an import nor the list of its rows can be read. */
const unreadable: FaultOrder[] = [
  { match: { path: "/_signed" }, status: 403 },
  { match: { method: "GET", path: "/v1/imports/01HN1H1W02R3TPE9AJTWCGJDF0/rows" }, status: 403 },
];

/** A test environment with a.csv of two rows, and faults of the service. */
async function worldWith({ text = ab, faults = [] }: { text?: string; faults?: FaultOrder[] } = {}) {
  const world = await createWorld();
  world.write("a.csv", text);
  for (const fault of faults) world.mock.faults.add(fault);
  return {
    ...world,
    /** The lines on stderr, with the IDs of imports and runs as ID. */
    async lines(line: string, stdin?: string): Promise<string[]> {
      const { stderr } = await world.cat(
        `import ${line} --no-progress`,
        stdin === undefined ? {} : { stdin },
      );
      return stderr
        .replaceAll(/\b(01[0-9A-Z]{24}|run_\w+)\b/g, "ID")
        .replaceAll(" --no-progress", "")
        .replaceAll(/in \d+\.\d s/g, "in 1 s")
        .split("\n")
        .slice(0, -1);
    },
  };
}

const resume = "To resume, run the same command again (nothing is sent twice):";

describe("imports with unknown results", () => {
  test("are listed, and the next command is the same one", async () => {
    const { lines } = await worldWith();
    expect((await lines("a.csv --timeout 1s")).slice(0, 4)).toEqual([
      "Stopped: sent 2 of 2 rows of a.csv.",
      "  2 rows in progress at the service: import ID (validating)",
      resume,
      "  cat import a.csv --timeout 1s",
    ]);
  });

  longTest(
    "are listed as done if only their results could not be read, not those whose rows were counted",
    async () => {
      const { lines, cat } = await worldWith();
      await cat("import a.csv");
      const { lines: blocked } = await worldWith({ faults: unreadable });
      expect((await blocked("a.csv")).slice(0, 4)).toEqual([
        "Stopped: sent 2 of 2 rows of a.csv.",
        "  2 rows done at the service, results not read yet: import ID (completed)",
        resume,
        "  cat import a.csv",
      ]);
      expect((await lines("a.csv")).join()).not.toContain("not read yet");
    },
  );

  test("are not listed with --no-wait, but the command that waits for them is", async () => {
    const { lines } = await worldWith();
    const sent = "Sent 2 rows of a.csv in 1 s, without waiting for the results (import ID).";
    expect(await lines("--no-wait a.csv")).toEqual([
      sent,
      "For the results, run the command again without --no-wait:",
      "  cat import a.csv",
    ]);
    // The mock of a command is gone with it.
    expect(await lines("a.csv --no-wait --mock")).toEqual([sent]);
  });
});

test.each<[string, string, FaultOrder[], string]>([
  ["1 of 1 row", row("A"), [], "--timeout 1s"],
  ["0 of 1 row", row("A"), [unpaid], ""],
  ["0 of 2 rows", row("A") + row("B"), [unpaid], ""],
])("a stop after %s is reported in one sentence", async (count, rows, faults, flags) => {
  const { lines } = await worldWith({ text: head + rows, faults });
  expect((await lines(`a.csv ${flags}`))[0]).toBe(`Stopped: sent ${count} of a.csv.`);
});

describe("the next command after a stop is", () => {
  const last = (lines: readonly string[]) => lines.filter((line) => line.startsWith("  cat "));

  test("the same one, which covers the failed file, too", async () => {
    const { lines } = await worldWith({ faults: [unpaid] });
    const stopped = await lines("a.csv --failed f.csv --photos all --images-root .");
    expect(stopped).toContain("Failed rows are in f.csv, with the reasons.");
    expect(stopped).toContain(resume);
    expect(last(stopped)).toEqual(["  cat import a.csv --failed f.csv --photos all --images-root ."]);
  });

  longTest("the import of the failed file for piped rows, unless it lacks some", async () => {
    const unpaidWorld = await worldWith({ faults: [unpaid] });
    expect(last(await unpaidWorld.lines("-", ab))).toEqual(["  cat import stdin.failed.csv"]);
    const { lines } = await worldWith();
    const stopped = await lines("- --timeout 1s", ab);
    expect(stopped).toContain("To resume, pipe the same rows to the same command (nothing is sent twice):");
    expect(last(stopped)).toEqual(["  cat import - --timeout 1s"]);
  });

  longTest("the import of the failed file for rows that the service rejected", async () => {
    const { lines } = await worldWith({ faults: [rejected] });
    expect((await lines("a.csv")).slice(0, 4)).toEqual([
      "Stopped: sent 0 of 2 rows of a.csv.",
      "  2 rows not imported: the service rejected the batch",
      "Failed rows are in a.failed.csv, with the reasons. Fix them there, then run:",
      "  cat import a.failed.csv",
    ]);
  });

  test("the same one if the response to a batch is lost", async () => {
    const { lines } = await worldWith({
      faults: [{ match: post, drop: "after" }],
    });
    const stopped = await lines("a.csv --timeout 1s");
    expect(stopped.slice(0, 4)).toEqual([
      "Stopped: sent 0 of 2 rows of a.csv.",
      "  2 rows unconfirmed: no response from the service (lines 2 to 3)",
      resume,
      "  cat import a.csv --timeout 1s",
    ]);
  });

  longTest("none for a file that changed during the import, but the way to resume", async () => {
    const { cat, write, requests } = await worldWith({ faults: [{ match: post, drop: "after" }] });
    const running = cat("import a.csv --timeout 1s --no-progress");
    await until(() => requests().some(({ method }) => method === "POST"));
    write("a.csv", head + row("C"));
    const { stderr } = await running;
    expect(stderr).not.toContain("  cat import");
    expect(stderr).toContain("a.csv changed during the import");
  });

  test("that of the profile", async () => {
    const { lines } = await worldWith({ faults: [rejected] });
    expect(last(await lines("a.csv --profile dev"))).toEqual(["  cat import a.failed.csv --profile dev"]);
  });

  longTest("the one of the failed file with the flags for its rows alone", async () => {
    const { lines, write } = await worldWith();
    write("my photos/x.jpg", "");
    write("b.csv", `SKU\tname\timages\nA\tDress\thttps://cdn.example.com/fail-timeout.jpg\n`);
    const flags =
      "--photos all --delimiter tab --encoding windows-1252 --map SKU=reference --images-root 'my photos' --images-outside --convert --ledger l.db";
    expect(last(await lines(`b.csv --skip-invalid --results r.ndjson ${flags}`))).toEqual([
      `  cat import b.failed.csv ${flags}`,
    ]);
  });
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

test("an existing failed file of --failed that the run did not write is reported as an earlier one", async () => {
  const { lines, write, cat } = await worldWith();
  await cat("import a.csv");
  const line = "f.csv is from an earlier run; this run did not write to it.";
  expect((await lines("a.csv --failed f.csv --fresh")).join()).not.toContain(line);
  write("f.csv", "old");
  expect((await lines("a.csv --failed f.csv --yes")).at(-1)).toBe(line);
  write("b.csv", `${head}${row("C", "fail-timeout")}`);
  expect((await lines("b.csv --failed f.csv --yes")).join()).not.toContain(line);
});

longTest("the summary reports how many rows the results file has", async () => {
  const { lines, write } = await worldWith();
  expect(await lines("a.csv --results r.ndjson")).toContain("Results of all rows: r.ndjson");
  write("b.csv", `${head}${row("C")}${row("D")}E,,\n`);
  expect(await lines("b.csv --results s.ndjson --skip-invalid")).toContain(
    "Results of 2 of 3 rows: s.ndjson",
  );
});

longTest(
  "unchanged rows count as imported, and a file without changes is reported in one sentence",
  async () => {
    const { lines, write } = await worldWith({ text: head + row("A") });
    await lines("a.csv");
    expect(await lines("a.csv")).toEqual(["Nothing to do: the row of a.csv is unchanged."]);
    write("a.csv", ab);
    expect(await lines("a.csv")).toEqual(["Imported 2 rows from a.csv in 1 s: 1 created, 1 unchanged."]);
    expect((await lines("a.csv --fresh"))[0]).toBe("Nothing to do: both rows of a.csv are unchanged.");
    write("a.csv", ab + row("C"));
    await lines("a.csv");
    expect((await lines("a.csv"))[0]).toBe("Nothing to do: all 3 rows of a.csv are unchanged.");
  },
);

test.each([
  [1, "  1 invalid row skipped"],
  [2, "  2 invalid rows skipped"],
])("%d invalid rows are reported as skipped", async (invalid, line) => {
  const { lines } = await worldWith({ text: `${head}${row("A")}${"E,,\nF,,\n".slice(0, 4 * invalid)}` });
  const shown = await lines("a.csv --skip-invalid");
  expect(shown[shown.indexOf(line) - 1]).toMatch(/^Imported 1 of \d rows from a\.csv in 1 s: 1 created\.$/);
});

describe("the command for a failed file in mode create", () => {
  const partial = `C,Hat,https://cdn.example.com/c.jpg|https://cdn.example.com/fail-timeout.jpg\n`;

  test("adds photos if all its rows have products", async () => {
    const { lines } = await worldWith({ text: head + row("A") + partial });
    expect((await lines("a.csv --mode create")).slice(-2)).toEqual([
      "Partial rows are in a.failed.csv, with the reasons. Fix them there, then run:",
      "  cat import a.failed.csv",
    ]);
  });

  test("keeps the mode if some rows have no product", async () => {
    const { lines } = await worldWith({ text: head + row("A", "fail-timeout") + partial });
    expect((await lines("a.csv --mode create")).slice(-2)).toEqual([
      "  cat import a.failed.csv --mode create",
      "Partial rows already exist as products. To add their missing photos, use --mode upsert.",
    ]);
  });
});

test.each(
  sampled(
    [
      ["", "To import them again, run:"],
      ["C,,https://cdn.example.com/c.jpg\n", "Fix them there, then run:"],
    ],
    1,
  ),
)("rows of an import that the service could not run need no fix, next to: %j", async (other, step) => {
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

/** Ends that no single fault of the service brings about: several batches end differently at once. */
describe("the next command for five rows is", () => {
  const refused = new CatError("refused", { type: "invalid_request", code: "invalid_row", status: 422 });
  const changed = new CatError("a.csv was changed", {
    type: "input",
    code: "file_changed",
    hint: "Restore it.",
  });
  const unknown = [{ first_line: 2, last_line: 3, rows: 2 }];
  const imports: ImportSummary["imports"] = [{ id: "A", status: "completed_with_errors", rows: 2 }];

  function lines(
    more: Partial<ImportSummary>,
    ended: { stopped: unknown; changed?: CatError; wait?: boolean },
  ) {
    const { stopped, changed = null, wait = true } = ended;
    const summary: ImportSummary = {
      ...{ run_id: "run_1", file: "a.csv", mode: "upsert", total: 5, invalid: 0, submitted: 0, succeeded: 0 },
      ...{ partial: 0, failed: 0, created: 0, updated: 0, skipped: 0, unchanged: 0, imports: [] },
      ...noCounts(),
      ...{ failed_file: null, results_file: null, duration_ms: 1000 },
      ...more,
    };
    const flags = readFlags(
      "a.csv",
      {
        ...{ mode: "upsert", onImageError: "skip", concurrency: 4, dryRun: false, skipInvalid: false, wait },
        ...{ imagesOutside: false, convert: false, fresh: false, sameOrganization: false, pathStyle: false },
      },
      "/",
    );
    return importLines(summary, flags, {
      ...{
        stopped,
        changed,
        reasons: [],
        examples: new Examples(),
        isRecorded: false,
        failedFileStays: true,
      },
      globals: { profile: undefined, baseUrl: undefined, mock: false },
      ...{ format: "csv", typed: ["import", "a.csv", "--fresh", "--unknown", "resend"] },
    });
  }

  test("the same one if rows are unconfirmed, though others were rejected", () => {
    const failed_file = "f.csv";
    expect(lines({ failed_file }, { stopped: refused }).at(-1)).toBe("  cat import f.csv");
    expect(lines({ failed_file, unknown }, { stopped: refused }).at(-1)).toBe("  cat import a.csv");
  });

  test("the same one if results were not read, though rows were rejected, but not with --no-wait", () => {
    const some = { imports, unread: ["A"], failed_file: "f.csv" };
    expect(lines(some, { stopped: refused }).at(-1)).toBe("  cat import a.csv");
    expect(lines(some, { stopped: refused, wait: false }).at(-1)).toBe("  cat import f.csv");
  });

  test("none for rejected rows without a failed file", () => {
    expect(lines({}, { stopped: refused })).toEqual([
      "Stopped: sent 0 of 5 rows of a.csv.",
      "  5 rows not sent",
    ]);
  });

  test("none for a changed file, whatever stopped the run, but a hint", () => {
    const stopped = new CatError("no credits", { type: "payment_required", code: "insufficient_credits" });
    const some = { unknown, unwritten: ["a.csv was changed"] };
    expect(lines(some, { stopped, changed }).slice(1)).toEqual([
      "  3 rows not sent",
      "  2 rows unconfirmed: no response from the service (lines 2 to 3)",
      "a.csv was changed.",
      "Restore it.",
    ]);
    expect(lines(some, { stopped: changed, changed })).toHaveLength(3);
  });

  test("none if the state is lost", () => {
    const gone = new CatError("gone", { type: "state", code: "state_gone" });
    expect(lines({}, { stopped: gone }).join("\n")).not.toContain("cat import");
  });
});
