import { expect, test } from "vitest";
import { grown, type Size } from "../../soak/year/growth.ts";

const ran = (words: string, { rss = 80e6, cpuMs = 400 } = {}) => ({ words, rss, cpuMs });
const same: Size = {
  ...{ requests: 80, processes: [ran("import"), ran("export"), ran("products"), ran("tryon")] },
  ...{ state_server: 200_000, state_ann: 180_000, state_ben: 160_000, state_hooks: 160_000 },
  ...{ folder_server: 2_000, mirror_files: 3e6, mirror_state: 180_000, mirror_decisions: 10_000 },
  ...{ bucket_objects: 126, bucket_state: 150_000 },
};
const year = (of: (night: number) => object = () => ({}), nights = 365) =>
  Object.fromEntries(Array.from({ length: nights }, (_, at) => [at + 1, { ...same, ...of(at + 1) }]));

test("a year whose nights are all alike has not grown", () => {
  expect(grown(year())).toEqual([]);
});

test("reviews may take a kilobyte a night, and no more", () => {
  expect(grown(year((night) => ({ state_ann: 180_000 + night * 1_000 })))).toEqual([]);
  expect(grown(year((night) => ({ state_ann: 180_000 + night * 1_500 })))).toEqual([
    "growth: state_ann went from 207000 to 706500, more than 609000",
  ]);
});

test("the memory of the largest process counts, and a night without one is left out", () => {
  const rss = (night: number) => (night > 300 ? 130e6 : 80e6);
  const some = (night: number) => ({
    processes: night % 2 === 0 ? [] : [ran("import", { rss: 10 }), ran("export", { rss: rss(night) })],
  });
  expect(grown(year(some))).toEqual(["growth: memory went from 80000000 to 130000000, more than 100000000"]);
});

test("processor time is that of nights with all commands, without their try-ons", () => {
  const slow = (name: string) => (night: number) => ({
    processes: ["import", "export", "products", "tryon"].map((words) =>
      ran(words, { cpuMs: words === name && night > 340 ? 1_500 : 400 }),
    ),
  });
  expect(grown(year(slow("tryon")))).toEqual([]);
  expect(grown(year(slow("export")))).toEqual(["growth: cpu_ms went from 1200 to 2300, more than 1920"]);
});

test("a few months are too short to judge", () => {
  expect(grown(year((night) => ({ requests: night * 10 }), 119))).toEqual([]);
});
