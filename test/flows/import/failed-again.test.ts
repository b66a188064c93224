import { expect, test } from "vitest";
import { type ImportFlags, importWorld } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const bad = `${cdn}/fail-timeout.jpg`;

/** Imports a file, then its failed file twice; returns the failed files. */
async function thrice(text: string, flags: ImportFlags = {}) {
  const world = await importWorld();
  await world.write("0.csv", text);
  const files: string[] = [];
  for (let round = 1; round <= 3; round++) {
    const name = `${round}.csv`;
    expect((await world.import(`${round - 1}.csv`, { ...flags, failed: name })).exit).toBe(8);
    files.push(await world.read(name));
  }
  return files;
}

test.each<[string, string, ImportFlags, string]>([
  ["unchanged", `reference,name,images,error_code,error_message\nA,B,${bad},x,y\n`, {}, ""],
  [
    "mapped to ignore",
    `reference,name,images,Error_Code,error_message\nA,B,${bad},x,y\n`,
    { map: "error_code=ignore" },
    "",
  ],
  [
    "written twice",
    `reference,name,images,error_code,error_message,error_code,error_message\nA,B,${bad},x,y,z,z\n`,
    {},
    "",
  ],
])(
  "a failed file replaces the error columns of an earlier failed file %s with one pair",
  async (_, text, flags, more) => {
    const files = await thrice(text, flags);
    expect(new Set(files.map((file) => file.split("\n")[0]))).toEqual(
      new Set([`reference,name,images,${more}error_code,error_message`]),
    );
    expect(new Set(files).size).toBe(1);
  },
);

test("renames a mapped column with the name of an error column to its field", async () => {
  const world = await importWorld();
  await world.write("a.csv", `reference,name,images,error_message\nA,B,${bad},long\n`);
  await world.import("a.csv", { map: "error_message=description" });
  expect(await world.failed()).toMatch(
    /^reference,name,images,description,error_code,error_message\nA,B,\S+,long,image_failed,/,
  );
});

test("a failed file writes a ragged row unchanged every time", async () => {
  const files = await thrice(`reference,name,images\nA,B,${bad}\nC,D\nE,F,${bad},1,2\n`, {
    skipInvalid: true,
  });
  const ragged = files.map((file) => file.split("\n").filter((line) => line.includes("ragged_row")));
  const shape = (line: string) => [line.split(",ragged_row")[0], line.match(/ragged_row/g)?.length];
  expect(ragged.map((lines) => lines.map(shape))).toEqual(
    Array.from({ length: 3 }, () => [
      ["C,D", 1],
      [`E,F,${bad},1,2`, 1],
    ]),
  );
});
