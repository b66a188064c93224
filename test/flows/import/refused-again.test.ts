import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { type ImportFlags, importWorld } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images,error_code,error_message\n";
const code = "duplicate_reference_in_file";
const reasonOf = (reference: string, file = "a.csv") =>
  `duplicate reference ""${reference}"", first used on line 2 of ${file}`;
const hat = `A,Hat,${cdn}/2.jpg,${code},"${reasonOf("A")}"\n`;
const still = (reference: string, where = "on line 2 of a.csv") =>
  `duplicate reference "${reference}", first used ${where}: change the row, or empty its error_code`;

/** Imports two products with the reference A; the second one, a hat, is in the file `failed`. */
async function refusedOnce(
  file = "a.csv",
  text = `reference,name,images\nA,Dress,${cdn}/1.jpg\nA,Hat,${cdn}/2.jpg\n`,
  flags: ImportFlags = {},
) {
  const world = await importWorld();
  await world.write(file, text);
  const { summary } = await world.import(file, { ...flags, skipInvalid: true });
  expect(summary).toMatchObject({ created: 1, invalid: 1 });
  // The file is named as it was typed.
  const failedFile = (await world.failed()).replaceAll(`${world.folder}/`, "");
  await world.write(`1-${file}`, failedFile);
  return { ...world, again: `1-${file}`, failedFile };
}

describe("a row that was rejected as a duplicate", () => {
  test("is rejected again from the failed file as it is, and leaves the first product alone", async () => {
    const world = await refusedOnce();
    expect(world.failedFile).toBe(head + hat);
    const { problems, summary } = await world.import(world.again);
    expect(problems).toEqual([{ line: 2, reference: "A", param: "reference", code, message: still("A") }]);
    expect(summary).toBeNull();
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  test.each(
    sampled(
      [
        ["an extra cell", "A,Hat, size L", 'A,"Hat, size L"'],
        ["a missing cell", "A", "A,Hat"],
      ],
      1,
    ),
  )("stays rejected once %s is corrected", async (_, start, corrected) => {
    const rest = `,${cdn}/2.jpg`;
    const text = `reference,name,images\nA,Dress,${cdn}/1.jpg\n${start}${rest}\n`;
    const world = await refusedOnce("a.csv", text);
    expect(world.failedFile).toContain(`${code},"duplicate reference ""A""`);
    const reason = world.failedFile.slice(world.failedFile.indexOf(`,${code}`));
    await world.write("fixed.csv", `${head}${corrected}${rest}${reason}`);
    expect((await world.import("fixed.csv")).problems.map((one) => one.message)).toEqual([still("A")]);
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  longTest("stays rejected without the column error_message", async () => {
    const world = await refusedOnce();
    await world.write("a.csv", `reference,name,images,error_code\nA,Hat,${cdn}/2.jpg,${code}\n`);
    expect((await world.import("a.csv")).problems.map((one) => one.message)).toEqual([
      still("A", "in an earlier row of an earlier file"),
    ]);
  });

  test("is imported once its reference has changed, in any of its columns' order and case", async () => {
    const world = await refusedOnce();
    await world.write(
      "fixed.csv",
      `Error_Message;ERROR_CODE;images;name;reference\n"${reasonOf("A")}"; ${code} ;${cdn}/2.jpg;Hat;A-2\n`,
    );
    expect((await world.import("fixed.csv")).problems).toEqual([]);
    expect(await world.products()).toEqual(["A Dress 1", "A-2 Hat 1"]);
  });

  test.each(
    sampled(
      [
        ["another name", hat.replace("Hat", "Cap")],
        ["spaces around the reference", hat.replace("A,", " A ,")],
        ["more text after the reason", hat.replace('a.csv"', 'a.csv; sex is wrong"')],
        ["another message", hat.replace(/"duplicate.*"/, "see line 2")],
        ["an empty message", hat.replace(/"duplicate.*"/, "")],
      ],
      1,
    ),
  )("stays rejected with %s", async (_, row) => {
    const world = await refusedOnce();
    await world.write("a.csv", head + row);
    expect((await world.import("a.csv")).problems.map((one) => one.code)).toEqual([code]);
  });

  test.each(
    sampled(
      [
        ["without the two columns", `reference,name,images\nA,Hat,${cdn}/2.jpg\n`, undefined],
        ["with an empty error_code", `${head}A,Hat,${cdn}/2.jpg,,"${reasonOf("A")}"\n`, undefined],
        [
          "with error_code mapped to a field",
          `reference,name,images,error_code\nA,Hat,${cdn}/2.jpg,${code}\n`,
          "error_code=description",
        ],
      ],
      1,
    ),
  )("is imported %s", async (_, text, map) => {
    const world = await refusedOnce();
    await world.write("a.csv", text);
    expect((await world.import("a.csv", { map })).problems).toEqual([]);
    expect(await world.products()).toEqual(["A Hat 2"]);
  });

  longTest("does not reject another row with its reference, wherever it is", async () => {
    const world = await refusedOnce();
    await world.write("a.csv", `${head}${hat}A,Gown,${cdn}/1.jpg,,\n`);
    expect((await world.import("a.csv", { skipInvalid: true })).summary).toMatchObject({ invalid: 1 });
    expect((await world.failed()).split("\n").slice(1)).toEqual([expect.stringMatching(/^A,Hat,/), ""]);
    expect(await world.products()).toEqual(["A Gown 1"]);
  });

  longTest("keeps its reason in the failed file of the failed file", async () => {
    const world = await refusedOnce();
    await world.write("a.csv", `${world.failedFile}B,Coat,${cdn}/3.jpg,,\n`);
    expect((await world.import("a.csv", { skipInvalid: true, failed: "second.csv" })).summary).toMatchObject({
      created: 1,
      invalid: 1,
    });
    expect(await world.failed()).toBe(world.failedFile);
  });

  test("stays rejected after its other problem is fixed", async () => {
    const world = await refusedOnce(
      "a.csv",
      `reference,name,sex,images\nA,Dress,,${cdn}/1.jpg\nA,Hat,x,${cdn}/2.jpg\n`,
    );
    expect(world.failedFile).toContain(`,${code},"${reasonOf("A")}; sex must be one of`);
    await world.write("a.csv", world.failedFile.replace("Hat,x", "Hat,male"));
    expect((await world.import("a.csv")).problems.map((one) => one.message)).toEqual([still("A")]);
  });

  longTest("stays rejected in NDJSON", async () => {
    const row = (name: string, photo: number) =>
      `${JSON.stringify({ reference: " A B", name, images: [{ url: `${cdn}/${photo}.jpg` }] })}\n`;
    const world = await refusedOnce("a.ndjson", row("Dress", 1) + row("Hat", 2));
    expect((await world.import(world.again)).problems.map((one) => one.message)).toEqual([
      still("A B", "on line 1 of a.ndjson"),
    ]);
    await world.write("fixed.ndjson", world.failedFile.replace("A B", "C"));
    expect((await world.import("fixed.ndjson")).problems).toEqual([]);
    expect(await world.products()).toEqual(["A B Dress 1", "C Hat 1"]);
  });

  test("stays rejected with --map", async () => {
    const map = "sku=reference";
    const world = await refusedOnce("a.csv", `SKU,name,images\nA,Dress,${cdn}/1.jpg\nA,Hat,${cdn}/2.jpg\n`, {
      map,
    });
    expect((await world.import(world.again, { map })).problems.map((one) => one.message)).toEqual([
      still("A"),
    ]);
  });
});
