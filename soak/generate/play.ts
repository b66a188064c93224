import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Lane, onEmptyLane } from "../lane.ts";
import { meetTrouble } from "../meet-trouble.ts";
import { memoryOf } from "../memory.ts";
import type { Played } from "../played.ts";
import { type Ending, Running } from "../program.ts";
import { type Summary, summaryOf } from "../summary.ts";
import { type DiskFault, diskEnv } from "../trouble.ts";
import { differences, type FoundTask, type GenerateFault, keyOf, tasksOf } from "./compare.ts";
import { failedFileFaults, newestFailedFile } from "./failed-file.ts";
import { growSheet } from "./grow.ts";
import { expand, isRejected, type Wanted } from "./looks.ts";
import { type Ids, lineOf, writeLooks } from "./looks-file.ts";
import { imageFaults, resultsFileFaults, summaryFaults } from "./outputs.ts";
import { type GenerateTrouble, type Scenario, undisturbed } from "./scenario.ts";
import type { Step } from "./step.ts";

type PlayedRun = Played<Step, GenerateFault["kind"]>;

/** Plays a scenario on a lane with the program in that file, and checks the result. */
export const play = (scenario: Scenario, lane: Lane<Step>, program: string): Promise<PlayedRun> =>
  onEmptyLane(lane, (folder) => new Run(scenario, lane, program, folder).play());

/** Exit statuses of a process that was stopped and can be resumed: no credits, no service, interrupted. */
const resumable: readonly (number | null)[] = [4, 7, 130, 143, null];

class Run {
  readonly #scenario: Scenario;
  readonly #lane: Lane<Step>;
  readonly #program: string;
  readonly #folder: string;
  readonly #home: string;
  readonly #file: string;
  readonly #wanted: readonly Wanted[];
  #ids: Ids = new Map();
  readonly #faults: GenerateFault[] = [];
  readonly #kills: PlayedRun["kills"][number][] = [];
  #restarts = 0;
  #withoutCredits = 0;
  #fullDisks = 0;
  #processes = 0;
  /** How long the machine has slept. */
  #sleptMs = 0;
  #waits: boolean;
  /** Whether the run had ended before the last process was started: then it reports that there is nothing to do. */
  #wasEnded = false;

  constructor(scenario: Scenario, lane: Lane<Step>, program: string, folder: string) {
    this.#scenario = scenario;
    this.#lane = lane;
    this.#program = program;
    this.#folder = folder;
    this.#home = join(folder, "home");
    this.#file = `looks.${scenario.format}`;
    this.#wanted = scenario.looks.flatMap(expand);
    this.#waits = !scenario.waitsLater;
  }

  async play(): Promise<PlayedRun> {
    const { seed, saves } = this.#scenario;
    const { service, gate } = this.#lane;
    await this.#prepare();
    const ending = await this.#generateThroughTroubles();
    await gate.quiet();
    const tasks = tasksOf(await service.state());
    const accepted = this.#wanted.filter((one) => !isRejected(one));
    this.#faults.push(
      ...differences(
        accepted.map((one) => keyOf(one, this.#ids)),
        tasks,
      ),
    );
    if (ending !== null) this.#judge(ending, tasks);
    if (ending !== null && this.#scenario.reruns) await this.#rerunTwice();
    if (ending !== null && this.#scenario.later.length > 0) await this.#grow();
    const images = saves ? tasks.filter(({ status }) => status === "succeeded").length : 0;
    const counts = {
      images_wanted: this.#wanted.length,
      images_rejected: this.#wanted.length - accepted.length,
      tasks: tasks.length,
      images_saved: ending === null ? 0 : images,
      processes: this.#processes,
      stopped_by_402: this.#withoutCredits,
      service_restarts: this.#restarts,
      full_disks: this.#fullDisks,
    };
    return { seed, kills: this.#kills, counts, faults: this.#faults };
  }

  /** Creates the products and the file. Products that are to go are deleted once the run begins to queue. */
  async #prepare(): Promise<void> {
    const { products, looks, kind, format } = this.#scenario;
    const { service, gate } = this.#lane;
    mkdirSync(this.#home);
    const rows = products.map(({ reference, photo }, at) => ({
      reference,
      name: reference,
      images: [{ url: `https://cdn.example.com/${at}.jpg`, orientation: photo }],
    }));
    await service.importByOthers(rows);
    const { organizations } = await service.state();
    this.#ids = new Map(organizations.main.products.map(({ reference, id }) => [reference!, id]));
    writeLooks(join(this.#folder, this.#file), looks, { kind, format, ids: this.#ids });
    let gone: Promise<void> | null = null;
    gate.hold = async (step) => {
      if (step !== "queuing") return;
      gone ??= this.#deleteDoomed();
      await gone;
    };
  }

  /** Deletes products as another client does, despite the faults. */
  async #deleteDoomed(): Promise<void> {
    for (const { reference, isDoomed } of this.#scenario.products) {
      for (let isGone = !isDoomed; !isGone; ) {
        try {
          await this.#lane.service.meddle(this.#ids.get(reference)!, null);
          isGone = true;
        } catch (error) {
          isGone = String(error).includes(": 404 ");
          if (!isGone) await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    }
  }

  /** Runs the command until it ends by itself. */
  async #generateThroughTroubles(): Promise<Ending | null> {
    const { service } = this.#lane;
    for (const trouble of this.#scenario.troubles) {
      const ending = await this.#endingOf(trouble);
      // Of two processes either may have done the work: the next one is judged.
      if (
        trouble.twice &&
        ([0, 6, 8].includes(ending.status ?? 0) || ending.stderr.includes("file_appeared"))
      )
        continue;
      // What the full disk had no room for, the next one saves.
      if (trouble.disk?.how === "full" && [2, 8].includes(ending.status ?? 0)) {
        this.#fullDisks++;
        continue;
      }
      if (ending.status === 0 || ending.status === 8) {
        if (this.#waits) return ending;
        this.#waits = true;
      } else if (!resumable.includes(ending.status)) {
        return this.#stuck(ending);
      }
      if (ending.status === 4) this.#withoutCredits++;
      const { integrity } = memoryOf(this.#memory);
      if (integrity !== "ok") this.#found("broken state", integrity);
      if (trouble.restart === "between") {
        await service.restart();
        this.#restarts++;
      }
    }
    await this.#lane.calm();
    await service.credits(null);
    for (;;) {
      let ending = await this.#start(null).ended;
      // After a day the user decides, by the tasks that the error counts.
      if (ending.status === 6 && this.#sleptMs > 0 && ending.stderr.includes("unknown_outcome")) {
        const choice = ending.stderr.includes("has 0 tasks") ? "not-queued" : "queued";
        ending = await this.#start(null, ["--unknown", choice]).ended;
      }
      if (ending.status !== 0 && ending.status !== 8) return this.#stuck(ending);
      if (this.#waits) return ending;
      this.#waits = true;
    }
  }

  #stuck({ status, stderr }: Ending): null {
    this.#found("not resumable", `it exited with ${status}: ${stderr.trim()}`);
    return null;
  }

  /** How a process that meets faults ends. */
  async #endingOf(trouble: GenerateTrouble): Promise<Ending> {
    await this.#lane.service.credits(trouble.credits);
    const resumed = this.#processes > 0;
    const { disk = null } = trouble;
    const met = disk === null ? trouble : { ...trouble, kill: undisturbed.kill, orAtItsEnd: false };
    const { ending, stoppedAt, restarts, other } = await meetTrouble(met, this.#lane, {
      start: () => this.#start(trouble.timeout, [], disk),
      atItsEnd: "following tasks",
      starting: "starting",
    });
    this.#restarts += restarts;
    const step = disk !== null && ending.status === null ? disk.step : stoppedAt;
    if (step !== null) this.#kills.push({ step, resumed });
    if (trouble.sleep) this.#sleptMs += trouble.sleep.nightMs;
    return other !== null && !resumable.includes(other.status) ? other : ending;
  }

  get #memory(): string {
    return join(this.#home, "state", "default.db");
  }

  /** The one command that is run again and again. */
  #start(timeout: number | null, more: readonly string[] = [], disk: DiskFault | null = null): Running {
    const { kind, matrix, allowDuplicates, skipInvalid, saves, namesResults } = this.#scenario;
    this.#processes++;
    this.#wasEnded = memoryOf(this.#memory).ended > 0;
    const args = [
      ...[kind, this.#file, "--yes", "--json"],
      ...(matrix ? ["--matrix"] : []),
      ...(allowDuplicates ? ["--allow-duplicates"] : []),
      ...(skipInvalid ? ["--skip-invalid"] : []),
      ...(timeout === null ? [] : ["--timeout", `${timeout}s`]),
      ...(this.#waits ? [] : ["--no-wait"]),
      ...(this.#waits && saves ? ["--save", "images"] : []),
      ...(this.#waits && namesResults ? ["--results", "all.ndjson"] : []),
      ...more,
    ];
    return this.#run(args, "home", disk);
  }

  #run(args: readonly string[], machine = "home", disk: DiskFault | null = null): Running {
    const asleep = {
      NODE_OPTIONS: `--import=${new URL("../asleep.js", import.meta.url).href}`,
      SOAK_SLEPT_MS: String(this.#sleptMs),
      SOAK_NIGHT_MS: String(25 * 3_600_000),
    };
    const sleeps = this.#scenario.troubles.some(({ sleep }) => sleep);
    const service = { CAT_BASE_URL: this.#lane.gate.url, CAT_API_KEY: "ak_mock" };
    const env = {
      CAT_HOME: join(this.#folder, machine),
      ...service,
      ...(sleeps && asleep),
      ...(disk !== null && diskEnv(disk)),
    };
    return new Running(this.#program, args, { cwd: this.#folder, env });
  }

  /** The sheet grows, once its first rows are done. */
  async #grow(): Promise<void> {
    const [scenario, lane, folder, ids] = [this.#scenario, this.#lane, this.#folder, this.#ids];
    const { kind, format } = scenario;
    await lane.calm();
    await lane.service.credits(null);
    this.#waits = true;
    await growSheet({
      ...{ scenario, lane, folder, file: this.#file },
      write: (name, looks) => writeLooks(join(folder, name), looks, { kind, format, ids }),
      keysOf: (looks) => looks.flatMap(expand).map((one) => keyOf(one, ids)),
      meet: async (trouble) => {
        const ending = await this.#endingOf(trouble);
        const isFine = [0, 6, 8, ...resumable].includes(ending.status) || trouble.twice;
        if (!isFine) this.#stuck(ending);
        return ending;
      },
      run: (args, machine) => this.#run(args, machine).ended,
      found: (faultKind, what) => this.#found(faultKind, what),
    });
  }

  /** Two reviews reject overlapping images, and both are generated again at once: each image once. */
  async #rerunTwice(): Promise<void> {
    const { service } = this.#lane;
    // A process that met the last trouble may have ended by itself.
    await this.#lane.calm();
    await service.credits(null);
    const tasksNow = async () => (await service.state()).organizations.main.tasks;
    const before = (await tasksNow()).filter(({ status }) => status === "succeeded");
    const known = new Set((await tasksNow()).map(({ id }) => id));
    const [third, most] = [Math.ceil(before.length / 3), 30];
    const doomed = new Set(
      this.#scenario.products
        .filter(({ isDoomed }) => isDoomed)
        .map(({ reference }) => this.#ids.get(reference)),
    );
    const usable = before.filter(({ product_id }) => !doomed.has(product_id)).slice(0, most);
    if (usable.length === 0) return;
    const reviews = { one: usable.slice(0, 2 * third), other: usable.slice(third) };
    const started = Object.entries(reviews).map(([name, rejected]) => {
      if (rejected.length === 0) return null;
      const rows = rejected.map(({ id, product_id }) => `${id},${product_id},reject`);
      writeFileSync(join(this.#folder, `${name}.csv`), `task_id,product_id,decision\n${rows.join("\n")}\n`);
      return this.#run([
        this.#scenario.kind,
        "--rerun",
        `${name}.csv`,
        "--allow-duplicates",
        "--yes",
        "--json",
      ]).ended;
    });
    for (const one of await Promise.all(started))
      if (one !== null && one.status !== 0 && one.status !== 8) this.#stuck(one);
    const wanted = new Set([...reviews.one, ...reviews.other].map(({ id }) => id)).size;
    const made = (await tasksNow()).filter(({ id }) => !known.has(id)).length;
    if (made > wanted) this.#found("queued twice", `${made} images for ${wanted} rejected ones`);
    if (made < wanted) this.#found("lost", `${made} images for ${wanted} rejected ones`);
  }

  /** Whether the last process reported the actual result. */
  #judge({ status, stdout, stderr }: Ending, tasks: readonly FoundTask[]): void {
    const { format, saves, namesResults } = this.#scenario;
    const summary = summaryOf(stdout);
    if (summary === undefined) {
      this.#found("wrong summary", `exit ${status} without a summary: ${stderr.trim()}`);
      return;
    }
    const keys = new Map<number, string[]>();
    for (const one of this.#wanted) {
      const line = lineOf(one.row, format);
      keys.set(line, [...(keys.get(line) ?? []), keyOf(one, this.#ids)]);
    }
    this.#faults.push(...summaryFaults(summary, tasks, { total: this.#wanted.length, keys }));
    this.#faults.push(...this.#failedFileFaults(summary, tasks));
    if (saves) this.#faults.push(...imageFaults(join(this.#folder, "images"), summary));
    if (namesResults) this.#faults.push(...resultsFileFaults(join(this.#folder, "all.ndjson"), summary));
    const isComplete =
      tasks.every(({ status: one }) => one === "succeeded") && !this.#wanted.some(isRejected);
    const right = isComplete || this.#wasEnded ? 0 : 8;
    if (status !== right) this.#found("wrong summary", `it exited with ${status}, not ${right}`);
  }

  /** A run that had ended has its failed file from the process before. */
  #failedFileFaults({ failed_file: name }: Summary, tasks: readonly FoundTask[]): GenerateFault[] {
    const rejected = this.#wanted.filter(isRejected).map((one) => keyOf(one, this.#ids));
    const failed = tasks.filter(({ status }) => status === "failed").map(({ key }) => key);
    const own = name === undefined ? undefined : join(this.#folder, name as string);
    if (this.#wasEnded && own !== undefined)
      this.#found("wrong failed file", `a run that had ended wrote ${own} again`);
    const path = this.#wasEnded ? newestFailedFile(this.#folder) : own;
    return failedFileFaults(path, { keys: [...rejected, ...failed], tasks, ids: this.#ids });
  }

  #found(kind: GenerateFault["kind"], what: string): void {
    this.#faults.push({ kind, what });
  }
}
