import { labelsText, type Metric, type MetricsFile } from "./prometheus-text.ts";

export const outcomes = ["success", "partial", "failed", "interrupted"] as const;
export type CommandOutcome = (typeof outcomes)[number];

/** The numbers that a command adds to the metrics. */
export interface CommandNumbers {
  readonly command: string;
  readonly profile: string;
  readonly outcome: CommandOutcome;
  readonly exit: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The summary of each run. */
  readonly summaries: readonly { readonly run_id: string | null }[];
  /** Requests by the status of the response, `none` without one. */
  readonly requests: ReadonlyMap<string, number>;
}

/** A counter of fields of summaries, each of which is the value of its label. */
interface Counter {
  /** In words: `rows total` is `catalogue_rows_total`. */
  readonly name: string;
  readonly help: string;
  readonly commands: readonly string[];
  readonly label: string;
  /** The object with the fields, if that is not the summary. */
  readonly within?: string;
  readonly fields: string;
}

const generating = ["tryon", "beautify"];

const counters: readonly Counter[] = [
  {
    name: "rows total",
    help: "Rows of imported files, by their result.",
    commands: ["import"],
    label: "outcome",
    fields: "succeeded partial failed unchanged kept conflicts deleted invalid",
  },
  {
    name: "products total",
    help: "Products of imported rows.",
    commands: ["import"],
    label: "action",
    fields: "created updated skipped",
  },
  {
    name: "photos total",
    help: "Photos of products that imports changed.",
    commands: ["import"],
    label: "action",
    within: "photos",
    fields: "added replaced removed moved adopted",
  },
  {
    name: "generations total",
    help: "Images to generate. Each one that is queued costs credits.",
    commands: generating,
    label: "state",
    fields: "queued succeeded failed unchanged invalid not_queued unknown",
  },
  {
    name: "mirror total",
    help: "Images that mirrors changed, and the bytes of their downloads.",
    commands: ["export sync"],
    label: "of",
    fields: "added changed renamed removed failed bytes",
  },
  {
    name: "exported total",
    help: "Products and images in exports.",
    commands: ["export"],
    label: "of",
    fields: "products assets",
  },
];

/** Gauges of the last run, by the field of its summary; absent where it has none. */
const gauges = [
  { name: "mirror images", help: "Images in the mirror.", field: "total", of: "export sync" },
  { name: "credits left", help: "Credits left at a run that lacked some.", field: "credits.left" },
  { name: "credits short", help: "Credits that the last run lacked.", field: "credits.short" },
];

/** Runs whose numbers are kept: a resumed run repeats those of its earlier attempts. */
const keptRuns = 50;

/** Adds the numbers of a command to the metrics of earlier ones. */
export function addNumbers(file: MetricsFile, ended: CommandNumbers): void {
  const metrics = new OwnMetrics(file, ended);
  const { startedAt, endedAt, exit, outcome } = ended;
  metrics.set("last run timestamp seconds", "When the last run ended.", endedAt / 1000);
  const seconds = Math.max(0, endedAt - startedAt) / 1000;
  metrics.set("last run duration seconds", "How long the last run took.", seconds);
  metrics.set("last run exit status", "Exit status of the last run.", exit);
  if (outcome === "success")
    metrics.set("last success timestamp seconds", "When the last successful run ended.", endedAt / 1000);
  for (const each of outcomes)
    metrics.count("runs total", "Runs, by their outcome.", { outcome: each }, each === outcome ? 1 : 0);
  for (const [status, requests] of ended.requests)
    metrics.count("requests total", "Requests, by the status of the response.", { status }, requests);
  const runs = ended.summaries.map((summary) => [summary.run_id, flatNumbers(summary)] as const);
  for (const [id, numbers] of runs) {
    for (const counter of counters.filter(({ commands }) => commands.includes(ended.command)))
      metrics.countFields(counter, numbers, file.counted.get(id ?? "") ?? {});
    if (id === null) continue;
    file.counted.delete(id);
    file.counted.set(id, numbers);
  }
  for (const { name, help, field, of = ended.command } of gauges)
    metrics.set(name, help, of === ended.command ? runs.at(-1)?.[1][field] : undefined);
  for (const id of [...file.counted.keys()].slice(0, -keptRuns)) file.counted.delete(id);
}

/** The metrics of one command and profile. */
class OwnMetrics {
  readonly #file: MetricsFile;
  readonly #labels: { readonly command: string; readonly profile: string };

  constructor(file: MetricsFile, { command, profile }: CommandNumbers) {
    this.#file = file;
    this.#labels = { command, profile };
  }

  /** Sets a gauge, or removes it if the value is unknown. */
  set(name: string, help: string, value: number | undefined): void {
    const samples = this.#samples(name, help, "gauge");
    if (value === undefined) samples.delete(labelsText(this.#labels));
    else samples.set(labelsText(this.#labels), value);
  }

  count(name: string, help: string, more: Readonly<Record<string, string>>, value: number): void {
    const labels = labelsText({ ...this.#labels, ...more });
    const samples = this.#samples(name, help, "counter");
    samples.set(labels, (samples.get(labels) ?? 0) + value);
  }

  /** Counts the fields of a run, without what is counted of it already. */
  countFields({ name, help, label, within, fields }: Counter, now: Numbers, before: Numbers): void {
    for (const field of fields.split(" ")) {
      const key = within === undefined ? field : `${within}.${field}`;
      this.count(name, help, { [label]: field }, Math.max(0, (now[key] ?? 0) - (before[key] ?? 0)));
    }
  }

  #samples(name: string, help: string, type: Metric["type"]): Map<string, number> {
    const full = `catalogue_${name.replaceAll(" ", "_")}`;
    const { samples } = this.#file.metrics.get(full) ?? { samples: new Map<string, number>() };
    this.#file.metrics.set(full, { help, type, samples });
    return samples;
  }
}

type Numbers = Readonly<Record<string, number>>;

/** The numbers of a summary but zeros; those of an object in it have its name first: `photos.added`. */
function flatNumbers(summary: object, prefix = ""): Record<string, number> {
  const entries = Object.entries(summary).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "number")
      return value > 0 && name !== "duration_ms" ? [[`${prefix}${name}`, value] as const] : [];
    const isGroup = prefix === "" && typeof value === "object" && value !== null && !Array.isArray(value);
    return isGroup ? Object.entries(flatNumbers(value, `${name}.`)) : [];
  });
  return Object.fromEntries(entries);
}
