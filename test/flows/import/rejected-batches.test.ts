import { describe, expect, test } from "vitest";
import type { Problem } from "../../../src/client/api-error.ts";
import { importWorld } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const file = `reference,name,images\n${[1, 2, 3].map((n) => `R-${n},Dress,${cdn}/${n}.jpg\n`).join("")}`;

/** Imports three rows, on lines 2 to 4, into a service that rejects them with these problems. */
async function refusedWith(...problems: Problem[]) {
  const world = await importWorld();
  await world.write("a.csv", file);
  await world.fault({
    match: { method: "POST", path: "/v1/imports" },
    status: 400,
    body: { errors: problems },
  });
  const { summary } = await world.import("a.csv");
  const failed = (await world.failed()).trim().split("\n").slice(1);
  return { summary, reasons: failed.map((line) => line.split(",").slice(3).join(",")) };
}

const others = `call_refused,"not imported, because other rows of the same batch were rejected"`;

describe("a rejected batch", () => {
  test("keeps all problems of a row: the first code and all messages", async () => {
    const { summary, reasons } = await refusedWith(
      { line: 2, code: "invalid_row", message: "name is odd", param: "name" },
      { line: 2, code: "duplicate_reference_in_file", message: "R-2 stands twice" },
    );
    expect(reasons).toEqual([others, "invalid_row,name is odd; R-2 stands twice", others]);
    expect(summary).toMatchObject({
      submitted: 0,
      refused: [{ first_line: 2, last_line: 4, rows: 3 }],
      problems: [
        { line: 3, param: "name", code: "invalid_row", message: "name is odd" },
        { line: 3, code: "duplicate_reference_in_file", message: "R-2 stands twice" },
      ],
    });
  });

  test("has its message on one line, without control characters", async () => {
    const message = "\u001b[31mname\r\nis\todd\u009b ";
    const { reasons } = await refusedWith({ line: 1, code: "invalid_row", message });
    expect(reasons[0]).toBe("invalid_row,[31mname is odd");
  });

  test.each([0, 4])("reports a problem of line %s for the entire batch", async (line) => {
    const { summary, reasons } = await refusedWith({
      ...{ line, code: "too_many_imports", message: "try later" },
    });
    expect(reasons).toEqual(Array.from({ length: 3 }, () => "too_many_imports,try later"));
    expect(summary?.problems).toEqual([
      { first_line: 2, last_line: 4, param: undefined, code: "too_many_imports", message: "try later" },
    ]);
  });

  test("gives each row its own problems", async () => {
    const { reasons } = await refusedWith(
      { line: 1, code: "invalid_row", message: "name is odd" },
      { code: "too_many_imports", message: "try later" },
    );
    expect(reasons).toEqual([
      "invalid_row,name is odd",
      "too_many_imports,try later",
      "too_many_imports,try later",
    ]);
  });
});

test("an import writes all problems of a row that the check rejected to the failed file", async () => {
  const world = await importWorld();
  await world.write("a.csv", `reference,name,sex,images\nA,,women,${cdn}/1.jpg\nB,Dress,,${cdn}/1.jpg\n`);
  await world.import("a.csv", { skipInvalid: true });
  expect(await world.failed()).toContain(
    `invalid_row,"name is missing; sex must be one of male, female, other, kid, not ""women"": did you mean ""female""?"`,
  );
});
