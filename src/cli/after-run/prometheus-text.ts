import { isObject, parseJson } from "../../json.ts";

// The text format of Prometheus, as node_exporter reads it from files.

/** A metric with its samples, by their labels as written: `{command="import",profile="default"}`. */
export interface Metric {
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: Map<string, number>;
}

export interface MetricsFile {
  readonly metrics: Map<string, Metric>;
  /** By run, the latest last: the numbers of its summary that the counters contain. */
  readonly counted: Map<string, Readonly<Record<string, number>>>;
}

/** Why a text is not one that this program wrote. */
export class ForeignMetrics extends Error {}

// Lines that readers of the format skip as comments.
const head = "# Counters of catalogue, kept over runs. An edited file is rejected.";
const end = "# EOF";

const helpLine = /^# HELP ([a-z_]+) ([^\\]+)$/;
const typeLine = /^# TYPE ([a-z_]+) (counter|gauge)$/;
const sampleLine = /^([a-z_]+)(\{[a-z_]+="[^{}]*"\}) (\d+(?:\.\d+)?(?:e\+\d+)?)$/;
const countedLine = /^# counted (\S+) (\{.*\})$/;

/** Reads a file of this program; an empty one has no metrics. Throws ForeignMetrics for any other text. */
export function parseMetrics(text: string): MetricsFile {
  const file: MetricsFile = { metrics: new Map(), counted: new Map() };
  if (text === "") return file;
  if (!text.startsWith(`${head}\n`)) throw new ForeignMetrics("another program wrote it");
  if (!text.endsWith(`\n${end}\n`)) throw new ForeignMetrics("its end is missing");
  const lines = text.split("\n");
  for (let at = 1; at < lines.length - 2; at++) {
    const isRead = readCounted(lines[at]!, file) || readMetric(lines, at, file);
    if (!isRead) throw new ForeignMetrics(`line ${at + 1} is damaged`);
  }
  return file;
}

function readCounted(line: string, { counted }: MetricsFile): boolean {
  const [, run, json] = countedLine.exec(line) ?? [];
  if (run === undefined) return false;
  try {
    const numbers: unknown = parseJson(json!);
    if (!isObject(numbers) || !Object.values(numbers).every(Number.isFinite)) return false;
    counted.set(run, numbers as Readonly<Record<string, number>>);
    return true;
  } catch {
    return false;
  }
}

/** Reads a line of a metric: its description comes first, then its type, then its samples. */
function readMetric(lines: readonly string[], at: number, { metrics }: MetricsFile): boolean {
  const line = lines[at]!;
  if (helpLine.test(line)) return typeLine.exec(lines[at + 1]!)?.[1] === helpLine.exec(line)![1];
  const [, typed, type] = typeLine.exec(line) ?? [];
  if (typed !== undefined) {
    const [, name, help] = helpLine.exec(lines[at - 1]!) ?? [];
    if (name !== typed || metrics.has(typed)) return false;
    metrics.set(typed, { help: help!, type: type as Metric["type"], samples: new Map() });
    return true;
  }
  const [, name, labels, value] = sampleLine.exec(line) ?? [];
  const last = [...metrics.keys()].at(-1);
  const samples = metrics.get(name ?? "")?.samples;
  if (samples === undefined || name !== last || samples.has(labels!)) return false;
  samples.set(labels!, Number(value));
  return true;
}

export function metricsText({ metrics, counted }: MetricsFile): string {
  const lines = [head];
  for (const [name, { help, type, samples }] of metrics) {
    if (samples.size > 0) lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value] of samples) lines.push(`${name}${labels} ${value}`);
  }
  for (const [run, numbers] of counted) lines.push(`# counted ${run} ${JSON.stringify(numbers)}`);
  return `${[...lines, end].join("\n")}\n`;
}

/** Labels as a sample has them. Names of profiles have no character that needs an escape. */
export const labelsText = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(",")}}`;
