import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../src/contract/limits.ts";
import { type Lane, onEmptyLane } from "../lane.ts";
import { meetTrouble } from "../meet-trouble.ts";
import { memoryOf } from "../memory.ts";
import type { Played } from "../played.ts";
import { type Ending, Running } from "../program.ts";
import { summaryOf } from "../summary.ts";
import type { Trouble } from "../trouble.ts";
import { differences, type ImportFault, productIds, productsOf, submissionsOf } from "./compare.ts";
import { sourceOf, writePhotos, writeRows } from "./files.ts";
import { importInto, type RowFate, type Shop } from "./model.ts";
import { failedFileFaults, resultsFileFaults, summaryFaults } from "./outputs.ts";
import { playStory } from "./play-story.ts";
import type { SoakRow } from "./rows.ts";
import type { Scenario } from "./scenario.ts";
import type { Step } from "./step.ts";

type PlayedImport = Played<Step, ImportFault["kind"]>;

/** Plays a scenario on a lane with the program in that file, and checks the result. */
export const play = (scenario: Scenario, lane: Lane<Step>, program: string): Promise<PlayedImport> =>
  scenario.story !== null
    ? playStory({ seed: scenario.seed, story: scenario.story }, lane, program)
    : onEmptyLane(lane, (folder) => new Run(scenario, lane, program, folder).play());

class Run {
  readonly #scenario: Scenario;
  readonly #lane: Lane<Step>;
  readonly #program: string;
  readonly #folder: string;
  readonly #home: string;
  /** The folder of the program's state. */
  readonly #memory: string;
  readonly #file: string;
  readonly #shop: Shop = { products: new Map(), ledger: new Map() };
  readonly #sleeps: boolean;
  readonly #faults: ImportFault[] = [];
  readonly #kills: PlayedImport["kills"][number][] = [];
  #restarts = 0;
  /** Flags for the next process only. */
  #once: readonly string[] = [];
  #processes = 0;
  /** Whether another run imported rows as well: then no single summary covers all. */
  #tookDetour = false;
  #endedBefore = 0;
  /** How long the machine has slept. */
  #sleptMs = 0;
  /** Imports of other runs. */
  readonly #before = new Set<string>();

  constructor(scenario: Scenario, lane: Lane<Step>, program: string, folder: string) {
    this.#scenario = scenario;
    this.#lane = lane;
    this.#program = program;
    this.#folder = folder;
    this.#home = join(folder, "home");
    this.#memory = scenario.hasLedgerFile
      ? join(folder, "photos.db")
      : join(this.#home, "state", "default.db");
    this.#file = `products.${scenario.format}`;
    this.#sleeps = scenario.troubles.some(({ sleep }) => sleep);
  }

  async play(): Promise<PlayedImport> {
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
    const counts = {
      rows: scenario.rows.length,
      photos: [...found.values()].reduce((sum, { sources }) => sum + sources.length, 0),
      service_restarts: this.#restarts,
      // Processes that were killed after their run had ended, before they could print that.
      ended_unheard: ending === null && this.#faults.length === 0 ? 1 : 0,
    };
    return { seed: scenario.seed, kills: this.#kills, counts, faults: this.#faults };
  }

  /** Brings the service and the local state to where the run starts. */
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
      await this.#importEarlier(earlier);
      // The first one reads no changes, and stores no time from which the next one reads them.
      if (this.#scenario.earlierAheadMs > 0) await this.#importEarlier(earlier);
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

  async #importEarlier(earlier: readonly SoakRow[]): Promise<void> {
    const { format, earlierAheadMs } = this.#scenario;
    const options = { mode: "upsert", onImageError: "skip", photos: "new" } as const;
    const fates = importInto(this.#shop, earlier, options, sourceOf);
    this.#lane.gate.dateAheadMs = earlierAheadMs;
    const { status, stdout, stderr } = await this.#begin(["import", `earlier.${format}`]).ended;
    this.#lane.gate.dateAheadMs = 0;
    const summary = summaryOf(stdout);
    if (summary === undefined || (status !== 0 && status !== 8))
      throw new Error(`the earlier import ended with ${status}: ${stderr}`);
    this.#faults.push(...summaryFaults(summary, fates));
    for (const { id } of summary.imports as { id: string }[]) this.#before.add(id);
  }

  /** Runs the command until it ends by itself; null if a process was killed after everything except printing it. */
  async #importThroughTroubles(): Promise<Ending | null> {
    for (const trouble of this.#scenario.troubles) {
      const ending = await this.#endingOf(trouble);
      if (ending.status === 0 || ending.status === 8) return ending;
      if (ending.status === null) {
        const { ended, integrity } = memoryOf(this.#memory);
        if (integrity !== "ok") this.#found("broken state", integrity);
        // A replaced run, or that of another file, ends as well: then the command is run until it reports its
        // end.
        if (ended > this.#endedBefore && !this.#tookDetour) {
          return summaryOf(ending.stdout) === undefined ? null : ending;
        }
      } else if (ending.status !== 7 && !(ending.status === 6 && this.#isAnswered(trouble, ending))) {
        // Only faults end it like this: the service was unavailable for too long.
        this.#found("not resumable", `it exited with ${ending.status}: ${ending.stderr.trim()}`);
        return null;
      }
      if (trouble.restart === "between") {
        await this.#lane.service.restart();
        this.#restarts++;
      }
      await this.#takeDetour();
    }
    await this.#lane.calm();
    let ending = await this.#start().ended;
    // After a day the user decides; the service did all that was sent.
    if (ending.status === 6 && this.#sleptMs > 0 && ending.stderr.includes("unknown_outcome")) {
      this.#tookDetour = true;
      this.#once = ["--unknown", "imported"];
      ending = await this.#start().ended;
    }
    if (ending.status === 0 || ending.status === 8) return ending;
    this.#found("not resumable", `it exited with ${ending.status}: ${ending.stderr.trim()}`);
    return null;
  }

  /** Runs once, after the first process. */
  async #takeDetour(): Promise<void> {
    const { detour, format } = this.#scenario;
    if (detour === null || this.#tookDetour) return;
    this.#tookDetour = true;
    if (detour.kind === "fresh") {
      this.#once = ["--fresh"];
      return;
    }
    await this.#lane.calm();
    const file = `other.${format}`;
    writeRows(join(this.#folder, file), detour.rows, format);
    const { status, stderr } = await this.#begin([
      "import",
      file,
      "--on-image-error",
      this.#scenario.onImageError,
    ]).ended;
    // It is rejected if rows of it are in a batch of unknown outcome.
    if (status === 0 || status === 8 || (status === 6 && stderr.includes("unknown_outcome"))) return;
    this.#found("not resumable", `the other file exited with ${status}: ${stderr.trim()}`);
  }

  /** How a process that meets a fault ends. */
  async #endingOf(trouble: Trouble<Step>): Promise<Ending> {
    const resumed = this.#processes > 0;
    const { ending, stoppedAt, restarts, other } = await meetTrouble(trouble, this.#lane, {
      start: () => this.#start(),
      atItsEnd: "reading results",
      starting: "starting",
    });
    this.#restarts += restarts;
    if (ending.status === null) this.#kills.push({ step: stoppedAt!, resumed });
    if (trouble.sleep) this.#sleptMs += trouble.sleep.nightMs;
    if (other === null) return ending;
    // The summary of either covers what the other left.
    this.#tookDetour = true;
    return other.status === 0 || other.status === 8 ? other : ending;
  }

  /** Whether the other of two processes holds the run or rows of it, or a wrong `Date` makes a key too old to be sent. */
  #isAnswered({ twice, skew }: Trouble<Step>, { stderr }: Ending): boolean {
    if (twice && /run_alive|under_way/.test(stderr)) return true;
    return (skew?.aheadMs ?? 0) > limits.idempotencyKeyMs && stderr.includes("unknown_outcome");
  }

  /** The one command that is run again and again. */
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
    const asleep = {
      NODE_OPTIONS: `--import=${new URL("../asleep.js", import.meta.url).href}`,
      SOAK_SLEPT_MS: String(this.#sleptMs),
      SOAK_NIGHT_MS: String(25 * 3_600_000),
    };
    const service = { CAT_BASE_URL: this.#lane.gate.url, CAT_API_KEY: "ak_mock" };
    const env = { CAT_HOME: this.#home, ...service, ...(this.#sleeps && asleep) };
    const ledger = this.#scenario.hasLedgerFile ? ["--ledger", this.#memory] : [];
    return new Running(this.#program, [...args, ...ledger, "--json"], { cwd: this.#folder, env });
  }

  /** Whether the last process reported the actual result. */
  #judge({ status, stdout, stderr }: Ending, fates: readonly RowFate[]): void {
    const { format, namesOutputs } = this.#scenario;
    const summary = summaryOf(stdout);
    if (summary === undefined) {
      this.#found("wrong summary", `no summary: ${stderr.trim()}`);
      return;
    }
    this.#faults.push(...summaryFaults(summary, fates));
    const failed = summary.failed_file as string | null;
    this.#faults.push(
      ...failedFileFaults(failed === null ? null : join(this.#folder, failed), fates, format),
    );
    if (namesOutputs) this.#faults.push(...resultsFileFaults(join(this.#folder, "results.ndjson"), fates));
    const right = fates.some(({ missing }) => missing.length > 0) ? 8 : 0;
    // A process killed after it had printed everything has no status.
    if (status !== null && status !== right)
      this.#found("wrong summary", `it exited with ${status}, not ${right}`);
  }

  #found(kind: ImportFault["kind"], what: string): void {
    this.#faults.push({ kind, what });
  }
}
