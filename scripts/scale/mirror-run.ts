import { grouped } from "../../src/flows/words.ts";
import type { Line, Measured, MirrorRun, Part } from "./measured.ts";
import { duration, size, table } from "./words.ts";

const shards = 4;
/** The index of the shard that bench/million/mirror.js kills. */
const killedShard = 1;

/** What follows from a run about a mirror: its images, and what each of them takes. */
export function mirrorFrom({ small, large }: Measured["runs"]) {
  const point = ({ phases }: MirrorRun): readonly [number, number] => [
    imagesOf(phases) / shards,
    Math.max(...Object.values(phases).flatMap((part) => (part.shards ?? []).map(({ peak }) => peak))),
  ];
  const { merge = none, "first run": first = none } = large.phases;
  const images = imagesOf(large.phases);
  // One was killed, and its first part was not measured.
  const complete = first.shards?.filter((_, at) => at !== killedShard) ?? [];
  const cpuMs = complete.reduce((sum, shard) => sum + shard.cpuMs, 0) / complete.length;
  return {
    images,
    merge,
    memory: [point(small), point(large)] satisfies Line,
    // Of the shard, and of all.
    indexLine: Math.round(merge.index_bytes! / 2 / images),
    tableRow: Math.round(merge.table_bytes! / images),
    cpuMs: Number((cpuMs / (images / shards)).toPrecision(2)),
  };
}

const none: Part = { seconds: 0, served: {}, mock: { cpu_s: 0, peak_mb: 0 } };
const imagesOf = (phases: MirrorRun["phases"]): number => phases.check!.images!;

export function millionRun({ runs }: Measured): string[] {
  const { phases } = runs.large;
  const { images, merge } = mirrorFrom(runs);
  const parts = Object.entries(phases).flatMap(([name, { shards = [], merge, served, seconds }]) => {
    const processes = merge === undefined ? shards : [merge];
    if (processes.length === 0) return [];
    return [
      [
        name,
        `${processes.map(({ peak }) => peak).join(", ")} MB`,
        duration(processes.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 60_000),
        grouped(served["GET /v1/exports"] ?? 0),
        grouped(served["GET image"] ?? 0),
        duration(seconds / 60),
      ],
    ];
  });
  const mock = Object.values(phases).map((part) => part.mock);
  return [
    `\`npm run bench -- million-mirror\` mirrors ${grouped(runs.large.products)} products of the mock, with ${grouped(images)} photos of 1 kB, by`,
    `${shards} processes at once into one folder. One of them is killed with \`kill -9\` after 40% of the images, and started again.`,
    "",
    ...table(
      ["part", "memory of each process", "processor time of all", "lists", "images", "real time"],
      parts,
    ),
    "",
    `The folder has ${size(merge.images_bytes!)} of images, which take ${size(merge.images_blocks!)} of the disk, ${size(merge.index_bytes!)} of indexes and ${size(merge.table_bytes!)} of tables. The mock`,
    `took ${duration(mock.reduce((sum, { cpu_s }) => sum + cpu_s, 0) / 60)} of processor time and ${size(Math.max(...mock.map(({ peak_mb }) => peak_mb)) * 1e6)} of memory. The machine has two cores, which other programs used`,
    "too: compare the processor time, not the real time. There was no rate limit.",
    "",
    "A script that shares no code with the program compared the folder with the service: each image has one index line and one",
    "file, whose bytes are those of the service. Nothing was lost, doubled, or left over.",
  ];
}
