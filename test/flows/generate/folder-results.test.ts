import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/clock.ts";
import { writeFolderResults } from "../../../src/flows/generate/folder-results.ts";
import { type ResultRow, resultColumns } from "../../../src/flows/generate/result.ts";
import { lockTemporaryFile } from "../../../src/state/file-lock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TestClock } from "../../support/test-clock.ts";

const rowOf = (task_id: string): ResultRow => ({
  ...{ line: 2, task_id, status: "succeeded", product_id: "P", product_reference: null, model_id: null },
  ...{ background: "white", angle_shot: "front", file: `${task_id}.png`, failure_reason: null },
  ai_generated: true,
  ...{ label: true, decision: null, note: null },
});

/** Writes rows to the lists of a folder; gives the task IDs of both lists afterwards. */
function listsIn(folder: string, clock: Clock = new TestClock()) {
  const options = { clock, formulaGuard: true, again: "run it again" };
  return {
    write: (...ids: string[]) => writeFolderResults(folder, ids.map(rowOf), options),
    ids: () => ({
      csv: readFileSync(join(folder, "results.csv"), "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(",")[1]),
      ndjson: readFileSync(join(folder, "results.ndjson"), "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as ResultRow).task_id),
    }),
  };
}

test("commands that save into one folder at once lose no row of its lists", async () => {
  const folder = temporaryFolder();
  // The others work in real time: a clock that jumps would not wait for them.
  const { write, ids } = listsIn(folder, systemClock());
  const tasks = Array.from({ length: 12 }, (_, at) => `task-${String(at).padStart(2, "0")}`);
  await Promise.all(tasks.map((id) => write(id)));
  const { csv, ndjson } = ids();
  expect(csv.toSorted()).toEqual([...tasks, resultColumns[1]].toSorted());
  expect(ndjson.toSorted()).toEqual(tasks);
  expect(readdirSync(folder).toSorted()).toEqual(["results.csv", "results.ndjson"]);
});

test("the lists are left as they are while another command keeps them locked", async () => {
  const folder = temporaryFolder();
  const { write, ids } = listsIn(folder);
  await write("earlier");
  const unlock = await lockTemporaryFile(join(folder, ".results.lock"));
  await expect(write("own")).rejects.toMatchObject({
    ...{ type: "output", code: "results_busy" },
    message: `cannot write ${join(folder, "results.csv")}: another command is writing it`,
  });
  expect(ids().ndjson).toEqual(["earlier"]);
  unlock!();
  await write("own");
  expect(ids().ndjson).toEqual(["earlier", "own"]);
});

test("rows without a task stay: another command wrote them with --results", async () => {
  const folder = temporaryFolder();
  const { write, ids } = listsIn(folder);
  const unqueued = { ...rowOf("none"), task_id: null, status: "not_queued" };
  writeFileSync(
    join(folder, "results.ndjson"),
    `${JSON.stringify(unqueued)}\n${JSON.stringify(rowOf("a"))}\n`,
  );
  await write("b");
  expect(ids()).toEqual({ csv: [resultColumns[1], "", "a", "b"], ndjson: [null, "a", "b"] });
});

test.each([2, 3, 4].map((less) => [resultColumns.length - less, resultColumns.slice(0, -less)] as const))(
  "a list of an earlier version with %i columns is continued; the others of its rows are empty",
  async (_, columns) => {
    const folder = temporaryFolder();
    const earlier = Object.fromEntries(
      Object.entries(rowOf("a")).filter(([name]) => columns.includes(name as never)),
    );
    writeFileSync(join(folder, "results.csv"), `${columns.join()}\n2,a\n`);
    writeFileSync(join(folder, "results.ndjson"), `${JSON.stringify(earlier)}\n`);
    await listsIn(folder).write("b");
    const [header, first, second] = readFileSync(join(folder, "results.csv"), "utf8").split("\n");
    const cells = first!.split(",");
    expect(header).toBe(resultColumns.join());
    expect(second).toMatch(/^2,b,succeeded,/);
    expect([cells.length, cells[1], cells.slice(columns.length).join("")]).toEqual([
      resultColumns.length,
      "a",
      "",
    ]);
    const rows = readFileSync(join(folder, "results.ndjson"), "utf8").trim().split("\n");
    expect(JSON.parse(rows[0]!)).toEqual({
      ...rowOf("a"),
      ...Object.fromEntries(resultColumns.slice(columns.length).map((name) => [name, null])),
    });
  },
);

test("a list with a line that is no row is not replaced", async () => {
  const folder = temporaryFolder();
  const text = `${JSON.stringify(rowOf("a"))}\nmine\n`;
  writeFileSync(join(folder, "results.ndjson"), text);
  await expect(listsIn(folder).write("b")).rejects.toMatchObject({
    message: `cannot write ${join(folder, "results.ndjson")}: another program has written it meanwhile`,
    hint: "Move it to another folder, then run it again.",
  });
  expect(readFileSync(join(folder, "results.ndjson"), "utf8")).toBe(text);
});

test("a list that cannot be read is not replaced by one without its rows", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "results.ndjson"));
  await expect(listsIn(folder).write("own")).rejects.toMatchObject({ code: "file_not_readable" });
  expect(readdirSync(folder)).toEqual(["results.ndjson"]);
});

test.each([
  ["a list of another program", { "results.csv": "mine\n1\n" }],
  [
    "rows that the other list lacks",
    { "results.csv": `${resultColumns.join(",")}\n2,task-9\n`, "results.ndjson": "" },
  ],
])("%s is not replaced", async (_, files) => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  await expect(listsIn(folder).write("own")).rejects.toMatchObject({
    ...{ code: "results_foreign", type: "output" },
    message: `cannot write ${join(folder, "results.csv")}: another program has written it meanwhile`,
  });
  for (const [name, text] of Object.entries(files))
    expect(readFileSync(join(folder, name), "utf8")).toBe(text);
});

test("a list whose columns another program has put in another order is not continued", async () => {
  const folder = temporaryFolder();
  const [line, task, ...others] = resultColumns;
  for (const columns of [
    [task, line, ...others],
    ["line", "task_id", "status"],
    [...resultColumns, "mine"],
  ]) {
    writeFileSync(join(folder, "results.csv"), `${columns.join()}\n`);
    await expect(listsIn(folder).write("own")).rejects.toMatchObject({ code: "results_foreign" });
  }
});

test.skipIf(process.platform === "win32").each(["results.csv", "results.ndjson"])(
  "a pipe with the name %s is another file, and not waited for",
  async (name) => {
    const folder = temporaryFolder();
    execFileSync("mkfifo", [join(folder, name)]);
    await expect(listsIn(folder).write("own")).rejects.toMatchObject({
      ...{ code: "results_foreign", type: "output" },
      message: `cannot write ${join(folder, name)}: another program has written it meanwhile`,
    });
  },
);
