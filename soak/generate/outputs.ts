import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Summary } from "../summary.ts";
import { counted, type FoundTask, type GenerateFault } from "./compare.ts";

interface SummaryTask {
  readonly id: string;
  readonly status: string;
  readonly line: number;
  readonly output_file?: string;
}

const tasksIn = (summary: Summary): readonly SummaryTask[] => summary.tasks as SummaryTask[];

/** Whether a summary counts the tasks of the service, and names each with its line; `keys` are the images of each line. */
export function summaryFaults(
  summary: Summary,
  tasks: readonly FoundTask[],
  { total, keys }: { total: number; keys: ReadonlyMap<number, readonly string[]> },
): GenerateFault[] {
  const faults: GenerateFault[] = [];
  const wrong = (what: string) => faults.push({ kind: "wrong summary", what });
  const count = (status: string) => tasks.filter((task) => task.status === status).length;
  const known = Number(summary.queued) + Number(summary.unchanged);
  const expected = { total, succeeded: count("succeeded"), failed: count("failed") };
  for (const [name, want] of Object.entries(expected))
    if (summary[name] !== want) wrong(`${name} is ${summary[name]} instead of ${want}`);
  if (known !== tasks.length) wrong(`${known} are queued or unchanged instead of ${tasks.length}`);
  for (const name of ["not_queued", "unknown", "unsaved"])
    if (summary[name] !== undefined) wrong(`${name} is ${JSON.stringify(summary[name])}`);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const lines = new Map<number, string[]>();
  for (const { id, status, line } of tasksIn(summary)) {
    const task = byId.get(id);
    byId.delete(id);
    if (task === undefined) wrong(`task ${id} is not of the service, or listed twice`);
    else if (task.status !== status) wrong(`task ${id} is ${status} instead of ${task.status}`);
    lines.set(line, [...(lines.get(line) ?? []), task?.key ?? id]);
  }
  if (byId.size > 0) wrong(`${byId.size} tasks are not listed`);
  for (const [line, found] of lines) {
    const want = counted(keys.get(line) ?? []);
    for (const [key, times] of counted(found))
      if ((want.get(key) ?? 0) < times)
        wrong(`${key} is listed with line ${line}, which does not ask for it`);
  }
  return faults;
}

/** Whether the folder has the image of each task that succeeded, complete, and nothing else. */
export function imageFaults(folder: string, summary: Summary): GenerateFault[] {
  const faults: GenerateFault[] = [];
  const wrong = (what: string) => faults.push({ kind: "wrong images", what });
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const lists = ["results.csv", "results.ndjson"];
  const left = new Set(names.filter((name) => !lists.includes(name)));
  for (const { id, status, output_file } of tasksIn(summary)) {
    if (status !== "succeeded") {
      if (output_file !== undefined) wrong(`task ${id} is ${status} and has ${output_file}`);
      continue;
    }
    const name = output_file?.split("/").pop() ?? "";
    if (!left.delete(name)) wrong(`the image of task ${id} is missing, or is that of another task: ${name}`);
    else if (!isCompletePng(readFileSync(join(folder, name)))) wrong(`${name} is not complete`);
  }
  for (const name of left) wrong(`${name} was left behind`);
  const listed = lists.map((name) => (names.includes(name) ? recordsIn(join(folder, name)) : 0));
  const tasks = tasksIn(summary).length;
  if (listed.some((count) => count !== tasks))
    faults.push({ kind: "wrong results file", what: `${listed.join(" and ")} rows for ${tasks} tasks` });
  return faults;
}

const isCompletePng = (bytes: Buffer): boolean =>
  bytes.subarray(1, 4).toString() === "PNG" && bytes.subarray(-8, -4).toString() === "IEND";

/** Whether the results file has each task once. */
export function resultsFileFaults(path: string, summary: Summary): GenerateFault[] {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const ids = linesOf(text).flatMap((line) => (JSON.parse(line) as { task_id: string | null }).task_id ?? []);
  const want = tasksIn(summary).map(({ id }) => id);
  const isSame = JSON.stringify([...ids].sort()) === JSON.stringify([...want].sort());
  return isSame
    ? []
    : [{ kind: "wrong results file", what: `it lists ${ids.length} tasks instead of ${want.length}` }];
}

/** The rows of a CSV file below its header, or the lines of an NDJSON file. */
function recordsIn(path: string): number {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return path.endsWith(".csv") ? (parse(text, { columns: true }) as unknown[]).length : linesOf(text).length;
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");
