import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { differences, type Fault, productIds, productsOf, submissionsOf } from "./compare.ts";
import { sourceOf, writePhotos, writeRows } from "./files.ts";
import type { Lane } from "./lane.ts";
import { memoryOf } from "./memory.ts";
import { importInto, type RowFate, type Shop } from "./model.ts";
import { failedFileFaults, resultsFileFaults, summaryFaults, summaryOf } from "./outputs.ts";
import { type Ending, Running } from "./program.ts";
import type { Scenario } from "./scenario.ts";
import type { Step } from "./step.ts";
import type { Trouble } from "./troubles.ts";

/** What came of one run. */
export interface Played {
  readonly seed: string;
  readonly rows: number;
  /** Photos that the service holds in the end. */
  readonly photos: number;
  /** Where each process was when it was killed, and whether it had taken up an earlier one's run. */
  readonly kills: { step: Step; resumed: boolean }[];
  readonly restarts: number;
  /** Whether a process was killed after its run had come to its end, before it could say so. */
  readonly endedUnheard: boolean;
  readonly faults: Fault[];
}

/** Plays a scenario on a lane, with the program in that file, and looks at what came of it. */
export async function play(scenario: Scenario, lane: Lane, program: string): Promise<Played> {
  const folder = mkdtempSync(join(lane.folder, "run-"));
  try {
    await lane.service.reset();
    return await new Run(scenario, lane, program, folder).play();
  } finally {
    await lane.gate.quiet();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Run {
  readonly #scenario: Scenario;
  readonly #lane: Lane;
  readonly #program: string;
  readonly #folder: string;
  readonly #home: string;
  /** Where the program keeps what it must not forget. */
  readonly #memory: string;
  readonly #file: string;
  readonly #shop: Shop = { products: new Map(), ledger: new Map() };
  readonly #faults: Fault[] = [];
  readonly #kills: Played["kills"] = [];
  #restarts = 0;
  /** Flags for the next process alone. */
  #once: readonly string[] = [];
  #processes = 0;
  /** Whether rows were brought in by another run as well: then no single summary tells of all. */
  #tookDetour = false;
  #endedBefore = 0;
  /** Imports that are not this run's. */
  readonly #before = new Set<string>();

  constructor(scenario: Scenario, lane: Lane, program: string, folder: string) {
    this.#scenario = scenario;
    this.#lane = lane;
    this.#program = program;
    this.#folder = folder;
    this.#home = join(folder, "home");
    this.#memory = scenario.hasLedgerFile
      ? join(folder, "photos.db")
      : join(this.#home, "state", "default.db");
    this.#file = `products.${scenario.format}`;
  }

  async play(): Promise<Played> {
    const scenario = this.#scenario;
    const lane = this.#lane;
    await this.#prepare();
    const fates = importInto(this.#shop, scenario.rows, scenario, sourceOf);
    const ending = await this.#importThroughTroubles();
    await lane.gate.quiet();
    const state = await lane.service.state();
    const found = productsOf(state);
    this.#faults.push(...differences(this.#shop.products, found));
    for (const [reference, times] of submissionsOf(state, this.#before)) {
      if (times > 1 && !this.#tookDetour)
        this.#found("row doubled", `${reference} was submitted ${times} times`);
    }
    if (ending !== null && !this.#tookDetour) this.#judge(ending, fates);
    return {
      ...{ seed: scenario.seed, rows: scenario.rows.length, kills: this.#kills, restarts: this.#restarts },
      photos: [...found.values()].reduce((sum, { sources }) => sum + sources.length, 0),
      endedUnheard: ending === null && this.#faults.length === 0,
      faults: this.#faults,
    };
  }

  /** Brings the service and this machine's memory where the run begins. */
  async #prepare(): Promise<void> {
    const { existing, earlier, meddling, rows, format } = this.#scenario;
    const { service } = this.#lane;
    const { products, ledger } = this.#shop;
    mkdirSync(this.#home);
    writePhotos(this.#folder, [...rows, ...(earlier ?? [])]);
    if (existing.length > 0) {
      this.#before.add(await service.importByOthers(existing));
      const theirs = { mode: "upsert", onImageError: "skip", photos: "all" } as const;
      importInto({ products, ledger: new Map() }, existing, theirs, sourceOf);
    }
    if (earlier !== null) {
      writeRows(join(this.#folder, `earlier.${format}`), earlier, format);
      const options = { mode: "upsert", onImageError: "skip", photos: "new" } as const;
      const fates = importInto(this.#shop, earlier, options, sourceOf);
      const { status, stdout, stderr } = await this.#begin(["import", `earlier.${format}`]).ended;
      const summary = summaryOf(stdout);
      if (summary === undefined || (status !== 0 && status !== 8)) {
        throw new Error(`the earlier import ended with ${status}: ${stderr}`);
      }
      this.#faults.push(...summaryFaults(summary, fates));
      for (const { id } of summary.imports as { id: string }[]) this.#before.add(id);
      this.#endedBefore = memoryOf(this.#memory).ended;
    }
    const ids = meddling.length > 0 ? productIds(await service.state()) : new Map<string, string>();
    for (const { reference, name } of meddling) {
      const product = products.get(reference);
      if (product === undefined) continue;
      await service.meddle(ids.get(reference)!, name);
      if (name !== null) product.name = name;
      else {
        products.delete(reference);
        ledger.delete(reference);
      }
    }
    writeRows(join(this.#folder, this.#file), rows, format);
  }

  /** Gives the command until it ends by itself; null when a process was killed that had done everything but say so. */
  async #importThroughTroubles(): Promise<Ending | null> {
    for (const trouble of this.#scenario.troubles) {
      const ending = await this.#endingOf(trouble);
      if (ending.status === 0 || ending.status === 8) return ending;
      if (ending.status === null) {
        const { ended, integrity } = memoryOf(this.#memory);
        if (integrity !== "ok") this.#found("broken state", integrity);
        // A run that was given up, or another file's, ends as well: then the command is given until one tells of its end.
        if (ended > this.#endedBefore && !this.#tookDetour) {
          return summaryOf(ending.stdout) === undefined ? null : ending;
        }
      } else if (ending.status !== 7) {
        // Only the troubles end it so: the service was not there for too long.
        this.#found("not resumable", `it ended with ${ending.status}: ${ending.stderr.trim()}`);
        return null;
      }
      if (trouble.restart === "between") await this.#restart();
      await this.#takeDetour();
    }
    await this.#calm();
    const ending = await this.#start().ended;
    if (ending.status === 0 || ending.status === 8) return ending;
    this.#found("not resumable", `it ended with ${ending.status}: ${ending.stderr.trim()}`);
    return null;
  }

  /** Once, after the first process. */
  async #takeDetour(): Promise<void> {
    const { detour, format } = this.#scenario;
    if (detour === null || this.#tookDetour) return;
    this.#tookDetour = true;
    if (detour.kind === "fresh") {
      this.#once = ["--fresh"];
      return;
    }
    await this.#calm();
    const file = `other.${format}`;
    writeRows(join(this.#folder, file), detour.rows, format);
    const { status, stderr } = await this.#begin([
      "import",
      file,
      "--on-image-error",
      this.#scenario.onImageError,
    ]).ended;
    // It is refused where rows of it are in a call of which nobody knows what became.
    if (status === 0 || status === 8 || (status === 6 && stderr.includes("unknown_outcome"))) return;
    this.#found("not resumable", `the other file ended with ${status}: ${stderr.trim()}`);
  }

  /** Nothing goes wrong from here on. */
  async #calm(): Promise<void> {
    await this.#lane.service.clearFaults();
    this.#lane.gate.treat = () => null;
  }

  /** How a process ends that meets a trouble. */
  async #endingOf({ faults, failsAfterWork, kill, orAtItsEnd, restart }: Trouble): Promise<Ending> {
    const { service, gate } = this.#lane;
    for (const fault of faults) await service.fault(fault);
    const resumed = this.#processes > 0;
    let failures = failsAfterWork?.times ?? 0;
    let seen = 0;
    let wasKilled = false;
    let isOver = false;
    const killNow = () => {
      if (isOver || wasKilled) return;
      wasKilled = true;
      running.kill();
    };
    gate.lastStep = "starting";
    gate.treat = (step) => {
      if (wasKilled || isOver) return null;
      const counts = "step" in kill && (kill.step === null || kill.step === step);
      if (counts && ++seen === kill.nth) return { ...kill, kill: killNow };
      if (orAtItsEnd && step === "reading results") return { at: "answered", waitMs: 5, kill: killNow };
      return step === failsAfterWork?.step && failures-- > 0 ? "fails after work" : null;
    };
    const running = this.#start();
    const timers = "afterMs" in kill ? [setTimeout(killNow, kill.afterMs)] : [];
    let restarted: Promise<void> = Promise.resolve();
    if (typeof restart === "object" && restart !== null) {
      timers.push(
        setTimeout(() => {
          restarted = this.#restart();
        }, restart.afterMs),
      );
    }
    const ending = await running.ended;
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    await restarted;
    if (ending.status === null) this.#kills.push({ step: gate.lastStep, resumed });
    return ending;
  }

  async #restart(): Promise<void> {
    await this.#lane.service.restart();
    this.#restarts++;
  }

  /** The one command that is given again and again. */
  #start(): Running {
    const { mode, onImageError, photos, concurrency, namesOutputs, format } = this.#scenario;
    this.#processes++;
    const once = this.#once;
    this.#once = [];
    return this.#begin([
      ...["import", this.#file, "--mode", mode, "--on-image-error", onImageError],
      ...["--concurrency", String(concurrency), ...(photos === null ? [] : ["--photos", photos])],
      ...(namesOutputs ? ["--failed", `bad.${format}`, "--results", "results.ndjson"] : []),
      ...once,
    ]);
  }

  #begin(args: readonly string[]): Running {
    const env = { CAT_HOME: this.#home, CAT_BASE_URL: this.#lane.gate.url, CAT_API_KEY: "ak_mock" };
    const ledger = this.#scenario.hasLedgerFile ? ["--ledger", this.#memory] : [];
    return new Running(this.#program, [...args, ...ledger, "--json"], { cwd: this.#folder, env });
  }

  /** Whether the last process said what is so. */
  #judge({ status, stdout, stderr }: Ending, fates: readonly RowFate[]): void {
    const { format, namesOutputs } = this.#scenario;
    const summary = summaryOf(stdout);
    if (summary === undefined) {
      this.#found("wrong summary", `there is none: ${stderr.trim()}`);
      return;
    }
    this.#faults.push(...summaryFaults(summary, fates));
    const failed = summary.failed_file as string | null;
    this.#faults.push(
      ...failedFileFaults(failed === null ? null : join(this.#folder, failed), fates, format),
    );
    if (namesOutputs) this.#faults.push(...resultsFileFaults(join(this.#folder, "results.ndjson"), fates));
    const right = fates.some(({ missing }) => missing.length > 0) ? 8 : 0;
    // One that was killed after it had told everything has no status.
    if (status !== null && status !== right)
      this.#found("wrong summary", `it ended with ${status}, not ${right}`);
  }

  #found(kind: Fault["kind"], what: string): void {
    this.#faults.push({ kind, what });
  }
}
