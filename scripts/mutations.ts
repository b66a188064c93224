// `npm run mutations -- --seed S --count N`: changes random pieces of code that must not go wrong unseen, one at a time and only in
// memory, and reports the changes that no test notices.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { seededRandom } from "../test/support/seeded-random.ts";
import { areas, tested } from "./mutations/areas.ts";
import { functionsOf, type Mutation, mutated, mutationsOf, withHits } from "./mutations/mutate.ts";
import { type Outcome, Session } from "./mutations/sessions.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "300" },
    area: { type: "string" },
    jobs: { type: "string", default: "1" },
    /** A file for what is known of the tests, which is used again. */
    measured: { type: "string" },
    /** The tests of a mutation may take so many milliseconds without it: the fastest are chosen. */
    budget: { type: "string", default: "30000" },
  },
});

const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .sort();
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const areaOf = (file: string) => areas.find(({ sources }) => sources.test(file));

const sources = filesBelow("src").filter((file) => file.endsWith(".ts") && areaOf(file) !== undefined);
const sessions = Array.from({ length: Number(values.jobs) }, () => new Session());

/** Runs each item in the next session that is free. */
async function inSessions<Item>(
  items: readonly Item[],
  run: (item: Item, session: Session) => Promise<void>,
) {
  const left = [...items];
  const work = async (session: Session) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item, session);
  };
  await Promise.all(sessions.map(work));
}

/** Runs all tests without mutations. Returns those that pass, the fastest first, with the functions that they call. */
async function measure(): Promise<Outcome["tests"]> {
  if (values.measured !== undefined && existsSync(values.measured))
    return JSON.parse(readFileSync(values.measured, "utf8")) as Outcome["tests"];
  // A mocked module would stay mocked for later files; programs that tests start run from dist/, which has no mutations.
  const found = filesBelow("test").filter(
    (path) => tested.test(path) && !/\bvi\.mock\(|spawn-cat/.test(read(path)),
  );
  const texts = Object.fromEntries(sources.map((file) => [join(root, file), withHits(file, read(file))]));
  const passed: Outcome["tests"][number][] = [];
  const parts = Array.from({ length: Math.ceil(found.length / 20) }, (_, at) =>
    found.slice(at * 20, at * 20 + 20),
  );
  await inSessions(parts, async (tests, session) => {
    const outcome = await session.run({ tests, texts, bail: false }, 1_800_000);
    for (const failure of outcome?.failed ?? [`${tests[0]} and others do not end`])
      console.error(`without mutations: ${failure}`);
    const isPassed = (test: string) => !outcome!.failed.some((failure) => failure.startsWith(`${test}:`));
    passed.push(...(outcome?.tests ?? []).filter(({ test }) => isPassed(test)));
  });
  passed.sort((one, other) => one.ms - other.ms);
  if (values.measured !== undefined) writeFileSync(values.measured, JSON.stringify(passed));
  return passed;
}

const measured = await measure();

/** The fastest tests that call the function of the mutation; for a table, those of its file and area. */
function testsOf({ file, from }: Mutation): Outcome["tests"] {
  const around = functionsOf(file, read(file)).findLast(({ start, end }) => start <= from && from < end);
  const isCalled = (hit: string) =>
    around === undefined ? hit.startsWith(`${file}:`) : hit === `${file}:${around.start}`;
  const { tables } = areaOf(file)!;
  const chosen = measured.filter(
    ({ test, hits }) => hits.some(isCalled) || (around === undefined && tables?.test(test)),
  );
  let ms = 0;
  return chosen.filter((test) => {
    ms += test.ms;
    return ms - test.ms < Number(values.budget);
  });
}

async function judge(mutation: Mutation, session: Session): Promise<readonly [Kind, string]> {
  const chosen = testsOf(mutation);
  if (chosen.length === 0) return ["survived", "no test calls it"];
  const texts = { [join(root, mutation.file)]: mutated(read(mutation.file), mutation) };
  const limitMs = 60_000 + 6 * chosen.reduce((sum, { ms }) => sum + ms, 0);
  const outcome = await session.run({ tests: chosen.map(({ test }) => test), texts, bail: true }, limitMs);
  if (outcome === null) return ["timed out", ""];
  const [failure] = outcome.failed;
  return failure === undefined ? ["survived", `${chosen.length} test files`] : ["killed", failure];
}

type Kind = "killed" | "timed out" | "survived";
const shortened = (text: string) => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 75)} … ${line.slice(-10)}` : line;
};
const random = seededRandom(Number(values.seed));
const drawn = sources
  .filter((file) => values.area === undefined || areaOf(file)!.name === values.area)
  .flatMap((file) => mutationsOf(file, read(file)))
  .map((mutation) => ({ mutation, place: random() }))
  .sort((one, other) => one.place - other.place)
  .slice(0, Number(values.count));
const counts = new Map(areas.map(({ name }) => [name, { killed: 0, "timed out": 0, survived: 0 }]));
await inSessions(drawn, async ({ mutation }, session) => {
  const [kind, why] = await judge(mutation, session);
  counts.get(areaOf(mutation.file)!.name)![kind]++;
  const { file, line, before, after } = mutation;
  console.log(`${kind}: ${file}:${line} \`${shortened(before)}\` → \`${after}\` (${why})`);
});
for (const session of sessions) session.end();
console.table(Object.fromEntries(counts));
