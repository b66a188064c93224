import { expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { generateWorld } from "./generate-world.ts";

/** Products of each sex: W-1 to W-40 for women, M-1 for men, K-1 for children, U-1 and N-1 for anybody. */
async function clothes() {
  const world = await generateWorld();
  const rows = [
    ...Array.from({ length: 40 }, (_, at) => [`W-${at + 1}`, "female"]),
    ["M-1", "male"],
    ["K-1", "kid"],
    ["U-1", "other"],
    ["N-1", ""],
  ];
  const photo = "https://cdn.example.com/1.jpg";
  world.write(
    "clothes.csv",
    ["reference,name,sex,images", ...rows.map(([one, sex]) => `${one},${one},${sex},${photo}`), ""].join(
      "\n",
    ),
  );
  expect((await world.cat("import clothes.csv")).exit).toBe(0);
  return world;
}

const women = Array.from({ length: 40 }, (_, at) => `W-${at + 1}`).join("|");
const mismatch = "40 products for women are on a male model (Bastian): W-1, W-2, W-3 and 37 more.\n";

test("models are found by their names in any case, and an exact name comes first", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,amara,studio,full-front", "DRESS-2,BASTIAN,studio,full-front");
  expect(await world.cat("tryon looks.csv --yes")).toMatchObject({ exit: 0 });
  expect(world.tasks().map(({ scene }) => scene.person?.id)).toEqual(["mdl_001", "mdl_002"]);
  world.looks("DRESS-3,Amara,studio,full-front", "DRESS-3,aMARA,studio,full-front");
  expect(await world.cat("tryon looks.csv --yes")).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining("looks.csv:3  -  duplicate_input"),
  });
  expect(
    await world.cat("tryon --product DRESS-4 --model amar --background white --angle full-front"),
  ).toMatchObject({ exit: 3, stderr: expect.stringContaining('no model "amar": did you mean "Amara"?') });
});

longTest(
  "40 products for women on a man are one note with their number, before the question and with --yes",
  async () => {
    const world = await clothes();
    world.looks(`${women},Bastian,studio,full-front|full-back`, "M-1|K-1|U-1|N-1,bastian,studio,full-front");
    const screen = atTerminal(world, "tryon looks.csv --matrix");
    await screen.type("Generate 84 images of 44 products?", "n\r");
    expect((await screen.ran).exit).toBe(0);
    const shown = screen.screen().replace(/\s+/g, " ");
    expect(shown).toContain(mismatch.trim());
    expect(shown.indexOf("products for women")).toBeLessThan(shown.indexOf("Generate 84 images"));
    const ran = await world.cat("tryon looks.csv --matrix --yes --no-wait");
    expect(ran.exit).toBe(0);
    expect(ran.stderr.split("\n").filter((line) => line.includes("model ("))).toEqual([mismatch.trim()]);
    // What is queued already is not asked about again.
    expect((await world.cat("tryon looks.csv --matrix --yes")).stderr).not.toContain("products for women");
  },
);

test("a dry run notes both directions, as a code and a place for programs", async () => {
  const world = await clothes();
  world.looks("W-1,Bastian,studio,full-front", "M-1,Amara,studio,full-front", "W-2,Amara,studio,full-front");
  const people = await world.cat("tryon looks.csv --dry-run");
  expect(people.stderr).toContain(
    "1 product for women is on a male model (Bastian): W-1.\n1 product for men is on a female model (Amara): M-1.\n",
  );
  const { stdout, exit } = await world.cat("tryon looks.csv --dry-run --json");
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ invalid: 0, generations: 3 },
    notes: [
      { line: 2, param: "model_id", code: "sex_mismatch" },
      { line: 3, param: "model_id", code: "sex_mismatch" },
    ],
  });
});

longTest("a run with --json has the notes of its dry run in the summary", async () => {
  const world = await clothes();
  world.looks("W-1,Bastian,Strand,full-front", "W-2,Amara,studio,full-front");
  const line = "tryon looks.csv --map-value background:Strand=plage --json";
  const dry = await world.cat(`${line} --dry-run`);
  const { notes } = JSON.parse(dry.stdout);
  expect(notes.map(({ code }: { code: string }) => code)).toEqual(["unlisted_value", "sex_mismatch"]);
  const ran = await world.cat(`${line} --yes`);
  expect(JSON.parse(ran.stdout).notes).toEqual(notes);
});

test("images of an invalid row of several are counted as such, by --json and for people", async () => {
  const world = await clothes();
  world.looks("W-1,Amara,studio,full-front", "NOPE,Amara,studio|beach,full-front|full-back");
  const line = "tryon looks.csv --matrix --skip-invalid --yes";
  const json = await world.cat(`${line} --json`);
  expect(JSON.parse(json.stdout)).toMatchObject({ total: 5, queued: 1, invalid: 4 });
  world.looks("M-1,Bastian,studio,full-front", "NOPE,Amara,studio|beach,full-front|full-back");
  expect((await world.cat(line)).stderr).toContain("\n  4 images of invalid rows skipped\n");
});

test.each(sampled(["--results a.pdf", "--failed a.zip", "--gallery a.xlsx"], 1))(
  "a dry run rejects a false ending as well: %s",
  async (flag) => {
    const world = await clothes();
    world.looks("W-1,Amara,studio,full-front");
    const ran = await world.cat(`tryon looks.csv --dry-run ${flag}`);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toContain(`error: cannot write ${flag}: it is written as `);
  },
);
