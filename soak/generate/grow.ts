import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskRecord } from "../../src/mock/store/records.ts";
import type { Lane } from "../lane.ts";
import type { Ending } from "../program.ts";
import { counted, type GenerateFault, tasksOf } from "./compare.ts";
import type { Look } from "./looks.ts";
import type { GenerateTrouble, Scenario } from "./scenario.ts";
import type { Step } from "./step.ts";

/** What a sheet that grows needs of the run of its first rows. */
export interface Growing {
  readonly scenario: Scenario;
  readonly lane: Lane<Step>;
  readonly folder: string;
  readonly file: string;
  /** Writes rows as a file of the command. */
  readonly write: (file: string, looks: readonly Look[]) => void;
  /** The image keys of rows. */
  readonly keysOf: (looks: readonly Look[]) => string[];
  /** The command for the sheet, which meets faults. */
  readonly meet: (trouble: GenerateTrouble) => Promise<Ending>;
  /** A command on this machine, or on another one with a state of its own. */
  readonly run: (args: readonly string[], machine?: string) => Promise<Ending>;
  readonly found: (kind: GenerateFault["kind"], what: string) => void;
}

/**
 * A sheet that gets rows between processes that are stopped, while reviews reject images. In the end two sheets run at once, then
 * --missing and --rerun replace what was rejected at once, and another machine finds nothing missing: each look has one image, and
 * one more for each rejected one.
 */
export async function growSheet(growing: Growing): Promise<void> {
  const { scenario, lane, file, run, write, found } = growing;
  const { looks, later, growth, kind, matrix } = scenario;
  const rejected = new Set<string>();
  const flags = ["--yes", "--json", ...(matrix ? ["--matrix"] : [])];
  for (const [at, trouble] of growth.entries()) {
    write(file, [...looks, ...later.slice(0, Math.ceil((later.length * (at + 1)) / (growth.length + 1)))]);
    await growing.meet(trouble);
    await lane.calm();
    await lane.service.credits(null);
    if (at % 2 === 0) await reject(growing, rejected);
    await judge(growing, rejected, "at most");
  }
  const all = [...looks, ...later];
  write(file, all);
  const part = `part.${scenario.format}`;
  write(part, all.toReversed().slice(0, Math.ceil(all.length / 2)));
  const together = async (...commands: string[][]) => {
    const ended = await Promise.all(commands.map((args) => run([kind, ...args, ...flags])));
    for (const { status, stderr } of ended)
      if (status !== 0 && status !== 8) found("not resumable", `it exited with ${status}: ${stderr.trim()}`);
  };
  await together([file], [part]);
  await reject(growing, rejected);
  const rerun = rejected.size === 0 ? [] : [["--rerun", "decisions.csv"]];
  await together([file, "--missing"], ...rerun);
  await judge(growing, rejected, "exactly");
  const before = (await tasksNow(lane)).length;
  const other = await run([kind, file, "--missing", ...flags], "other");
  if (other.status !== 0 && other.status !== 8)
    found("not resumable", `it exited with ${other.status}: ${other.stderr.trim()}`);
  // What has failed has no image, and is generated again.
  const more = (await tasksNow(lane)).slice(before).filter(({ status }) => status !== "failed");
  if (more.length > 0) found("queued twice", `another machine generated ${more.length} images that exist`);
}

const tasksNow = async (lane: Lane<Step>): Promise<readonly TaskRecord[]> =>
  (await lane.service.state()).organizations.main.tasks;

/** Rejects an image that exists, in a review of all images. */
async function reject({ lane, folder, run, found }: Growing, rejected: Set<string>): Promise<void> {
  const tasks = await tasksNow(lane);
  const made = tasks.filter(({ status, id }) => status === "succeeded" && !rejected.has(id));
  const chosen = made[Math.floor(made.length / 2)];
  if (chosen === undefined) return;
  rejected.add(chosen.id);
  const rows = tasks.map(({ id }) => `${id},${rejected.has(id) ? "reject" : ""}\n`);
  writeFileSync(join(folder, "decisions.csv"), `task_id,decision\n${rows.join("")}`);
  const { status, stderr } = await run(["tasks", "review", "decisions.csv"]);
  if (status !== 0) found("not resumable", `a review exited with ${status}: ${stderr.trim()}`);
}

/** Whether each look has one image that is not rejected, or none where an image is still to be replaced. */
async function judge(
  { scenario, lane, keysOf, found }: Growing,
  rejected: ReadonlySet<string>,
  how: "at most" | "exactly",
): Promise<void> {
  const tasks = tasksOf(await lane.service.state()).filter(({ id }) => !rejected.has(id));
  const failed = new Set(tasks.filter(({ status }) => status === "failed").map(({ key }) => key));
  const live = counted(tasks.filter(({ status }) => status !== "failed").map(({ key }) => key));
  for (const key of keysOf([...scenario.looks, ...scenario.later])) {
    const count = live.get(key) ?? 0;
    if (count > 1) found("queued twice", `${key} has ${count} images that are not rejected`);
    if (how === "exactly" && count === 0 && !failed.has(key)) found("lost", `${key} has no image`);
  }
}
