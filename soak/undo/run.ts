// Kills imports and their undo at every step: afterwards the catalogue equals the one before, but for IDs and times.
// `--runs N`, `--minutes N`, `--seed N`. Two controls must be caught: an undo without the record of before, and one that
// takes updated products for created ones.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/clock.ts";
import { type Mock, startMock } from "../../src/mock/index.ts";
import { loadConnect } from "../../src/state/sqlite.ts";
import { openState } from "../../src/state/state.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { Running } from "../program.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
  },
});

const program = join(import.meta.dirname, "../../bin/cat.js");
const controls = ["none", "without before", "all created"] as const;
type Control = (typeof controls)[number];

interface Row {
  name: string;
  description: string;
  photos: string[];
}

const photo = (reference: string, index: number) => `https://cdn.example.com/${reference}-${index}.jpg`;
const csv = (rows: ReadonlyMap<string, Row>) =>
  ["reference,name,description,images"]
    .concat([...rows].map(([ref, row]) => [ref, row.name, row.description, row.photos.join("|")].join(",")))
    .join("\n");

/** The catalogue without times. */
const catalogue = (mock: Mock) =>
  JSON.stringify(
    mock
      .state()
      .organizations.main.products.filter(({ deleted_at }) => deleted_at === null)
      .map(({ id, reference, name, description, sex, images }) => [
        ...[id, reference, name, description, sex],
        images.map((image) => image.id).sort(),
      ])
      .sort((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1)),
  );

const counts = { imports: 0, undos: 0, kills: 0, unsent: 0 };

/** Plays an import and its undo; returns what is wrong, or null. */
async function play(seed: number, control: Control): Promise<string | null> {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const folder = mkdtempSync(join(tmpdir(), "catalogue-undo-"));
  mkdirSync(join(folder, "work"));
  const mock = await startMock({ seed, demo: 3, rateLimit: false, speed: 1000 });
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_HOME: join(folder, "home") };
  const cat = async (line: string, killAfter: number | null) => {
    const before = mock.requests().length;
    const running = new Running(program, line.split(" "), { cwd: join(folder, "work"), env });
    let isKilled = false;
    const delay = below(30);
    const watch = setInterval(() => {
      if (killAfter === null || isKilled || mock.requests().length - before < killAfter) return;
      isKilled = true;
      counts.kills++;
      setTimeout(running.kill, delay);
    }, 1);
    const ended = await running.ended;
    clearInterval(watch);
    return ended;
  };
  const state = async <Value>(read: (state: Awaited<ReturnType<typeof openState>>) => Value) => {
    const open = await openState(join(folder, "home/state/default.db"), { clock: systemClock() });
    try {
      return read(open);
    } finally {
      open.close();
    }
  };
  try {
    const rows = new Map<string, Row>();
    for (let index = 0; index < 3 + below(12); index++) {
      const reference = `R${index}`;
      const photos = Array.from({ length: 1 + below(3) }, (_, at) => photo(reference, at));
      rows.set(reference, { name: `Name ${index}`, description: below(2) === 0 ? "" : "silk", photos });
    }
    writeFileSync(join(folder, "work/first.csv"), csv(rows));
    const first = await cat("import first.csv", null);
    if (first.status !== 0) return `the first import ended with ${first.status}: ${first.stderr}`;
    const before = catalogue(mock);
    for (const [reference, row] of rows) {
      if (below(3) === 0) row.name = `Wrong ${reference}`;
      if (below(4) === 0) row.description = "wool";
      if (below(3) === 0) row.photos.push(photo(reference, 9));
    }
    for (let index = 0; index < below(6); index++)
      rows.set(`N${index}`, { name: "New", description: "", photos: [photo(`N${index}`, 0)] });
    writeFileSync(join(folder, "work/second.csv"), csv(rows));
    for (let tries = below(3); tries >= 0; tries--) {
      counts.imports++;
      await cat("import second.csv", below(4) === 0 ? null : 1 + below(12));
    }
    const after = catalogue(mock);
    const run = await state(({ runs, batches, changes }) => {
      const found = runs.ofKind("import").filter(({ file }) => file === "second.csv");
      const sent = found.filter(({ id }) => batches.of(id).length > 0 || [...changes.of(id)].length > 0);
      if (sent.length > 1) throw new Error("the import has several runs");
      return sent[0]?.id;
    });
    if (run === undefined) {
      counts.unsent++;
      return after === before ? null : "the catalogue changed, and no run tells why";
    }
    if (control !== "none") {
      // Its results are known first.
      await cat("import second.csv", null);
      const db = (await loadConnect())(join(folder, "home/state/default.db"));
      db.execute(
        control === "without before"
          ? "UPDATE change SET before = NULL"
          : "UPDATE change SET action = 'created', after = zeroblob(24), photos = (SELECT group_concat(value, ' ') FROM (SELECT substr(value, 1, 26) AS value FROM json_each(before, '$.images') UNION SELECT value FROM json_each('[\"' || replace(photos, ' ', '\",\"') || '\"]'))) WHERE action = 'updated'",
      );
      db.close();
    }
    const statuses: (number | null)[] = [];
    for (let tries = below(4); tries > 0; tries--) {
      counts.undos++;
      statuses.push((await cat(`imports undo ${run} --yes`, 1 + below(12))).status);
    }
    const last = await cat(`imports undo ${run} --yes --json`, null);
    counts.undos++;
    const now = catalogue(mock);
    if (now !== before)
      return `the catalogue differs (${statuses.join()}, ${last.status}): ${last.stdout}\n${before}\n${now}`;
    return last.status === 0 ? null : `the undo ended with ${last.status}: ${last.stdout}${last.stderr}`;
  } finally {
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const began = performance.now();
const minutes = () => (performance.now() - began) / 60_000;
let played = 0;
let wrong = 0;
for (let index = 0; index < Number(values.runs) && minutes() < Number(values.minutes); index++) {
  const fault = await play(Number(values.seed) * 100_000 + index, "none");
  played++;
  if (fault === null) continue;
  wrong++;
  console.log(`run ${index}: ${fault}`);
}
console.log(
  `${played} runs, ${wrong} wrong; ${counts.imports} imports and ${counts.undos} undos with ${counts.kills} kills, ${counts.unsent} killed before anything was sent; ${minutes().toFixed(1)} min`,
);
let uncaught = 0;
for (const control of controls.slice(1)) {
  let caught = 0;
  for (let index = 0; index < 5; index++)
    if ((await play(Number(values.seed) * 100_000 + index, control)) !== null) caught++;
  console.log(`control "${control}": caught in ${caught} of 5 runs`);
  if (caught === 0) uncaught++;
}
process.exitCode = wrong + uncaught > 0 ? 1 : 0;
