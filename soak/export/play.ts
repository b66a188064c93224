import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../src/contract/limits.ts";
import { type Lane, onEmptyLane } from "../lane.ts";
import { meetTrouble } from "../meet-trouble.ts";
import { memoryOf } from "../memory.ts";
import type { Fault, Played } from "../played.ts";
import { type Ending, Running } from "../program.ts";
import { summaryOf } from "../summary.ts";
import { type DiskFault, diskEnv } from "../trouble.ts";
import { FaultyLists } from "./faulty-lists.ts";
import { mirrorFaults } from "./mirror-check.ts";
import { type ExportTrouble, type LaterRun, type Scenario, undisturbed } from "./scenario.ts";
import type { Step } from "./step.ts";
import { differencesOf, type Tree, treeOf } from "./tree.ts";

/** The kinds of wrong results. */
export const faultKinds = [
  "wrong files",
  "incomplete file",
  "part left",
  "lost file",
  "created twice",
  "not resumable",
  "wrong summary",
  "broken state",
] as const;
type ExportFault = Fault<(typeof faultKinds)[number]>;
type PlayedRun = Played<Step, ExportFault["kind"]>;

/** Plays a scenario on a lane with the program in that file, and checks the result. */
export const play = (scenario: Scenario, lane: Lane<Step>, program: string): Promise<PlayedRun> =>
  onEmptyLane(lane, (folder) => new Run(scenario, lane, program, folder).play());

/** Exit statuses of a process that was stopped and can be resumed: no service, interrupted, killed. */
const resumable: readonly (number | null)[] = [7, 130, 143, null];

/** The products of a job in this test (`smallLimits`). */
const jobProducts = 7;

const oldText = "of an earlier export";

/** Whether a process ended with the error of a full disk. */
const isOfFullDisk = ({ status, stderr }: Ending): boolean =>
  status === 2 && /no space left|disk is full/.test(stderr);

class Run {
  readonly #scenario: Scenario;
  readonly #lane: Lane<Step>;
  readonly #program: string;
  readonly #folder: string;
  readonly #faults: ExportFault[] = [];
  readonly #kills: PlayedRun["kills"][number][] = [];
  #expected: Tree = new Map();
  #args: string[] = [];
  #processes = 0;
  #restarts = 0;
  /** Runs that the state has as ended. */
  #ended = 0;
  /** Processes that were killed after their export had ended. */
  #again = 0;
  /** The files that had their names after the last process. */
  #named: readonly string[] = [];
  #fullDisks = 0;

  constructor(scenario: Scenario, lane: Lane<Step>, program: string, folder: string) {
    this.#scenario = scenario;
    this.#lane = lane;
    this.#program = program;
    this.#folder = folder;
  }

  async play(): Promise<PlayedRun> {
    const { seed, mode, photos, selected } = this.#scenario;
    await this.#prepare();
    const before = await this.#jobs();
    const ending = await this.#exportThroughTroubles();
    await this.#lane.gate.quiet();
    const created = (await this.#jobs()) - before;
    if (ending !== null) await this.#judge(await this.#afterLaterRuns(ending), created);
    const counts = {
      products: (selected ?? photos).length,
      files: this.#expected.size,
      processes: this.#processes,
      service_restarts: this.#restarts,
      full_disks: this.#fullDisks,
      [`runs_${mode}`]: 1,
    };
    return { seed, kills: this.#kills, counts, faults: this.#faults };
  }

  /** Creates the products, and the files of an uninterrupted run. */
  async #prepare(): Promise<void> {
    const { mode, photos, selected, replaces } = this.#scenario;
    const { service } = this.#lane;
    const rows = photos.map((count, at) => ({
      reference: `P-${at}`,
      name: `Product ${at}`,
      images: Array.from({ length: count }, (_, photo) => ({
        url: `https://cdn.example.com/${at}-${photo}.jpg`,
      })),
    }));
    await service.importByOthers(rows);
    const products = (selected ?? []).flatMap((at) => ["--product", `P-${at}`]);
    this.#args =
      mode === "sync"
        ? ["export", "sync", "mirror", "--json"]
        : [
            ...["export", mode === "manifest" ? "--manifest" : "--zip", "--json", "--yes", ...products],
            ...(mode === "extract" ? ["--extract", "images"] : []),
          ];
    for (const name of ["calm", "run"]) mkdirSync(join(this.#folder, name, "home"), { recursive: true });
    const calm = await this.#start("calm", null).ended;
    if (calm.status !== 0) throw new Error(`an undisturbed export failed: ${calm.stderr}`);
    this.#expected = await this.#treeOf("calm");
    if (!replaces) return;
    for (const name of readdirSync(join(this.#folder, "calm")))
      if (name !== "home") writeFileSync(join(this.#folder, "run", name), oldText);
  }

  /** Runs the command until it ends by itself. */
  async #exportThroughTroubles(): Promise<Ending | null> {
    const { service } = this.#lane;
    const resumes = this.#scenario.mode === "sync" ? [...resumable, 8] : resumable;
    for (const trouble of this.#scenario.troubles) {
      const ending = await this.#endingOf(trouble);
      if (ending.status === 0) return ending;
      if (this.#isExtractedAlready(ending)) return this.#complete();
      const isHeld = trouble.twice != null && ending.status === 6;
      const isFull = trouble.disk?.how === "full" && isOfFullDisk(ending);
      if (isFull) this.#fullDisks++;
      if (!isHeld && !isFull && !resumes.includes(ending.status)) return this.#stuck(ending);
      const { integrity, ended } = this.#memory;
      // A kill may hit a process whose export has just ended: the same command makes a new one.
      if (ending.status === null && ended > this.#ended) this.#again++;
      this.#ended = ended;
      if (integrity !== "ok") this.#found("broken state", integrity);
      await this.#checkFinalNames();
      if (trouble.restart === "between") {
        await service.restart();
        this.#restarts++;
      }
    }
    await this.#lane.calm();
    const ending = await this.#start("run", null).ended;
    if (this.#isExtractedAlready(ending)) return this.#complete();
    return ending.status === 0 ? ending : this.#stuck(ending);
  }

  /** Whether a process that was killed after its end has left the folder: a new export keeps out of it. */
  #isExtractedAlready({ status, stderr }: Ending): boolean {
    return this.#again > 0 && status === 2 && stderr.includes("folder_not_empty");
  }

  async #complete(): Promise<null> {
    for (const what of differencesOf(await this.#treeOf("run"), this.#expected))
      this.#found("wrong files", what);
    return null;
  }

  /** Meets wrong lists and dates with a complete mirror; resolves to the end of the last run, which meets none. */
  async #afterLaterRuns(ending: Ending): Promise<Ending> {
    let last = ending;
    await this.#lane.calm();
    for (const run of this.#scenario.laterRuns) {
      await this.#meetWrongAnswers(run);
      // A delta does not list it again.
      await this.#lane.service.importByOthers([
        {
          reference: `L-${this.#processes}`,
          name: "Later",
          images: [{ url: "https://cdn.example.com/l.jpg" }],
        },
      ]);
      last = await this.#start("run", null).ended;
      if (last.status !== 0) this.#stuck(last);
      // A delta could lack the same images as that of the disturbed mirror.
      const calm = await this.#start("calm", null, ["--full"]).ended;
      if (calm.status !== 0) throw new Error(`an undisturbed mirror failed: ${calm.stderr}`);
      this.#expected = await this.#treeOf("calm");
      for (const what of differencesOf(await this.#treeOf("run"), this.#expected))
        this.#found("wrong files", `${what} after ${JSON.stringify(run)}`);
    }
    return last;
  }

  async #meetWrongAnswers({ list, aheadMs, delete: deletes }: LaterRun): Promise<void> {
    const { gate, service } = this.#lane;
    const lists = list === null ? null : await FaultyLists.before(service.baseUrl, list);
    if (lists !== null) gate.target = new URL(lists.url);
    gate.dateAheadMs = aheadMs;
    const before = await this.#images();
    const { status, stderr } = await this.#start("run", null, ["--full", ...(deletes ? ["--delete"] : [])])
      .ended;
    gate.target = new URL(service.baseUrl);
    gate.dateAheadMs = 0;
    lists?.stop();
    const left = await this.#images();
    if (left < before / 2) this.#found("wrong files", `a wrong list left ${left} of ${before} images`);
    const isRefused = status === 8 && /too_many_deletions|most_images_missing/.test(stderr);
    if (status !== 0 && !isRefused)
      this.#found("not resumable", `it exited with ${status}: ${stderr.trim()}`);
  }

  #stuck({ status, stderr }: Ending): null {
    this.#found("not resumable", `it exited with ${status}: ${stderr.trim()}`);
    return null;
  }

  /** Whether each file with its final name is complete, or the old one, after a process that was stopped. */
  async #checkFinalNames(): Promise<void> {
    const found = await this.#treeOf("run");
    for (const path of this.#named) if (!found.has(path)) this.#found("lost file", `${path} had its name`);
    this.#named = [...found.keys()].filter((path) => path.endsWith(".jpg"));
    for (const [path, text] of found) {
      const isHidden = path.split("/").some((name) => name.startsWith("."));
      // The index of a mirror is of the last complete run.
      if (isHidden || text === oldText || path.endsWith(".ndjson")) continue;
      const isOld = path.endsWith(".zip/") && this.#scenario.replaces;
      if (!isOld && text !== this.#expected.get(path))
        this.#found("incomplete file", `${path} has its name, but not its contents`);
    }
  }

  /** How a process that meets faults ends. */
  async #endingOf(trouble: ExportTrouble): Promise<Ending> {
    const resumed = this.#processes > 0;
    const { disk = null } = trouble;
    const met = disk === null ? trouble : { ...trouble, kill: undisturbed.kill, orAtItsEnd: false };
    const { ending, stoppedAt, restarts, other } = await meetTrouble(met, this.#lane, {
      start: () => this.#start("run", trouble.timeout, [], disk),
      atItsEnd: "downloading",
      starting: "starting",
    });
    this.#restarts += restarts;
    const step = disk !== null && ending.status === null ? disk.step : stoppedAt;
    if (step !== null) this.#kills.push({ step, resumed });
    if (other === null) return ending;
    // The second one has found the export ended, and has made another one.
    if (ending.status === 0 && other.status === 0 && this.#scenario.mode !== "sync") this.#again++;
    // It was killed in a new export, after the second one had ended: the same command resumes it.
    const isOpen = ending.status === null && this.#memory.open > 0;
    return other.status === 0 && !isOpen ? other : ending;
  }

  get #memory() {
    return memoryOf(join(this.#folder, "run", "home", "state", "default.db"));
  }

  #start(
    place: "calm" | "run",
    timeout: number | null,
    flags: readonly string[] = [],
    disk: DiskFault | null = null,
  ): Running {
    if (place === "run") this.#processes++;
    const cwd = join(this.#folder, place);
    const { service, gate } = this.#lane;
    const CAT_BASE_URL = place === "calm" ? service.baseUrl : gate.url;
    const args = [...this.#args, ...flags, ...(timeout === null ? [] : ["--timeout", `${timeout}s`])];
    return new Running(this.#program, args, {
      cwd,
      env: {
        ...{ CAT_HOME: join(cwd, "home"), CAT_BASE_URL, CAT_API_KEY: "ak_mock" },
        ...(disk !== null && diskEnv(disk)),
      },
    });
  }

  /** Whether the last process left and reported the actual result. */
  async #judge({ stdout, stderr }: Ending, created: number): Promise<void> {
    const { mode, photos, selected, troubles } = this.#scenario;
    const found = await this.#treeOf("run");
    for (const what of differencesOf(found, this.#expected)) this.#found("wrong files", what);
    for (const path of readdirSync(join(this.#folder, "run"), { recursive: true, encoding: "utf8" }))
      if (/\.part(\/|$)|\.part\.state$/.test(path)) this.#found("part left", path);
    const summary = summaryOf(stdout);
    if (summary === undefined) {
      this.#found("wrong summary", `no summary: ${stderr.trim()}`);
      return;
    }
    if (mode === "sync") {
      for (const what of mirrorFaults(join(this.#folder, "run", "mirror"), await this.#assets()))
        this.#found("wrong files", what);
      return;
    }
    const products = (selected ?? photos).length;
    const jobs = Math.ceil(products / jobProducts);
    const allJobs = jobs * (1 + this.#again);
    // A job costs nothing: one whose key has expired by a wrong `Date` is created again, without a question.
    const isLate = troubles.some(({ skew }) => (skew?.aheadMs ?? 0) > limits.idempotencyKeyMs);
    if (created !== allJobs && !(isLate && created > allJobs && created <= allJobs + jobs))
      this.#found("created twice", `${created} jobs were created instead of ${allJobs}`);
    if (summary.products !== products || (summary.jobs as unknown[]).length !== jobs)
      this.#found(
        "wrong summary",
        `${summary.products} products in ${(summary.jobs as unknown[]).length} jobs`,
      );
  }

  #treeOf(place: "calm" | "run"): Promise<Tree> {
    return treeOf(join(this.#folder, place), ["home"]);
  }

  /** The number of images in the mirror. */
  async #images(): Promise<number> {
    const paths = [...(await this.#treeOf("run")).keys()];
    return paths.filter((path) => path.endsWith(".jpg")).length;
  }

  /** The product and the ID of each image in the catalogue. */
  async #assets(): Promise<ReadonlySet<string>> {
    const { products } = (await this.#lane.service.state()).organizations.main;
    return new Set(products.flatMap(({ id, images }) => images.map((image) => `${id} ${image.id}`)));
  }

  async #jobs(): Promise<number> {
    // A manifest names the images of a ZIP that is extracted, again in each process.
    const own = this.#scenario.mode === "manifest" ? "manifest" : "zip";
    const { exports } = (await this.#lane.service.state()).organizations.main;
    return exports.filter(({ format }) => format === own).length;
  }

  #found(kind: ExportFault["kind"], what: string): void {
    this.#faults.push({ kind, what });
  }
}
