import type { Marks } from "../../../state/marks.ts";

/** What a run has written, or is about to. */
interface Places {
  /** The folders with files that are not complete. */
  readonly work: readonly string[];
  /** The identity of what was moved to a path, recorded before it was moved. */
  readonly delivered: Readonly<Record<string, string>>;
}

const prefix = "frozen ";

/** What a run of a frozen export must remember besides its jobs, until it ends. */
export class FrozenMemory {
  readonly #marks: Marks;
  readonly #baseUrl: string;
  readonly #name: string;

  constructor(marks: Marks, baseUrl: string, runId: string) {
    this.#marks = marks;
    this.#baseUrl = baseUrl;
    this.#name = prefix + runId;
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
    return places === null ? { work: [], delivered: {} } : (JSON.parse(places) as Places);
  }

  addWork(folder: string): void {
    const { work, delivered } = this.places;
    if (!work.includes(folder)) this.#keepPlaces({ work: [...work, folder], delivered });
  }

  addDelivered(path: string, identity: string): void {
    const { work, delivered } = this.places;
    this.#keepPlaces({ work, delivered: { ...delivered, [path]: identity } });
  }

  /** Forgets the run. */
  clear(): void {
    for (const what of ["plan", "places"]) this.#marks.remove(this.#baseUrl, `${this.#name} ${what}`);
  }

  #keepPlaces(places: Places): void {
    this.#marks.set(this.#baseUrl, `${this.#name} places`, JSON.stringify(places));
  }
}

/**
 * Forgets the runs that ended when a process was killed just then. The open runs are read after the list: a run of another
 * process that is begun meanwhile is in neither.
 */
export function forgetEndedRuns(marks: Marks, baseUrl: string, openRuns: () => ReadonlySet<string>): void {
  const kept = marks.list(baseUrl, prefix);
  const open = openRuns();
  for (const { name } of kept) {
    const [, runId] = name.split(" ");
    if (!open.has(runId!)) marks.remove(baseUrl, name);
  }
}
