import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { generateWorld } from "../generate/generate-world.ts";

const photo = "https://cdn.example.com/a.jpg";
const down = "\x1b[B";
const tty = { stdin: true, stderr: true };
const started =
  /Columns and values of \S+ are read as you chose for the run started at \S+\. To choose again, add --fresh\./;
const finished =
  /Columns and values of \S+ are read as you chose for the run started at \S+\. To change that, use --map and --map-value\./;

async function shop() {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  world.write("shop.csv", Buffer.from(`SKU;Titel;sex;images\nA1;grün;Damen;${photo}\n`, "latin1"));
  return world;
}

test.each(["", " --ledger own.db"])(
  "a stopped import does not ask again about answers for one file%s",
  async (ledger) => {
    const world = await shop();
    const line = `import shop.csv --no-progress --no-wait${ledger}`;
    const first = atTerminal(world, line, tty);
    await first.type("Read the encoding, 2 columns and 1 value of shop.csv like this?", down, "\r");
    expect((await first.ran).exit).toBe(0);
    expect(existsSync(join(world.folder, ".home/config.json"))).toBe(false);
    const batches = () => world.requests().filter(({ method }) => method === "POST").length;
    const sent = batches();
    const second = atTerminal(world, `import shop.csv --no-progress${ledger}`, tty);
    expect((await second.ran).exit).toBe(0);
    expect(second.screen().replace(/\s+/g, " ")).toMatch(started);
    expect(second.screen()).not.toContain("like this?");
    expect({ sent, now: batches() }).toEqual({ sent, now: sent });
    expect(world.products().map(({ reference, name, sex }) => [reference, name, sex])).toEqual([
      ["A1", "grün", "female"],
    ]);
    // The run has ended; the same content is read in the same way.
    const third = await world.cat(`import shop.csv --no-progress${ledger}`);
    expect(third).toEqual({ exit: 0, stdout: "", stderr: expect.stringMatching(finished) });
    expect(third.stderr).toContain("Nothing to do: the row of shop.csv is unchanged.");
  },
);

test("flags win over the answers; another value is another run", async () => {
  const world = await shop();
  const first = atTerminal(world, "import shop.csv --no-progress", tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const ran = await world.cat(
    "import shop.csv --no-progress --map-value sex:Damen=kid --map Titel=description",
  );
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain('missing column "name" (required)');
  expect((await world.cat("import shop.csv --no-progress --map-value sex:Damen=kid")).exit).toBe(0);
  expect(world.products().map(({ name, sex }) => [name, sex])).toEqual([["grün", "kid"]]);
});

test("an open run comes before a finished one, and --fresh asks again for a try-on", async () => {
  const world = await generateWorld({ env: { NO_COLOR: "1" } });
  world.write("looks.csv", "Artikel,model_id,background,angle_shot\nDRESS-1,Amara,Weiß,full-front\n");
  const first = atTerminal(world, "tryon looks.csv --yes", tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const second = atTerminal(world, "tryon looks.csv --yes --no-wait --fresh", tty);
  await second.type("like this?", down, "\r");
  expect((await second.ran).exit).toBe(0);
  const third = await world.cat("tryon looks.csv --no-progress");
  expect(third).toMatchObject({ exit: 0, stderr: expect.stringMatching(started) });
  expect(world.tasks()).toHaveLength(2);
});

test("several files are resumed without questions about the finished ones", async () => {
  const world = await shop();
  world.write("other.csv", `SKU;Titel;images\nB1;rot;${photo}\n`);
  const line = "import shop.csv other.csv --no-progress";
  const first = atTerminal(world, line, tty);
  await first.type("of 2 files like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const again = await world.cat(line);
  expect(again.exit).toBe(0);
  expect(again.stderr).toContain("Nothing to do: both rows of 2 files are unchanged.");
});

test("--encoding beside the answers is that of the run, or the file is asked about again", async () => {
  const world = await shop();
  const line = "import shop.csv --no-progress --no-wait";
  const first = atTerminal(world, line, tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const same = await world.cat(`${line} --encoding windows-1252`);
  expect(same).toEqual({ exit: 0, stdout: "", stderr: expect.stringMatching(started) });
  const other = atTerminal(world, `${line} --encoding macintosh`, tty);
  await other.type("Read 2 columns and 1 value of shop.csv like this?", "\x03");
  expect((await other.ran).exit).toBe(130);
});

test("a finished try-on run says so without asking, also without a terminal", async () => {
  const world = await generateWorld({ env: { NO_COLOR: "1" } });
  world.write("looks.csv", "Artikel,model_id,background,angle_shot\nDRESS-1,Amara,Weiß,full-front\n");
  const first = atTerminal(world, "tryon looks.csv --yes", tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const again = await world.cat("tryon looks.csv --no-progress");
  expect(again).toEqual({ exit: 0, stdout: "", stderr: expect.stringMatching(finished) });
  expect(again.stderr).toContain("Nothing to do: 1 image of looks.csv was queued on ");
  expect(world.tasks()).toHaveLength(1);
});

test("--fresh, and a file that was edited, ask again", async () => {
  const world = await shop();
  const line = "import shop.csv --no-progress --no-wait";
  const first = atTerminal(world, line, tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const fresh = atTerminal(world, `${line} --fresh`, tty);
  await fresh.type("like this?", "\x03");
  expect((await fresh.ran).exit).toBe(130);
  world.write("shop.csv", `SKU;Titel;images\nA2;x;${photo}\n`);
  const edited = atTerminal(world, line, tty);
  await edited.type("like this?", "\x03");
  expect((await edited.ran).exit).toBe(130);
});

test("a try-on run keeps them, also for a resume without a terminal", async () => {
  const world = await generateWorld({ env: { NO_COLOR: "1" } });
  world.write("looks.csv", "Artikel,model_id,background,angle_shot\nDRESS-1,Amara,Weiß,full-front\n");
  const first = atTerminal(world, "tryon looks.csv --yes --no-wait", tty);
  await first.type("Read 1 column and 1 value of looks.csv like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const second = await world.cat("tryon looks.csv --no-progress");
  expect({ exit: second.exit, stderr: second.stderr }).toEqual({
    exit: 0,
    stderr: expect.stringMatching(started),
  });
  expect(world.tasks()).toHaveLength(1);
});

test("a sheet that was chosen is in the command to run next", async () => {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  const header = ["reference", "name", "images"];
  const sheets = { Alt: [header, ["A", "Dress", photo]], "Neu 2": [header, ["B", "Coat", photo]] };
  world.write("a.xlsx", await workbookOf(sheets));
  const ran = atTerminal(world, "import a.xlsx --no-progress --no-wait", tty);
  await ran.type("Which sheet of a.xlsx?", down, "\r");
  expect((await ran.ran).exit).toBe(0);
  expect(ran.screen()).toContain("cat import a.xlsx --no-progress --sheet 'Neu 2'");
});

test("a dry run reads the file as its run does, without a question", async () => {
  const world = await shop();
  const first = atTerminal(world, "import shop.csv --no-progress", tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const check = await world.cat("import shop.csv --dry-run --no-progress");
  expect(check).toEqual({ exit: 0, stdout: "", stderr: expect.stringMatching(finished) });
  expect(check.stderr).toContain("shop.csv: 1 row, all valid. Nothing was sent (--dry-run).");
  const fresh = await world.cat("import shop.csv --dry-run --fresh --no-progress");
  expect(fresh.exit).toBe(3);
});

test("a dry run of a try-on reads the file as its run does", async () => {
  const world = await generateWorld({ env: { NO_COLOR: "1" } });
  world.write("looks.csv", "Artikel,model_id,background,angle_shot\nDRESS-1,Amara,Weiß,full-front\n");
  const first = atTerminal(world, "tryon looks.csv --yes", tty);
  await first.type("like this?", down, "\r");
  expect((await first.ran).exit).toBe(0);
  const check = await world.cat("tryon looks.csv --dry-run");
  expect(check).toMatchObject({ exit: 0, stderr: expect.stringMatching(finished) });
  expect(check.stderr).toContain(
    "looks.csv: 0 images in 0 requests. 1 image exists. Nothing was queued (--dry-run).",
  );
});

test("a dry run creates no state", async () => {
  const world = await shop();
  world.write("known.csv", `reference,name,images\nA1,x,${photo}\n`);
  for (const file of ["known.csv", "shop.csv"]) await world.cat(`import ${file} --dry-run`);
  expect(existsSync(join(world.folder, ".home/state"))).toBe(false);
});

test.each(["latin1", "utf8"] as const)(
  "catalogue.map.json wins over the answers, and the dry run agrees with the import (%s)",
  async (encoding) => {
    const world = await shop();
    const rows = `SKU;Titel;sex;Farbe;images\nA1;grün;Damen;rot;${photo}\n`;
    world.write("shop.csv", Buffer.from(rows, encoding));
    const first = atTerminal(world, "import shop.csv --no-progress --no-wait", tty);
    await first.type("like this?", down, "\r");
    expect((await first.ran).exit).toBe(0);
    world.write(
      "catalogue.map.json",
      JSON.stringify({ columns: { Farbe: "description" }, values: { sex: { Damen: "kid" } } }),
    );
    const check = await world.cat("import shop.csv --dry-run --no-progress");
    const ran = await world.cat("import shop.csv --no-progress");
    for (const { exit, stderr } of [check, ran]) {
      expect(exit).toBe(0);
      expect(stderr).toContain("Columns from catalogue.map.json: Farbe = description.");
      expect(stderr).toContain("Values from catalogue.map.json: Damen = kid.");
    }
    expect(
      world.products().map(({ reference, name, sex, description }) => [reference, name, sex, description]),
    ).toEqual([["A1", "grün", "kid", "rot"]]);
  },
);
