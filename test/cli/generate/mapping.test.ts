import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { generateWorld } from "./generate-world.ts";

const looks = `Artikel,Modell,Hintergrund,Winkel,Preis
DRESS-1,Amara,Weiß,Full Front,12
DRESS-2,Amara,WEISS,close-up,13
`;
const asked = "--map Artikel=product_reference --map Modell=model_id --map Hintergrund=background";
const named = `${asked} --map Winkel=angle_shot --map Preis=ignore`;
const read = "--map-value background:weiß=white --map-value background:weiss=white";

async function shop(content = looks) {
  const world = await generateWorld({ env: { NO_COLOR: "1" } });
  world.write("looks.csv", content);
  const generated = () =>
    world.mock
      .state()
      .organizations.main.images.flatMap(({ generation }) =>
        generation === null ? [] : `${generation.background} ${generation.angle_shot}`,
      );
  return { ...world, generated };
}

describe("columns and values of a sheet of looks", () => {
  test("are read as --map and --map-value say", async () => {
    const world = await shop();
    const value = ["--map-value", "angle_shot:Full Front=full-front"];
    const { exit, stderr } = await world.cat([
      ..."tryon looks.csv --yes".split(" "),
      ...`${named} ${read}`.split(" "),
      ...value,
    ]);
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    expect(world.generated()).toEqual(["white full-front", "white close-up"]);
  });

  test("are problems with flags to copy, without a terminal", async () => {
    const world = await shop();
    const { exit, stderr } = await world.cat("tryon looks.csv --dry-run");
    expect({ exit, stderr }).toEqual({
      exit: 3,
      stderr: `looks.csv:1  Artikel  unknown_column  unknown column "Artikel"; did you mean product_reference? Rename it, or use --map "Artikel=product_reference" or --map "Artikel=ignore"
looks.csv:1  Modell  unknown_column  unknown column "Modell"; did you mean model_id? Rename it, or use --map "Modell=model_id" or --map "Modell=ignore"
looks.csv:1  Hintergrund  unknown_column  unknown column "Hintergrund"; did you mean background? Rename it, or use --map "Hintergrund=background" or --map "Hintergrund=ignore"
looks.csv:1  Winkel  unknown_column  unknown column "Winkel"; did you mean angle_shot? Rename it, or use --map "Winkel=angle_shot" or --map "Winkel=ignore"
looks.csv:1  Preis  unknown_column  unknown column "Preis": rename it, or use --map "Preis=FIELD" or --map "Preis=ignore"
looks.csv:1  model_id  missing_column  missing column "model_id" (required): add it, or use --map "COLUMN=model_id"
looks.csv:1  background  missing_column  missing column "background" (required): add it, or use --map "COLUMN=background"
looks.csv:1  angle_shot  missing_column  missing column "angle_shot" (required): add it, or use --map "COLUMN=angle_shot"
looks.csv:1  product_reference  missing_column  missing column "product_reference" or "product_id" (one of them is required): add one, or use --map "COLUMN=product_reference"
FIELD is one of: product_id, product_reference, model_id, styling_product_ids, background, angle_shot, look_at_camera.
error: cannot read rows from looks.csv; nothing was queued
Fix the file and run the command again.
`,
    });
  });

  longTest("are guessed for yes and no as German spreadsheets write them", async () => {
    const header = "product_reference,model_id,background,angle_shot,look_at_camera";
    const world = await shop(`${header}\nDRESS-1,Amara,white,full-front,WAHR\n`);
    expect((await world.cat("tryon looks.csv --dry-run")).stderr.split("\n")[0]).toBe(
      'looks.csv:2  look_at_camera  invalid_row  look_at_camera must be true or false, not "WAHR": correct it, or use --map-value "look_at_camera:WAHR=true"',
    );
  });

  test("are guessed on one screen, and saved for later files", async () => {
    const world = await shop();
    const first = atTerminal(world, "tryon looks.csv --dry-run", { stdin: true, stderr: true });
    await first.type("Read 5 columns and 2 values of looks.csv like this?", "\r");
    expect((await first.ran).exit).toBe(0);
    for (const line of [
      "Artikel = product_reference (example: DRESS-1)",
      "Hintergrund = background (example: Weiß)",
      "Preis = skipped (example: 12)",
      "Weiß = white (background, 1 row)",
    ])
      expect(first.screen()).toContain(line);
    expect(JSON.parse(world.read("catalogue.map.json"))).toEqual({
      columns: {
        Artikel: "product_reference",
        Modell: "model_id",
        Hintergrund: "background",
        Winkel: "angle_shot",
        Preis: "ignore",
      },
      values: { background: { Weiß: "white", WEISS: "white" } },
    });
    const again = await world.cat("tryon looks.csv --yes --no-progress");
    expect(again.stderr).toContain(
      "Columns from catalogue.map.json: Artikel = product_reference, Modell = model_id, Hintergrund = background, Winkel = angle_shot, Preis = ignore.\nValues from catalogue.map.json: Weiß = white, WEISS = white.\n",
    );
    expect(again.exit).toBe(0);
    expect(world.generated()).toEqual(["white full-front", "white close-up"]);
    // All commands read the same file.
    world.write("shots.csv", "Artikel,subtype,background,angle_shot\nDRESS-1,clothing,Weiß,front\n");
    expect((await world.cat("beautify shots.csv --dry-run")).exit).toBe(0);
  });

  longTest("keep a value that the service may know, if the user says so", async () => {
    const world = await shop(
      "product_reference,model_id,background,angle_shot\nDRESS-1,Amara,Lofts,full-front\n",
    );
    const first = atTerminal(world, "tryon looks.csv --dry-run", { stdin: true, stderr: true });
    await first.type("Read 1 value of looks.csv like this?", "\x1b[B", "\r");
    await first.type('What is "Lofts"? (background, 1 row)', ..."\x1b[B".repeat(4).match(/.{3}/gsu)!, "\r");
    await first.type("Lofts = Lofts (background, 1 row)", "\r");
    expect((await first.ran).exit).toBe(0);
    const again = atTerminal(world, "tryon looks.csv --dry-run", { stdin: true, stderr: true });
    expect((await again.ran).exit).toBe(0);
    expect(again.screen()).not.toContain("like this?");
  });

  longTest("keep such a value without a question, however it was decided", async () => {
    const world = await shop(
      "product_reference,model_id,background,angle_shot\nDRESS-1,Amara,studio,Vorderansicht\n",
    );
    const flag = ["--map-value", "angle_shot:Vorderansicht=Vorderansicht"];
    const ran = await world.cat(["tryon", "looks.csv", "--dry-run", ...flag]);
    expect(ran).toMatchObject({ exit: 0, stderr: expect.not.stringContaining("known value") });
    const screen = atTerminal(world, "tryon looks.csv");
    await screen.type("Read 1 value of looks.csv like this?", "\x1b[B", "\r");
    await screen.type('What is "Vorderansicht"?', ..."\x1b[B".repeat(6).match(/.{3}/gsu)!, "\r");
    await screen.type("Vorderansicht = Vorderansicht (angle_shot, 1 row)", "\r");
    await screen.type("Generate 1 image of 1 product?", "n\r");
    expect((await screen.ran).exit).toBe(0);
    expect(screen.screen()).not.toContain("unknown value");
  });

  longTest("come to the screen although another column has too many of its own", async () => {
    const world = await shop();
    const rows = Array.from({ length: 21 }, (_, at) => `DRESS-1,Amara,room${at},Seitenansicht`);
    world.write("looks.csv", ["product_reference,model_id,background,angle_shot", ...rows, ""].join("\n"));
    const screen = atTerminal(world, "tryon looks.csv --dry-run");
    await screen.type("Read 1 value of looks.csv like this?", "\r");
    expect((await screen.ran).exit).toBe(0);
    expect(screen.screen()).toContain("Seitenansicht = full-side (angle_shot, 21 rows)");
    expect(screen.screen().replace(/\s+/g, " ")).toContain(
      "1 more value is not known; to list all, add --dry-run --json.",
    );
  });

  longTest("have the values that exports have shown as choices and guesses", async () => {
    const world = await generateWorld({ env: { NO_COLOR: "1" }, mock: { strictSlugs: false } });
    world.looks("DRESS-1,Amara,terrace,knee-front");
    await world.cat("tryon looks.csv --yes");
    const home = { env: { CAT_HOME: join(world.folder, "other") } };
    await world.cat("export --out all.ndjson", home);
    world.looks("DRESS-2,Amara,Terrasse,knee-front", "DRESS-3,Amara,quay,full-front");
    const elsewhere = { cat: (line: string, more: object) => world.cat(line, { ...home, ...more }) };
    const screen = atTerminal({ cat: elsewhere.cat as typeof world.cat }, "tryon looks.csv --dry-run");
    await screen.type("quay = ? (choose) (background, 1 row)", "\x1b[B", "\r");
    await screen.type('What is "quay"? (background, 1 row)', "\x1b[A", "\r");
    await screen.type("quay = terrace (background, 1 row)", "\r");
    expect(await screen.ran).toMatchObject({ exit: 0 });
    expect(screen.screen()).toContain("Terrasse = terrace (background, 1 row)");
    expect(screen.screen()).not.toContain("knee-front = ");
  });

  longTest("of a beautified shot have choices in other languages, also in a matrix", async () => {
    const world = await shop();
    world.write(
      "shots.csv",
      "product_reference,subtype,background,angle_shot\nDRESS-1,Schuhe,weiß|schwarz,side\n",
    );
    const plain = await world.cat("beautify shots.csv --dry-run");
    expect(plain.stderr.split("\n")[0]).toBe(
      'shots.csv:2  subtype  invalid_row  subtype must be one of clothing, shoes, headwear, not "Schuhe": correct it, or use --map-value "subtype:Schuhe=shoes"',
    );
    const first = atTerminal(world, "beautify shots.csv --matrix --yes", {
      stdin: true,
      stderr: true,
    });
    await first.type("Read 3 values of shots.csv like this?", "\r");
    expect((await first.ran).exit).toBe(0);
    expect(world.generated()).toEqual(["white side", "black side"]);
  });
});

describe("a run of a mapped file", () => {
  const mia = "Artikel,model_id,background,angle_shot\nDRESS-1,Amara,Weiß,full-front\n";
  const queue = "tryon looks.csv --map Artikel=product_reference --yes";

  test("is the same run if a file maps it as the flags did: nothing is queued twice", async () => {
    const world = await shop(mia);
    const first = await world.cat(`${queue} --map-value background:Weiß=white`);
    expect(first.exit).toBe(0);
    const map = { columns: { Artikel: "product_reference" }, values: { background: { Weiß: "white" } } };
    world.write("catalogue.map.json", JSON.stringify(map));
    expect((await world.cat("tryon looks.csv --yes")).exit).toBe(0);
    expect(world.generated()).toEqual(["white full-front"]);
  });

  test("is rejected with another mapping: nothing is queued until --fresh", async () => {
    const world = await shop(mia);
    await world.cat(`${queue} --map-value background:Weiß=white`);
    const other = `${queue} --map-value background:Weiß=black`;
    expect(await world.cat(other)).toMatchObject({
      exit: 3,
      stderr: `error: looks.csv:2 was queued with "white", and is now read as "black"; nothing was queued
Map columns and values as before (--map, --map-value), or add --fresh to generate all images again.
`,
    });
    expect(world.generated()).toEqual(["white full-front"]);
    expect((await world.cat(`${other} --fresh`)).exit).toBe(0);
    expect(world.generated()).toEqual(["white full-front", "black full-front"]);
  });
});

longTest("a value that was none before is named as none", async () => {
  const world = await shop();
  const head = "product_reference,subtype,background,angle_shot,style\n";
  world.write("shots.csv", `${head}DRESS-1,clothing,white,front,k. A.\n`);
  const line = ["beautify", "shots.csv", "--yes", "--map-value"];
  expect((await world.cat([...line, "style:k. A.="])).exit).toBe(0);
  expect(await world.cat([...line, "style:k. A.=ghost"])).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining(
      'error: shots.csv:2 was queued with no style, and is now read as "ghost"; nothing was queued\n',
    ),
  });
});

test.each([
  ["--map Artikel=referenz", 'unknown field "referenz"'],
  ["--map-value subtype:Schuhe=schuh", 'unknown value "schuh"'],
])("cat tryon exits with 2 for %s", async (flag, message) => {
  const world = await shop();
  const { exit, stderr } = await world.cat(`beautify looks.csv ${flag}`);
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(message) });
});

test("cat tryon exits with 2 for a mapping without a file", async () => {
  const world = await shop();
  const { exit, stderr } = await world.cat("tryon --product DRESS-1 --map a=background");
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: "error: --map needs a file\nAdd a file, or remove --map.\n",
  });
});
