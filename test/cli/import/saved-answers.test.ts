import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { generateWorld } from "../generate/generate-world.ts";

const photo = "https://cdn.example.com/a.jpg";
const down = "\x1b[B";
const tty = { stdin: true, stderr: true };

async function shop() {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  world.write("shop.csv", Buffer.from(`SKU;Titel;sex;images\nA1;grün;Damen;${photo}\n`, "latin1"));
  return world;
}

test.each(sampled(["", " --ledger own.db"], 1))(
  "a stopped import is resumed as its file was read, without a question%s",
  async (ledger) => {
    const world = await shop();
    const first = atTerminal(world, `import shop.csv --no-progress --no-wait${ledger}`, tty);
    await first.type("Read the encoding, 2 columns and 1 value of shop.csv like this?", "\r");
    expect((await first.ran).exit).toBe(0);
    const batches = () => world.requests().filter(({ method }) => method === "POST").length;
    const sent = batches();
    const second = await world.cat(`import shop.csv --no-progress${ledger}`);
    expect(second.exit, second.stderr).toBe(0);
    expect({ sent, now: batches() }).toEqual({ sent, now: sent });
    expect(world.products().map(({ reference, name, sex }) => [reference, name, sex])).toEqual([
      ["A1", "grün", "female"],
    ]);
    const third = await world.cat(`import shop.csv --no-progress${ledger}`);
    expect(third.stderr).toContain("Nothing to do: the row of shop.csv is unchanged.");
    const check = await world.cat("import shop.csv --dry-run --no-progress");
    expect(check.stderr).toContain("shop.csv: 1 row, all valid. Nothing was sent (--dry-run).");
  },
);

test("flags win over the answers; another value is another run", async () => {
  const world = await shop();
  const first = atTerminal(world, "import shop.csv --no-progress", tty);
  await first.type("like this?", "\r");
  expect((await first.ran).exit).toBe(0);
  const ran = await world.cat(
    "import shop.csv --no-progress --map-value sex:Damen=kid --map Titel=description",
  );
  expect(ran.exit).toBe(3);
  expect(ran.stderr).toContain('missing column "name" (required)');
  expect((await world.cat("import shop.csv --no-progress --map-value sex:Damen=kid")).exit).toBe(0);
  expect(world.products().map(({ name, sex }) => [name, sex])).toEqual([["grün", "kid"]]);
});

longTest("the command for failed rows in another folder has the answers as flags", async () => {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  const fails = "https://cdn.example.com/fail-timeout.jpg";
  world.write("in/a.csv", `reference,Titel,images\nA1,Hemd,${photo}|${fails}\n`);
  const first = atTerminal(world, "import in/a.csv --no-progress --failed b.csv", tty);
  await first.type("Read 1 column of in/a.csv like this?", "\r");
  expect((await first.ran).exit).toBe(8);
  expect(first.screen().replace(/\s+/g, " ")).toContain("cat import b.csv --map titel=name ");
  expect((await world.cat("import in/a.csv --no-progress --fresh --photos all")).stderr).toContain(
    "  cat import in/a.failed.csv --photos all\n",
  );
});

longTest("a finished try-on run says so without asking, also without a terminal", async () => {
  const world = await generateWorld({ env: { NO_COLOR: "1" } });
  world.write("looks.csv", "Artikel,model_id,background,angle_shot\nDRESS-1,Amara,Weiß,full-front\n");
  const first = atTerminal(world, "tryon looks.csv --yes", tty);
  await first.type("Read 1 column and 1 value of looks.csv like this?", "\r");
  expect((await first.ran).exit).toBe(0);
  const again = await world.cat("tryon looks.csv --no-progress");
  expect(again).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining("Nothing to do: 1 image of looks.csv was queued on "),
  });
  expect(world.tasks()).toHaveLength(1);
});

longTest("a sheet that was chosen is in the command to run next", async () => {
  const world = await createWorld({ env: { NO_COLOR: "1" }, mock: {} });
  const header = ["reference", "name", "images"];
  const sheets = { Alt: [header, ["A", "Dress", photo]], "Neu 2": [header, ["B", "Coat", photo]] };
  world.write("a.xlsx", await workbookOf(sheets));
  const ran = atTerminal(world, "import a.xlsx --no-progress --no-wait", tty);
  await ran.type("Which sheet of a.xlsx?", down, "\r");
  expect((await ran.ran).exit).toBe(0);
  expect(ran.screen()).toContain("cat import a.xlsx --no-progress --sheet 'Neu 2'");
});

test("a dry run creates no state", async () => {
  const world = await shop();
  world.write("known.csv", `reference,name,images\nA1,x,${photo}\n`);
  for (const file of ["known.csv", "shop.csv"]) await world.cat(`import ${file} --dry-run`);
  expect(existsSync(join(world.folder, ".home/state"))).toBe(false);
});
