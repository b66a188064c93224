import { expect, test } from "vitest";
import { refusal } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { until } from "../../support/until.ts";
import { batchesOf } from "./batch-rows.ts";
import { cdn, fileOf, worldWith } from "./import-fixtures.ts";
import { type By, beforeBatch, isBatch } from "./run-import.ts";

batchesOf(2);

const results = { results: "results.ndjson" };
const bad = `${cdn}/fail-timeout.jpg`;

test("an import writes every row to the results file in file order, with any outcome", async () => {
  const world = await worldWith("B", "D", "F", "H");
  await world.import("a.csv");
  // B and H are unchanged, D has another name, F another photo, the others are new.
  const text = fileOf("A", "B", "C", "D", "E", "F", "G", "H")
    .replace("D,Dress", "D,Coat")
    .replace("F.jpg", "F2.jpg")
    .replace(`${cdn}/E.jpg`, bad);
  await world.write("b.csv", text);
  const { summary } = await world.import("b.csv", results);
  expect(summary).toMatchObject({ total: 8, submitted: 6, created: 3, updated: 2, failed: 1, unchanged: 2 });
  expect(summary).toMatchObject({
    succeeded: 5,
    results_file: "results.ndjson",
    failed_file: "b.failed.csv",
  });
  expect(summary?.results_rows).toBe(8);
  const written = (await world.read("results.ndjson"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(
    written.map(({ file_line, line, reference, status, action }) =>
      [file_line, line, reference, status, action].join(" "),
    ),
  ).toEqual([
    "2 1 A succeeded created",
    "3  B succeeded unchanged",
    "4 2 C succeeded created",
    "5  D succeeded updated",
    "6 1 E failed none",
    "7 2 F succeeded updated",
    "8 1 G succeeded created",
    "9  H succeeded unchanged",
  ]);
  expect(written.every(({ product_id, status }) => (product_id === null) === (status === "failed"))).toBe(
    true,
  );
});

longTest(
  "an import reports rows in file order if batches of a resumed run lie between earlier ones",
  async () => {
    const references = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    const world = await worldWith();
    const text = references
      .map((one) => `${one},Dress,${"CEI".includes(one) ? bad : `${cdn}/${one}.jpg`}\n`)
      .join("");
    await world.write("a.csv", `reference,name,images\n${text}`);
    // The second of five batches is rejected while the others are in flight.
    const refused = { match: { method: "POST", path: "/v1/imports" }, status: 402, times: 1 };
    const first = await world.import(
      "a.csv",
      { concurrency: 1 },
      beforeBatch(2, () => world.fault(refused)),
    );
    expect(first.summary).toMatchObject({ submitted: 2 });
    const second = await world.import(
      "a.csv",
      { concurrency: 1, failed: "2.csv" },
      beforeBatch(2, () => world.fault(refused)),
    );
    expect(second.summary).toMatchObject({ submitted: 4 });
    const third = await world.import("a.csv", { ...results, failed: "3.csv" });
    expect(third.summary).toMatchObject({ run_id: "run_1", submitted: 9, created: 6, failed: 3 });
    const written = (await world.read("results.ndjson"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(written.map(({ reference, file_line }) => `${reference} ${file_line}`)).toEqual(
      references.map((one, index) => `${one} ${index + 2}`),
    );
    expect((await world.read("3.csv")).match(/^[A-Z](?=,)/gm)).toEqual(["C", "E", "I"]);
  },
);

longTest("an import reads the results of batches that were cut again between accepted ones", async () => {
  const references = ["A", "B", "C", "D", "E", "F", "G", "H"];
  const world = await worldWith(...references);
  // After the first, three batches are sent at once. One is rejected; the others are accepted before that is known.
  let begun = 0;
  const judge: By["judge"] = async (request) => {
    if (!isBatch(request)) return null;
    if (++begun !== 2) return null;
    await until(() => world.mock.state().organizations.main.imports.length === 3);
    return refusal(402, "insufficient_credits");
  };
  await world.import("a.csv", { concurrency: 3 }, { judge });
  const { summary } = await world.import("a.csv", results);
  expect(summary).toMatchObject({ submitted: 8, created: 8 });
  const written = (await world.read("results.ndjson"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(written.map(({ reference }) => reference)).toEqual(references);
});
