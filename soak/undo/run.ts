// Kills imports and their undo at every step: afterwards the catalogue equals the one before, but for times and for names
// that another client gave in between. The file was imported by this machine, or by another one, whose photos are adopted.
// `--runs N`, `--minutes N`, `--seed N`. Three controls must be caught: an undo without the record of before, one that
// takes updated products for created ones, and one that does not forget what the rows said.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/clock.ts";
import { type Mock, startMock } from "../../src/mock/index.ts";
import { loadConnect } from "../../src/state/sqlite.ts";
import { openState } from "../../src/state/state.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { photoBytes } from "../import/files.ts";
import { Running } from "../program.ts";
import { copyProgram, type Patch } from "../program-files.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
  },
});

const controls = ["none", "without before", "all created", "said rows kept"] as const;
type Control = (typeof controls)[number];

const keepSaid = {
  file: "src/state/changes.ts",
  from: "ledger.forgetSaid(account, productId);",
  to: "",
} as const satisfies Patch;
const programs = { own: await copyProgram([]), keepingSaid: await copyProgram([keepSaid]) };

interface Row {
  name: string;
  description: string;
  /** Numbers of photos; null for none. */
  front: number;
  back: number | null;
}

/** The photos of a row are its own. */
const photo = (number: number | null) => (number === null ? "" : `photos/${number}.png`);
const csv = (rows: ReadonlyMap<string, Row>) =>
  ["reference,name,description,image_front,image_back"]
    .concat(
      [...rows].map(([ref, { name, description, front, back }]) =>
        [ref, name, description, photo(front), photo(back)].join(","),
      ),
    )
    .join("\n");

/** The catalogue without times. */
const catalogue = (mock: Mock) =>
  JSON.stringify(
    mock
      .state()
      .organizations.main.products.filter(({ deleted_at }) => deleted_at === null)
      .map(({ id, reference, name, description, sex, images }) => [
        ...[id, reference, name, description, sex],
        images.map((image) => `${image.id} ${image.orientation}`).sort(),
      ])
      .sort((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1)),
  );

/** The name that another client gives. */
const theirs = "Theirs";

const counts = { imports: 0, undos: 0, kills: 0, unsent: 0, renamed: 0, replaced: 0, moved: 0, again: 0 };

/** Plays an import and its undo; returns what is wrong, or null. */
async function play(seed: number, control: Control): Promise<string | null> {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const folder = mkdtempSync(join(tmpdir(), "catalogue-undo-"));
  mkdirSync(join(folder, "work/photos"), { recursive: true });
  let photos = 0;
  const newPhoto = (): number => {
    const number = 1000 + photos++;
    writeFileSync(join(folder, "work", photo(number)), photoBytes(number));
    return number;
  };
  const mock = await startMock({ seed, demo: 3, rateLimit: false, speed: 1000 });
  const { program } = control === "said rows kept" ? programs.keepingSaid : programs.own;
  const cat = async (line: string, killAfter: number | null, home = "home") => {
    const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_HOME: join(folder, home) };
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
      const back = below(2) === 0 ? newPhoto() : null;
      rows.set(reference, {
        ...{ name: `Name ${index}`, description: below(2) === 0 ? "" : "silk" },
        ...{ front: newPhoto(), back },
      });
    }
    writeFileSync(join(folder, "work/a.csv"), csv(rows));
    // By another machine first: then the photos are adopted.
    for (const home of below(2) === 0 ? ["home"] : ["other-home", "home"]) {
      const first = await cat("import a.csv", null, home);
      if (first.status !== 0) return `the first import ended with ${first.status}: ${first.stderr}`;
    }
    const firstRuns = new Set(await state(({ runs }) => runs.ofKind("import").map(({ id }) => id)));
    const before = catalogue(mock);
    for (const [reference, row] of rows) {
      if (below(3) === 0) row.name = `Wrong ${reference}`;
      if (below(4) === 0) row.description = "wool";
      const dice = below(5);
      if (dice === 0) row.front = newPhoto();
      else if (dice === 1 && row.back !== null) [row.front, row.back] = [row.back, row.front];
      else if (dice === 2) row.back = newPhoto();
      if (dice === 0 || (dice === 2 && row.back !== null)) counts.replaced++;
      if (dice === 1 && row.back !== null) counts.moved++;
    }
    for (let index = 0; index < below(6); index++)
      rows.set(`N${index}`, { name: "New", description: "", front: newPhoto(), back: null });
    writeFileSync(join(folder, "work/a.csv"), csv(rows));
    for (let tries = below(3); tries >= 0; tries--) {
      counts.imports++;
      await cat("import a.csv", below(4) === 0 ? null : 1 + below(16));
    }
    const after = catalogue(mock);
    const run = await state(({ runs, batches, changes }) => {
      const found = runs.ofKind("import").filter(({ id }) => !firstRuns.has(id));
      const sent = found.filter(({ id }) => batches.of(id).length > 0 || [...changes.of(id)].length > 0);
      if (sent.length > 1) throw new Error("the import has several runs");
      return sent[0]?.id;
    });
    if (run === undefined) {
      counts.unsent++;
      return after === before ? null : "the catalogue changed, and no run tells why";
    }
    if (control === "without before" || control === "all created") {
      // Its results are known first.
      await cat("import a.csv", null);
      const db = (await loadConnect())(join(folder, "home/state/default.db"));
      db.execute(
        control === "without before"
          ? "UPDATE change SET before = NULL"
          : "UPDATE change SET action = 'created', after = zeroblob(24), photos = (SELECT group_concat(value, ' ') FROM (SELECT substr(value, 1, 26) AS value FROM json_each(before, '$.images') UNION SELECT value FROM json_each('[\"' || replace(photos, ' ', '\",\"') || '\"]'))) WHERE action = 'updated'",
      );
      db.close();
    }
    const renamed = new Set<string>();
    // While the service works on an import, a row may have its turn after the name.
    const { imports } = mock.state().organizations.main;
    const isWorking = imports.some(({ status }) => status === "validating" || status === "processing");
    if (control === "none" && below(3) === 0 && !isWorking) {
      const reference = `R${below(3)}`;
      renamed.add(reference);
      counts.renamed++;
      await rename(mock, reference);
    }
    const expected = renamedIn(before, renamed);
    const statuses: (number | null)[] = [];
    for (let tries = below(4); tries > 0; tries--) {
      counts.undos++;
      statuses.push((await cat(`imports undo ${run} --yes`, 1 + below(12))).status);
    }
    const last = await cat(`imports undo ${run} --yes --json`, null);
    counts.undos++;
    const now = catalogue(mock);
    if (now !== expected)
      return `the catalogue differs (${statuses.join()}, ${last.status}): ${last.stdout}\n${expected}\n${now}`;
    const kept = renamed.size > 0 && last.status === 8;
    if (last.status !== 0 && !kept) return `the undo ended with ${last.status}: ${last.stdout}${last.stderr}`;
    if (renamed.size > 0) return null;
    // The sheet is carried out again: what its rows said was undone.
    counts.again++;
    const again = await cat("import a.csv", null);
    const names = namesOf(mock);
    const unnamed = [...rows].find(([reference, { name }]) => names.get(reference) !== name)?.[0];
    return unnamed === undefined ? null : `${unnamed} was not imported again: ${again.stdout}${again.stderr}`;
  } finally {
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Another client renames a product. */
async function rename(mock: Mock, reference: string): Promise<void> {
  const product = mock.state().organizations.main.products.find((one) => one.reference === reference);
  const answer = await fetch(`${mock.baseUrl}/v1/products/${product!.id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${mock.apiKey}`, "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ name: theirs }),
  });
  if (!answer.ok) throw new Error(`the other client was answered with ${answer.status}`);
}

/** A catalogue in which another client has renamed products since. */
const renamedIn = (shown: string, renamed: ReadonlySet<string>): string =>
  JSON.stringify(
    (JSON.parse(shown) as unknown[][]).map((one) =>
      renamed.has(String(one[1])) ? one.with(2, theirs) : one,
    ),
  );

const namesOf = (mock: Mock): Map<string, string> =>
  new Map(
    mock
      .state()
      .organizations.main.products.filter(({ deleted_at }) => deleted_at === null)
      .map(({ reference, name }) => [reference!, name]),
  );

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
  `${played} runs, ${wrong} wrong; ${counts.imports} imports and ${counts.undos} undos with ${counts.kills} kills, ${counts.unsent} killed before anything was sent, ${counts.replaced} photos replaced, ${counts.moved} rows moved, ${counts.renamed} products renamed by others, ${counts.again} imported again; ${minutes().toFixed(1)} min`,
);
let uncaught = 0;
for (const control of controls.slice(1)) {
  let caught = 0;
  for (let index = 0; index < 5; index++)
    if ((await play(Number(values.seed) * 100_000 + index, control)) !== null) caught++;
  console.log(`control "${control}": caught in ${caught} of 5 runs`);
  if (caught === 0) uncaught++;
}
for (const { remove } of Object.values(programs)) remove();
process.exitCode = wrong + uncaught > 0 ? 1 : 0;
