// Words, lock files and addresses as people have them: each is read, or said what to do about it.

import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

const url = "https://cdn.example.com/1.jpg";

describe("a value that is a choice but for case, spaces, hyphens and underscores needs no question", () => {
  const read: readonly (readonly [
    sex: string,
    orientation: string,
    sexRead: string,
    orientationRead: string,
  ])[] = [
    ["Female", "Front", "female", "front"],
    ["FEMALE\u200b", "FRONT", "female", "front"],
    [" male ", "three quarter left", "male", "three-quarter-left"],
    ["Kid", "Three-Quarter-Left", "kid", "three-quarter-left"],
    ["Other", "three_quarter_right", "other", "three-quarter-right"],
    ["ｆｅｍａｌｅ", "Threequarter Left", "female", "three-quarter-left"],
    ["fe-male", "three – quarter – right", "female", "three-quarter-right"],
  ];

  test.for(sampled(read))("%j and %j", async ([sex, orientation, sexRead, orientationRead]) => {
    const world = await createWorld();
    const image = { url, orientation };
    world.write(
      "a.csv",
      `reference,name,sex,image_1,image_1_orientation\nA,x,${sex},${url},${orientation}\n`,
    );
    world.write("b.ndjson", JSON.stringify({ reference: "B", name: "x", sex, images: [image] }));
    for (const file of ["a.csv", "b.ndjson"])
      expect(await world.cat(`import ${file}`)).toMatchObject({ exit: 0 });
    expect(world.products().map(({ sex, images }) => [sex, images[0]!.orientation])).toEqual([
      [sexRead, orientationRead],
      [sexRead, orientationRead],
    ]);
  });

  test.for(sampled(["WOMEN", "kids", "unisex", "n/a", "females", "f"]))("%j is a problem", async (sex) => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,sex,image_1\nA,x,${sex},${url}\n`);
    const { exit, stderr } = await world.cat("import a.csv");
    expect(exit).toBe(3);
    expect(stderr).toContain(`--map-value "sex:${sex}=`);
  });

  test("--map-value wins", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,sex,image_1\nA,x,Female,${url}\n`);
    expect(await world.cat("import a.csv --map-value sex:Female=kid")).toMatchObject({ exit: 0 });
    expect(world.products()[0]!.sex).toBe("kid");
  });

  longTest("--map-value keeps a value of a look as it is", async () => {
    const world = await createWorld();
    world.write("p.csv", `reference,name,image_front\nA,x,${url}\n`);
    await world.cat("import p.csv");
    world.write("looks.csv", "product_reference,subtype,background,angle_shot\nA,clothing,White,front\n");
    const { stderr } = await world.cat("beautify looks.csv --yes --map-value background:White=White");
    expect(stderr).toContain("rejected by the service  invalid_request: inputs.background");
  });

  test("in sheets of looks, whose other values the service decides about", async () => {
    const world = await createWorld();
    world.write("p.csv", `reference,name,image_front\nA,x,${url}\n`);
    await world.cat("import p.csv");
    world.write(
      "looks.csv",
      "product_reference,subtype,background,angle_shot,style\nA\u200b,Clothing,Light Grey,Three_Quarter Left,Flat Lay\n",
    );
    const { exit, stderr } = await world.cat("beautify looks.csv --yes --json");
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.not.stringContaining("Light Grey") });
    const { tasks } = world.mock.state().organizations.main as unknown as { tasks: object[] };
    expect(JSON.stringify(tasks)).toMatch(/"background":"light-grey".*"angle_shot":"three-quarter-left"/);
  });
});

describe("a sheet that is open in a spreadsheet program is imported as it was saved, with a note", () => {
  const sheet = `reference,name,image_front\nA,x,${url}\n`;
  const excel = (name: string) => {
    const bytes = Buffer.alloc(165, " ");
    bytes.writeUInt8(name.length, 0);
    bytes.write(name, 1, "latin1");
    bytes.writeUInt16LE(name.length, 55);
    bytes.write(name, 57, "utf16le");
    return bytes;
  };

  test.for<[lock: string, content: string | Buffer, who: string]>(
    sampled(
      [
        [".~lock.a.csv#", ",anna,laptop,01.03.2026 10:00,file:///home/anna/.config/libreoffice/4;", "Anna"],
        [".~lock.a.csv#", "Anna Weiß,anna,laptop,01.03.2026 10:00,file:///;", "Anna Weiß"],
        [".~lock.a.csv#", "Weiß\\, Anna,anna,laptop,01.03.2026 10:00,file:///;", "Weiß, Anna"],
        ["~$a.csv", excel("Anna Weiß"), "Anna Weiß"],
        ["~$a.csv", Buffer.concat([Buffer.from([4]), Buffer.from("Anna")]), "Anna"],
        ["~$a.csv", "", "Another program"],
        [".~lock.a.csv#", `${"\u001b[2J".repeat(40)},x`, `[2J${"\\x1b[2J".repeat(14)}…`],
      ],
      3,
    ),
  )("%j with %j", async ([lock, content, who]) => {
    const world = await createWorld();
    world.write("a.csv", sheet);
    world.write(lock, content);
    const { exit, stderr } = await world.cat("import a.csv");
    expect(exit).toBe(0);
    expect(stderr.split("\n")[0]).toBe(`a.csv: ${who} has it open: unsaved changes are not imported.`);
    expect(world.products()).toHaveLength(1);
  });

  test("and such a file given as FILE is named", async () => {
    const { cat, write } = await createWorld();
    write(".~lock.a.csv#", ",anna,laptop,,;");
    expect(await cat("import .~lock.a.csv#")).toEqual({
      exit: 3,
      stdout: "",
      stderr: "error: .~lock.a.csv# is a lock file of LibreOffice\nChoose the file without .~lock. and #.\n",
    });
  });

  test("not for a lock file of another sheet, a folder, or what comes from a pipe", async () => {
    const world = await createWorld();
    world.write("a.csv", sheet);
    world.write(".~lock.b.csv#", ",anna,laptop,,;");
    mkdirSync(`${world.folder}/~$a.csv`);
    world.write(".~lock.-#", ",anna,laptop,,;");
    expect((await world.cat("import a.csv")).stderr).not.toContain("open");
    expect((await world.cat("import -", { stdin: sheet })).stderr).not.toContain("open");
  });
});
