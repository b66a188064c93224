import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { completions } from "../../../src/cli/completion/complete.ts";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { splitWords } from "../../support/split-words.ts";
import { generateWorld } from "./generate-world.ts";

const anySlug = { mock: { strictSlugs: false } };
const backgrounds =
  "Known values of background: white, light-grey, beige, black, studio, loft, street, garden, beach.\n";
const decides = "The service decides about these values.\n";

describe("a background or angle that is not listed", () => {
  test("is a note with the nearest value, and is sent", async () => {
    const world = await generateWorld(anySlug);
    world.looks(
      "DRESS-1,Amara,studoi,full-front",
      "DRESS-2,Amara,studoi,full-front",
      "DRESS-3,Amara,constructor,ful-front",
    );
    const ran = await world.cat("tryon looks.csv --yes");
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toMatch(
      new RegExp(
        [
          'looks.csv:2  background "studoi" is not a known value: did you mean "studio"\\? Correct it, or use --map-value "background:studoi=studio" \\(and 1 more row\\)',
          'looks.csv:4  background "constructor" is not a known value: correct it, or use --map-value "background:constructor=VALUE"',
          'looks.csv:4  angle_shot "ful-front" is not a known value: did you mean "full-front"\\? Correct it, or use --map-value "angle_shot:ful-front=full-front"',
          "Known values of background: white, light-grey, beige, black, studio, loft, street, garden, beach.",
          "Known values of angle_shot: full-front, full-back, full-side, half-front, half-back, close-up.",
          decides,
        ].join("\\n"),
      ),
    );
    expect(world.tasks().map(({ scene }) => scene.background)).toEqual(["studoi", "studoi", "constructor"]);
  });

  test("is listed by --dry-run, and does not make the row invalid", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studoi,full-front");
    const people = await world.cat("tryon looks.csv --dry-run");
    expect(people.exit).toBe(0);
    expect(people.stderr).toContain(
      `looks.csv:2  background "studoi" is not a known value: did you mean "studio"? Correct it, or use --map-value "background:studoi=studio"\n${backgrounds}${decides}`,
    );
    const programs = await world.cat("tryon looks.csv --dry-run --json");
    expect(JSON.parse(programs.stdout)).toMatchObject({
      ...{ total: 1, valid: 1, invalid: 0, generations: 1, problems: [] },
      notes: [
        {
          ...{ line: 2, param: "background", code: "unlisted_value" },
          message:
            'background "studoi" is not a known value: did you mean "studio"? Correct it, or use --map-value "background:studoi=studio"',
          known: ["white", "light-grey", "beige", "black", "studio", "loft", "street", "garden", "beach"],
        },
      ],
    });
  });

  test("without a guess is asked about once on a terminal, for all values that stay as they are", async () => {
    const world = await generateWorld(anySlug);
    world.looks("DRESS-1,Amara,quay,full-front", "DRESS-2,Amara,jetty,full-front");
    const declined = atTerminal(world, "tryon looks.csv");
    await declined.type("quay = ? (choose) (background, 1 row)", "\r");
    await declined.type("Send 2 unknown values to the service?", "n\r");
    expect((await declined.ran).exit).toBe(0);
    const screen = declined.screen().replace(/\s+/g, " ");
    expect(screen).toContain(
      'looks.csv:2 background "quay" is not a known value: correct it, or use --map-value "background:quay=VALUE"',
    );
    expect(screen).toContain(backgrounds.trim());
    expect(world.tasks()).toEqual([]);
    const agreed = atTerminal(world, "tryon looks.csv --save images");
    await agreed.type("Read 2 values of looks.csv like this?", "\r");
    await agreed.type("Send 2 unknown values to the service?", "y\r");
    await agreed.type("Generate 2 images of 2 products?", "y\r");
    expect((await agreed.ran).exit).toBe(0);
    expect(world.tasks()).toHaveLength(2);
  });

  longTest(
    "that the service rejects is named with its line; the other rows are queued with --skip-invalid",
    async () => {
      const world = await generateWorld();
      world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studoi,full-front");
      const ran = await world.cat("tryon looks.csv --yes");
      expect(ran.exit).toBe(3);
      expect(ran.stderr).toContain(
        "looks.csv:3  rejected by the service  invalid_request: background: must be one of",
      );
      expect(world.tasks()).toEqual([]);
      expect(await world.cat("tryon looks.csv --yes --skip-invalid")).toMatchObject({ exit: 8 });
      expect(world.tasks()).toHaveLength(1);
      expect(world.read("looks.failed.csv")).toContain("DRESS-2,Amara,studoi,full-front,invalid_request,");
    },
  );

  longTest("that the service rejects in two images of one row is named once", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2|DRESS-3,Amara,studoi,full-front");
    const ran = await world.cat("tryon looks.csv --matrix --yes --skip-invalid");
    expect(ran.stderr.match(/looks\.csv:3 {2}rejected by the service/g)).toHaveLength(1);
  });

  test("that flags name is shown by its flag", async () => {
    const world = await generateWorld(anySlug);
    const ran = await world.cat(
      "tryon --product DRESS-1 --model Amara --background studoi --angle half --yes",
    );
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain(
      `--background "studoi" is not a known value: did you mean "studio"?\n--angle "half" is not a known value: did you mean "half-front" or "half-back"?\n${backgrounds.replace("of ", "of --")}Known values of --angle: full-front, full-back, full-side, half-front, half-back, close-up.\n${decides}`,
    );
  });

  longTest("is known once the service has accepted it, or an export has shown it", async () => {
    const world = await generateWorld(anySlug);
    world.looks("DRESS-1,Amara,terrace,full-front");
    expect((await world.cat("tryon looks.csv --yes")).stderr).toContain('"terrace" is not a known value');
    world.looks("DRESS-2,Amara,terrace,full-front");
    expect((await world.cat("tryon looks.csv --yes")).stderr).not.toContain("known value");
    const elsewhere = { env: { CAT_HOME: `${world.folder}/other` } };
    world.looks("DRESS-3,Amara,terrase,full-front");
    const before = await world.cat("tryon looks.csv --dry-run", elsewhere);
    expect(before.stderr).toContain('background "terrase" is not a known value: correct it');
    for (const [at, command] of ["export --out a.ndjson --yes", "export sync mirror"].entries()) {
      const home = { env: { CAT_HOME: `${world.folder}/other-${at}` } };
      expect(await world.cat(command, home)).toMatchObject({ exit: 0 });
      const after = await world.cat("tryon looks.csv --dry-run", home);
      expect(after.stderr).toContain('"terrase" is not a known value: did you mean "terrace"?');
      const list = JSON.parse((await world.cat("commands --json")).stdout);
      const host = { env: { ...home.env, CAT_BASE_URL: world.mock.baseUrl }, cwd: () => world.folder };
      const words = ["cat", "tryon", "--background", "t"];
      expect(await completions(host, words, list)).toBe("terrace\n:\n");
    }
  });
});

test("a German angle in 20 rows, without a terminal, is one note with the flag and the list, before the command asks for --yes", async () => {
  const world = await generateWorld();
  const rows = Array.from(
    { length: 20 },
    (_, at) => `DRESS-${(at % 6) + 1},Amara,#0000${10 + at},Vorderansicht`,
  );
  world.looks(...rows);
  expect(await world.cat("tryon looks.csv")).toMatchObject({
    exit: 2,
    stderr: `looks.csv:2  angle_shot "Vorderansicht" is not a known value: did you mean "full-front"? Correct it, or use --map-value "angle_shot:Vorderansicht=full-front" (and 19 more rows)
Known values of angle_shot: full-front, full-back, full-side, half-front, half-back, close-up.
${decides}error: generating 20 images of 6 products costs credits; nothing was queued
Add --yes to agree, or --dry-run to see the plan.
`,
  });
  const mapped = await world.cat("tryon looks.csv --yes --map-value angle_shot:vorderansicht=full-front");
  expect(mapped.exit).toBe(0);
  expect(new Set(world.tasks().map(({ scene }) => scene.angle_shot))).toEqual(new Set(["full-front"]));
});

longTest("a word in objects, and in a cell of a matrix, comes to the screen as well", async () => {
  const world = await generateWorld();
  const look = {
    product_reference: "DRESS-1",
    model_id: "amara",
    background: "am Strand",
    angle_shot: "de dos",
  };
  world.write("looks.ndjson", `${JSON.stringify(look)}\n`);
  const objects = atTerminal(world, "tryon looks.ndjson --dry-run");
  await objects.type("Read 2 values of looks.ndjson like this?", "\r");
  expect((await objects.ran).exit).toBe(0);
  expect(objects.screen()).toContain("am Strand = beach (background, 1 row)");
  world.looks("DRESS-1|DRESS-2,amara,wit|zwart,voorkant|half-back");
  const matrix = atTerminal(world, "tryon looks.csv --matrix --yes --no-wait");
  await matrix.type("Read 3 values of looks.csv like this?", "\r");
  expect((await matrix.ran).exit).toBe(0);
  expect(new Set(world.tasks().map(({ scene }) => `${scene.background} ${scene.angle_shot}`))).toEqual(
    new Set(["white full-front", "white half-back", "black full-front", "black half-back"]),
  );
});

test("the flag of a note reads the value, whatever characters it has", async () => {
  const world = await generateWorld();
  const text = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme-ascii" });
  const unlisted = text.filter((value) => !value.includes("|") && /[^a-z\s-]/i.test(value.trim()));
  await fc.assert(
    fc.asyncProperty(unlisted, async (value) => {
      const look = {
        product_reference: "DRESS-1",
        model_id: "Amara",
        background: value,
        angle_shot: "close-up",
      };
      world.write("looks.ndjson", `${JSON.stringify(look)}\n`);
      const { stdout } = await world.cat("tryon looks.ndjson --dry-run --json");
      const { notes = [] } = JSON.parse(stdout) as { notes?: { message: string }[] };
      // Colors, and spellings of known values, are none.
      fc.pre(notes.length > 0);
      const flag = splitWords(/--map-value .*$/.exec(notes[0]!.message)![0])[1]!;
      const read = flag.replace(/=[^=]*$/, "=beach");
      const mapped = await world.cat(["tryon", "looks.ndjson", "--dry-run", "--json", "--map-value", read]);
      expect([value, JSON.parse(mapped.stdout).notes]).toEqual([value, undefined]);
    }),
    { numRuns: repetitions(3, 200) },
  );
});

describe("a beautified shot", () => {
  const shots = "product_reference,subtype,background,angle_shot,style\n";

  test("with values that are not listed for its subtype is sent", async () => {
    const world = await generateWorld(anySlug);
    world.write("shots.csv", `${shots}DRESS-1,shoes,marble,detail,ghost\n`);
    const ran = await world.cat("beautify shots.csv --yes");
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain(
      [
        'shots.csv:2  background "marble" is not a known value: correct it, or use --map-value "background:marble=VALUE"',
        // In rows of clothing the value is right.
        'shots.csv:2  angle_shot "detail" is not a known value for shoes',
        'shots.csv:2  style "ghost" is usual for clothing only, not for shoes',
        "Known values of background: white, light-grey, beige, black, floor.",
        "Known values of angle_shot for shoes: side, front, back, top, pair.",
        decides,
      ].join("\n"),
    );
    expect(world.tasks()).toMatchObject([
      { subtype: "shoes", scene: { angle_shot: "detail", style: "ghost" } },
    ]);
  });

  longTest("that the service rejects with 422 is named with its line", async () => {
    const world = await generateWorld();
    world.write("shots.csv", `${shots}DRESS-1,clothing,white,front,\nDRESS-2,shoes,white,detail,\n`);
    const ran = await world.cat("beautify shots.csv --yes");
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toContain(
      "shots.csv:3  rejected by the service  inputs_mismatch: angle_shot for shoes must be",
    );
    expect(ran.stderr).toContain(
      "\nFor a file of the rejected rows, run (nothing is queued twice):\n  cat beautify shots.csv --yes --skip-invalid\n",
    );
  });

  test("with a subtype or style that the specification does not list is invalid", async () => {
    const world = await generateWorld();
    world.write("shots.csv", `${shots}DRESS-1,cloth,white,front,\nDRESS-2,clothing,white,front,gost\n`);
    const ran = await world.cat("beautify shots.csv --yes");
    expect(ran.exit).toBe(3);
    expect(ran.stderr.split("\n").slice(0, 2)).toEqual([
      'shots.csv:2  subtype  invalid_row  subtype must be one of clothing, shoes, headwear, not "cloth": did you mean "clothing"? Correct it, or use --map-value "subtype:cloth=clothing"',
      'shots.csv:3  style  invalid_row  style must be one of ghost, flatlay, not "gost": did you mean "ghost"? Correct it, or use --map-value "style:gost=ghost"',
    ]);
    expect(world.queuing()).toEqual([]);
  });
});
