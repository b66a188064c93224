import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";
import { generateWorld, summaryOf } from "../generate/generate-world.ts";
import { importsWorld, mixed } from "../imports/imports-world.ts";

const lines = (text: string) => text.trimEnd().split("\n");

test("every command that lists or gets resources has --format, --fields and --no-formula-guard", async () => {
  const world = await createWorld();
  const { commands } = JSON.parse((await world.cat("commands --json")).stdout) as {
    commands: { name: string; flags: { flag: string }[] }[];
  };
  // These print one value, the lines of a script, or rows of their own.
  const others = new Set(["config get"]);
  const printing = commands.filter(({ name }) => /^(?:whoami|\w+ (?:list|get|rows|watch))$/.test(name));
  for (const { name, flags } of printing.filter((one) => !others.has(one.name))) {
    const names = flags.map(({ flag }) => flag);
    expect([name, names]).toEqual([
      name,
      expect.arrayContaining(["--format", "--fields", "--no-formula-guard"]),
    ]);
  }
  expect(printing.length).toBeGreaterThan(14);
});

describe("--fields", () => {
  test("chooses the fields of a list and their order, in all formats", async () => {
    const world = await createWorld({ mock: { demo: 2 } });
    const [older, newer] = world.products();
    const rows = [newer!, older!];
    const { stdout: table } = await world.cat("products list --fields reference,images.0.id,images");
    expect(lines(table).map((line) => line.split(/ {2,}/))).toEqual([
      ["reference", "images.0.id", "images"],
      ...rows.map(({ reference, images }) => [reference, images[0]!.id, String(images.length)]),
    ]);
    const chosen = rows.map(({ reference, images }) => ({ reference, "images.0.id": images[0]!.id }));
    const { stdout: ndjson } = await world.cat("products list --json --fields reference,images.0.id");
    expect(ndjson).toBe(chosen.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const { stdout: json } = await world.cat("products list --format json --fields reference,images.0.id");
    expect(json).toBe(`${JSON.stringify(chosen, null, 2)}\n`);
    const { stdout: csv } = await world.cat("products list --format csv --fields images,images.0.id");
    expect(parse(csv)).toEqual([
      ["images", "images.0.id"],
      ...rows.map(({ images }) => [images.map(({ id }) => id).join("|"), images[0]!.id]),
    ]);
  });

  test("chooses the fields of one resource, in all formats", async () => {
    const world = await createWorld({ mock: { demo: 1 } });
    const { id, reference, images } = world.products()[0]!;
    const get = async (flags: string) =>
      (await world.cat(`products get ${id} --fields reference,images.9.id ${flags}`)).stdout;
    expect(await get("")).toBe(`reference    ${reference}\nimages.9.id  -\n`);
    expect(await get("--json")).toBe(`{"reference":"${reference}","images.9.id":null}\n`);
    expect(await get("--format json")).toBe(`{\n  "reference": "${reference}",\n  "images.9.id": null\n}\n`);
    expect(await get("--format ndjson")).toBe(`{"reference":"${reference}","images.9.id":null}\n`);
    expect(await get("--format csv")).toBe(`reference,images.9.id\n${reference},\n`);
    const [row] = parse((await world.cat(`products get ${id} --format csv`)).stdout, { columns: true });
    expect(row).toMatchObject({ id, reference, images: images.map((image) => image.id).join("|") });
  });

  test.each([
    ["products list --fields refrence", "refrence", "Did you mean reference? Fields: id, name, reference, "],
    ["products get X --fields images.id", "images.id", "Did you mean images.0.id? Fields: images.0.id, "],
    ["products list --fields id.x", "id.x", "id has no fields."],
    [
      "imports get X --fields counts.fialed",
      "counts.fialed",
      "Did you mean counts.failed? Fields: counts.total",
    ],
    ["imports list --fields states", "states", "Did you mean status? Fields: id, file, rows, mode, status, "],
    ["tasks watch --fields output_files", "output_files", "Did you mean output_file? Fields: id, type, "],
    ["config list --fields x", "x", "Fields: profile, active, setting, value."],
    ["images get X --fields toString", "toString", "Fields: id, mime_type, url, "],
    ["models list --fields name --fields x", "x", "Fields: id, name, "],
  ])("exits with 2 for an unknown field, before any request: %s", async (line, field, hint) => {
    const world = await createWorld();
    const ran = await world.cat(line);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toContain(`error: unknown field "${field}"\n${hint}`);
    expect(world.requests()).toEqual([]);
  });

  test.each(["--fields=", "--fields a,,b", "--fields ,"])(
    "exits with 2 for an empty name: %s",
    async (flags) => {
      const world = await createWorld();
      const ran = await world.cat(`products list ${flags}`);
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).toContain("a field name is empty");
    },
  );
});

describe("a cell that a spreadsheet would run", () => {
  const risky = { reference: "-A1", name: '=HYPERLINK("https://evil.example")', description: "-5" };

  async function withRisky() {
    const world = await createWorld();
    world.write(
      "a.ndjson",
      `${JSON.stringify({ ...risky, images: [{ url: "https://cdn.example.com/1.jpg" }] })}\n`,
    );
    expect(await world.cat("import a.ndjson --results rows.csv")).toMatchObject({ exit: 0 });
    return world;
  }

  test("gets an apostrophe in the CSV of a list and of a resource, unless --no-formula-guard", async () => {
    const world = await withRisky();
    const { id } = world.products()[0]!;
    for (const line of ["products list --format csv", `products get ${id} --format csv`]) {
      const read = async (flags: string) =>
        parse((await world.cat(`${line} --fields reference,name,description ${flags}`)).stdout)[1];
      expect(await read("")).toEqual(["'-A1", `'${risky.name}`, "-5"]);
      expect(await read("--no-formula-guard")).toEqual(["-A1", risky.name, "-5"]);
    }
    const { stdout } = await world.cat("products list --json --fields name");
    expect(JSON.parse(stdout)).toEqual({ name: risky.name });
  });

  test("gets an apostrophe in the CSV of an export and in a results file, unless --no-formula-guard", async () => {
    const world = await withRisky();
    const exported = async (flags: string) =>
      parse((await world.cat(`export --format csv ${flags}`)).stdout, { columns: true })[0];
    expect(await exported("")).toMatchObject({ reference: "'-A1", name: `'${risky.name}` });
    expect(await exported("--no-formula-guard")).toMatchObject({ reference: "-A1", name: risky.name });
    expect(parse(world.read("rows.csv"), { columns: true })).toMatchObject([{ reference: "'-A1" }]);
    await world.cat("import a.ndjson --fresh --photos all --results plain.csv --no-formula-guard");
    expect(parse(world.read("plain.csv"), { columns: true })).toMatchObject([{ reference: "-A1" }]);
  });

  test("stays as it is in a failed file, which is imported again", async () => {
    const world = await createWorld();
    const row = ["-A1", '=HYPERLINK("x")', "https://cdn.example.com/fail-timeout.jpg"];
    world.write("a.csv", `reference,name,images\n${row[0]},"=HYPERLINK(""x"")",${row[2]}\n`);
    expect(await world.cat("import a.csv --on-image-error fail_row")).toMatchObject({ exit: 8 });
    expect(parse(world.read("a.failed.csv"))[1]!.slice(0, 3)).toEqual(row);
  });

  test("gets an apostrophe in results.csv next to saved images, unless --no-formula-guard", async () => {
    const world = await generateWorld();
    world.write(
      "p.ndjson",
      `${JSON.stringify({ reference: "=1", name: "Dress", images: [{ url: "https://cdn.example.com/1.jpg", orientation: "front" }] })}\n`,
    );
    await world.cat("import p.ndjson");
    const shot = "beautify --product =1 --subtype clothing --background white --angle front --yes --json";
    const { run_id } = summaryOf((await world.cat(`${shot} --save images`)).stdout);
    const saved = () => parse(world.read("images/results.csv"), { columns: true });
    expect(saved()).toMatchObject([{ product_reference: "'=1" }]);
    await world.cat(`tasks save --run ${run_id} --save images --no-formula-guard`);
    expect(saved()).toMatchObject([{ product_reference: "=1" }]);
  });
});

test("rows and jobs have the fields of their nouns", async () => {
  const world = await importsWorld();
  const id = await world.send("a.csv", mixed);
  expect((await world.cat(`imports get ${id} --fields id,counts.failed,counts.total`)).stdout).toBe(
    `id             ${id}\ncounts.failed  1\ncounts.total   4\n`,
  );
  expect((await world.cat(`imports watch ${id} --json --fields status`)).stdout).toBe(
    '{"status":"completed_with_errors"}\n',
  );
  expect((await world.cat(`imports rows ${id} --format csv --fields line,reference,error.code`)).stdout).toBe(
    "line,reference,error.code\n1,OK-1,\n2,PART-1,\n3,BAD-1,image_failed\n4,OK-2,\n",
  );
  expect((await world.cat("imports list --fields file,rows,at --format csv")).stdout).toBe(
    "file,rows,at\na.csv,4,2026-01-05T09:00:00.000Z\n",
  );
});
