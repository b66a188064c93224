import { grouped, series } from "../../src/flows/words.ts";
import type { MirrorRun, Part } from "./measured.ts";
import { duration, size, table } from "./words.ts";

const shards = 4;
/** The index of the shard that bench/million/mirror.js kills. */
const killedShard = 1;

/** The runs whose mirrors were compared with the service, the smallest first. */
const comparedRuns = (runs: readonly MirrorRun[]): MirrorRun[] =>
  runs.filter(({ phases }) => phases.check !== undefined);
const imagesOf = ({ phases }: MirrorRun): number => phases.check!.images!;

const cpuMsOf = (processes: Part["shards"] = []): number =>
  processes.reduce((sum, { cpuMs }) => sum + cpuMs, 0);

/** What an image of a mirror takes, by the largest of the runs. */
export function mirrorFrom(runs: readonly MirrorRun[]) {
  const large = comparedRuns(runs).at(-1)!;
  const { merge, "first run": first } = large.phases;
  const images = imagesOf(large);
  // The first part of the killed one was not measured.
  const complete = first!.shards!.filter((_, at) => at !== killedShard);
  return {
    // An image is in the index of its shard, and in the joined one.
    indexLine: Math.round(merge!.index_bytes! / 2 / images),
    tableRow: Math.round(merge!.table_bytes! / images),
    cpuMs: Number((cpuMsOf(complete) / complete.length / (images / shards)).toPrecision(2)),
  };
}

/** The rows of a run: its parts in which the program works. */
function partsOf({ products, phases }: MirrorRun): string[][] {
  return Object.entries(phases).flatMap(([name, { shards = [], merge, served, seconds }]) => {
    const processes = merge === undefined ? shards : [merge];
    if (processes.length === 0) return [];
    return [
      [
        grouped(products),
        name,
        `${processes.map(({ peak }) => peak).join(", ")} MB`,
        `${grouped(Math.round(cpuMsOf(processes) / 1000))} s`,
        grouped(served["GET /v1/exports"] ?? 0),
        grouped(served["GET image"] ?? 0),
        duration(seconds / 60),
      ],
    ];
  });
}

export function runsText(runs: readonly MirrorRun[]): string[] {
  const compared = comparedRuns(runs);
  const large = compared.at(-1)!;
  const { merge } = large.phases;
  const mock = Object.values(large.phases).map((part) => part.mock);
  return [
    `\`npm run bench -- million-mirror\` mirrors products of the mock, with two photos of 1 kB each, by ${shards} processes at once into one`,
    "folder. One of them is killed with `kill -9` after 40% of the images, and started again. Between two nights, products get other",
    "names, references and photos; others are deleted and added.",
    "",
    ...table(
      ["products", "part", "memory of each process", "processor time of all", "lists", "images", "real time"],
      runs.flatMap(partsOf),
    ),
    "",
    "The first run lacks the processor time of the killed process. The machine has two cores, which other programs used too:",
    "compare the processor time, not the real time. There was no rate limit.",
    ...runs.flatMap(({ note }) => note ?? []),
    "",
    `With ${grouped(large.products)} products the folder has ${size(merge!.images_bytes!)} of images, which take ${size(merge!.images_blocks!)} of the disk, ${size(merge!.index_bytes!)} of`,
    `indexes and ${size(merge!.table_bytes!)} of tables. The mock took ${grouped(mock.reduce((sum, { cpu_s }) => sum + cpu_s, 0))} s of processor time and ${size(Math.max(...mock.map(({ peak_mb }) => peak_mb)) * 1e6)} of memory.`,
    "",
    `A script that shares no code with the program compared ${series(
      compared.map((run) => grouped(imagesOf(run))),
      "and",
    )} images with those of the service: each has`,
    "one index line and one file with the same bytes. Nothing was lost, doubled, or left over.",
  ];
}
