// `npm run mutations -- --seed S --count N`: changes random pieces of code that must not go wrong unseen, one at a time and only in
// memory, and reports the changes that no test notices.
import { createHash } from "node:crypto";
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
    /** An earlier report: the mutations that were killed in it are not tried again. */
    after: { type: "string" },
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

type Measured = Outcome["tests"][number] & { readonly digest: string };

const digestOf = (test: string): string => createHash("sha256").update(read(test)).digest("hex");

/** Runs the tests without mutations. Returns those that pass, the fastest first, with the functions that they call. */
async function measure(): Promise<readonly Measured[]> {
  const file = values.measured;
  const earlier: Measured[] =
    file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  // A mocked module would stay mocked for later files; programs that tests start run from dist/, which has no mutations.
  const found = filesBelow("test").filter(
    (path) => tested.test(path) && !/\bvi\.mock\(|spawn-cat/.test(read(path)),
  );
  const known = earlier.filter(({ test, digest }) => found.includes(test) && digestOf(test) === digest);
  const open = found.filter((path) => !known.some(({ test }) => test === path));
  const texts = Object.fromEntries(sources.map((path) => [join(root, path), withHits(path, read(path))]));
  const parts = Array.from({ length: Math.ceil(open.length / 20) }, (_, at) =>
    open.slice(at * 20, at * 20 + 20),
  );
  await inSessions(parts, async (tests, session) => {
    const outcome = await session.run({ tests, texts, bail: false }, 1_800_000);
    for (const failure of outcome?.failed ?? [`${tests[0]} and others do not end`])
      console.error(`without mutations: ${failure}`);
    for (const one of outcome?.tests ?? [])
      if (!outcome!.failed.some((failure) => failure.startsWith(`${one.test}:`)))
        known.push({ ...one, digest: digestOf(one.test) });
  });
  known.sort((one, other) => one.ms - other.ms);
  if (file !== undefined) writeFileSync(file, JSON.stringify(known));
  return known;
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
/** A mutation as the report names it. */
const shown = ({ file, line, before, after }: Mutation): string =>
  `${file}:${line} \`${shortened(before)}\` → \`${after}\``;
const killed =
  values.after === undefined
    ? []
    : readFileSync(values.after, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("killed: "));
const random = seededRandom(Number(values.seed));
const drawn = sources
  .filter((file) => values.area === undefined || areaOf(file)!.name === values.area)
  .flatMap((file) => mutationsOf(file, read(file)))
  .map((mutation) => ({ mutation, place: random() }))
  .sort((one, other) => one.place - other.place)
  .slice(0, Number(values.count))
  .filter(({ mutation }) => !killed.some((line) => line.startsWith(`killed: ${shown(mutation)} (`)));
const counts = new Map(areas.map(({ name }) => [name, { killed: 0, "timed out": 0, survived: 0 }]));
await inSessions(drawn, async ({ mutation }, session) => {
  const [kind, why] = await judge(mutation, session);
  counts.get(areaOf(mutation.file)!.name)![kind]++;
  console.log(`${kind}: ${shown(mutation)} (${why})`);
});
for (const session of sessions) session.end();
console.table(Object.fromEntries(counts));
