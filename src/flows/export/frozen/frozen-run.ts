import { rm } from "node:fs/promises";
import { parseJson } from "../../../json.ts";
import type { Marks } from "../../../state/marks.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { InputProblem } from "../../rows/problem.ts";
import type { Run, RunHost } from "../../run/run.ts";
import type { ReviewGate } from "../reviews.ts";
import type { Selection } from "../selection/selection.ts";

export type FrozenFormat = "manifest" | "zip";

export interface FrozenInput {
  readonly format: FrozenFormat;
  /** Asset roles, sorted and without duplicates; null for all. */
  readonly roles: readonly string[] | null;
  /** Null for the entire catalogue. */
  readonly selection: Selection | null;
  /** Whether the images of the ZIP files are extracted into a folder. */
  readonly extract: boolean;
  /** Leaves out images by their decisions where they are extracted. */
  readonly gate: ReviewGate;
  /** Whether generated images get their label when they are extracted. */
  readonly label: boolean;
  /** The largest image of a ZIP, in bytes. */
  readonly maxBytes: number;
  /** Starts over instead of resuming a run. */
  readonly fresh: boolean;
  /** The file or folder as typed: exports of this machine are listed with it. */
  readonly name: string;
  readonly concurrency: number;
  /** The longest wait in milliseconds; null for as long as it takes. */
  readonly timeoutMs: number | null;
}

export interface FrozenTarget {
  readonly path: string;
  /** Its name in messages. */
  readonly name: string;
  /** Whether a file that has the path is replaced; a folder must be empty. */
  readonly replaces: boolean;
  /** Sends a file, prepared at `path`, to its place; resolves to its length. Undefined: no upload. */
  readonly upload?: ((from: string) => Promise<number>) | undefined;
}

export interface FrozenHost extends RunHost {
  /** The files of so many jobs, before any is created. Throws if one may not be replaced. */
  readonly targets: (
    jobs: number,
    isDelivered: (path: string) => Promise<boolean>,
  ) => Promise<readonly FrozenTarget[]>;
  readonly onProgress: (event: ProgressEvent) => void;
  /** Receives each product of the file of `--products-from` that the service does not have. */
  readonly onProblem: (problem: InputProblem) => void | Promise<void>;
}

/** The files that a run has written, or is about to. */
interface Places {
  /** The folders with files that are not complete. */
  readonly work: readonly string[];
  /** The identity of a file, recorded before its move; or the length of an upload. */
  readonly delivered: Readonly<Record<string, string | number>>;
}

/** The memory of a frozen export's run besides its jobs, until it ends. */
export class FrozenMemory {
  readonly #marks: Marks;
  readonly #baseUrl: string;
  readonly #name: string;

  constructor(marks: Marks, baseUrl: string, runId: string) {
    this.#marks = marks;
    this.#baseUrl = baseUrl;
    this.#name = `frozen ${runId}`;
  }

  /** The IDs of the products to export, in order; null if the run was stopped before they were known. */
  get plan(): readonly string[] | null {
    const ids = this.#marks.get(this.#baseUrl, `${this.#name} plan`);
    return ids === null ? null : ids.split(",").filter((id) => id !== "");
  }

  keepPlan(ids: readonly string[]): void {
    this.#marks.set(this.#baseUrl, `${this.#name} plan`, ids.join());
  }

  get places(): Places {
    const places = this.#marks.get(this.#baseUrl, `${this.#name} places`);
    return places === null ? { work: [], delivered: {} } : (parseJson(places) as Places);
  }

  addWork(folder: string): void {
    const { work, delivered } = this.places;
    if (!work.includes(folder)) this.#keepPlaces({ work: [...work, folder], delivered });
  }

  addDelivered(path: string, identity: string | number): void {
    const { work, delivered } = this.places;
    this.#keepPlaces({ work, delivered: { ...delivered, [path]: identity } });
  }

  clear(): void {
    for (const what of ["plan", "places"]) this.#marks.remove(this.#baseUrl, `${this.#name} ${what}`);
  }

  #keepPlaces(places: Places): void {
    this.#marks.set(this.#baseUrl, `${this.#name} places`, JSON.stringify(places));
  }
}

/** A run whose plan is made. */
export interface FrozenRun {
  readonly input: FrozenInput;
  readonly run: Run;
  readonly memory: FrozenMemory;
  /** The IDs of the products to export, in the order of the catalogue. */
  readonly plan: readonly string[];
  readonly targets: readonly FrozenTarget[];
  /** The folder for files that are not complete. */
  readonly folder: string;
}

export const openMemory = ({ state, service, id }: Run): FrozenMemory =>
  new FrozenMemory(state.marks, service.baseUrl, id);

/** Ends a run, whatever it has reached: removes its incomplete files, and forgets its jobs. */
export async function endFrozen(run: Run): Promise<void> {
  const { batches, runs } = run.state;
  const memory = openMemory(run);
  for (const folder of memory.places.work) await rm(folder, { recursive: true, force: true });
  for (const { state, index } of batches.of(run.id)) {
    if (state === "sent") batches.dropped(run.id, index);
    else batches.settled(run.id, index, []);
  }
  runs.end(run.id, run.clock.now());
  memory.clear();
}
