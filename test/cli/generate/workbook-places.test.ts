import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import XLSX from "@e965/xlsx";
import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const header = ["Nr", "Artikel", "Model", "background", "angle_shot"];
const maps = "--map Nr=ignore --map Artikel=product_reference --map Model=model_id --no-progress";

/** A world with these rows of try-ons in the sheet "My looks" of looks.xlsx. */
async function worldWith(...rows: string[][]) {
  const world = await generateWorld();
  const numbered = rows.map((row, at) => [String(at + 1), ...row]);
  writeFileSync(join(world.folder, "looks.xlsx"), workbookOf({ "My looks": [header, ...numbered] }));
  return world;
}

const unfound = [
  ["NONE", "Amara", "studio", "full-front"],
  ["DRESS-1", "Nobody", "studio", "full-front"],
  ["DRESS-2", "Amara", "studio", "full-front"],
];

test.each(sampled([[""], [" --dry-run"]], 1))(
  "products and models that do not exist are at their cells%s",
  async (flag) => {
    const { cat } = await worldWith(...unfound);
    const ran = await cat(`tryon looks.xlsx ${maps} --yes${flag}`);
    expect(ran.exit).toBe(3);
    expect(ran.stderr.split("\n").map((line) => line.split("  ").slice(0, 3).join("  "))).toEqual(
      expect.arrayContaining([
        "looks.xlsx: 'My looks'!B2  Artikel  product_not_found",
        "looks.xlsx: 'My looks'!C3  Model  model_not_found",
      ]),
    );
  },
);

longTest("the JSON of a check has their sheet and cell", async () => {
  const { cat } = await worldWith(...unfound);
  const { problems } = JSON.parse((await cat(`tryon looks.xlsx ${maps} --dry-run --json`)).stdout);
  expect(problems).toMatchObject([
    { line: 2, sheet: "My looks", cell: "B2", reference: "NONE", param: "Artikel" },
    { line: 3, sheet: "My looks", cell: "C3", reference: "DRESS-1", param: "Model" },
  ]);
});

longTest("the same image under another name of the model is at the cells of both products", async () => {
  const world = await worldWith();
  const [{ id }] = (await world.cat("models list --json")).stdout
    .split("\n", 1)
    .map((line) => JSON.parse(line)) as [{ id: string }];
  const name = JSON.parse((await world.cat("models list --json")).stdout.split("\n", 1)[0]!).name;
  const rows = [name, id].map((model) => ["1", "DRESS-1", model, "studio", "full-front"]);
  writeFileSync(join(world.folder, "looks.xlsx"), workbookOf({ "My looks": [header, ...rows] }));
  const ran = await world.cat(`tryon looks.xlsx ${maps} --dry-run`);
  expect(ran.stderr).toContain(
    "looks.xlsx: 'My looks'!B3  -  duplicate_input  the same image is requested in 'My looks'!B2: remove one",
  );
});

test("what the service rejects, and a product that does not exist, are at their cells, colored in the failed file", async () => {
  const { cat, folder } = await worldWith(
    ["DRESS-1", "Amara", "nowhere", "full-front"],
    ["DRESS-2", "Amara", "studio", "full-front"],
    ["NONE", "Amara", "studio", "full-front"],
  );
  const ran = await cat(`tryon looks.xlsx ${maps} --yes --skip-invalid`);
  expect(ran.exit, ran.stderr).toBe(8);
  expect(ran.stderr).toContain("looks.xlsx: 'My looks'!D2  rejected by the service  invalid_request");
  const book = XLSX.read(readFileSync(join(folder, "looks.failed.xlsx")), { cellStyles: true });
  const sheet = book.Sheets["My looks"]!;
  const colored = Object.keys(sheet).filter((cell) => sheet[cell].s?.fgColor?.rgb === "FFD9D2");
  expect(colored).toEqual(["D2", "B3"]);
});

test("a value that no list has is at its cell", async () => {
  const { cat } = await worldWith(["DRESS-1", "Amara", "nowhere", "full-front"]);
  const ran = await cat(`tryon looks.xlsx ${maps} --yes`);
  const note = "looks.xlsx: 'My looks'!D2  background \"nowhere\" is not a known value";
  expect(ran.stderr).toContain(note);
  expect((await cat(`tryon looks.xlsx ${maps} --dry-run`)).stderr).toContain(note);
});

test("a task that fails is reported at the cell of its product", async () => {
  const world = await worldWith(["BAD-fail-model_unsafe_content", "Amara", "studio", "full-front"]);
  const images = [{ url: "https://cdn.example.com/b.jpg" }];
  const product = { reference: "BAD-fail-model_unsafe_content", name: "x", images };
  world.write("bad.ndjson", `${JSON.stringify(product)}\n`);
  expect((await world.cat("import bad.ndjson")).exit).toBe(0);
  const ran = await world.cat(`tryon looks.xlsx ${maps} --yes`);
  expect(ran.stderr).toContain("looks.xlsx: 'My looks'!B2  BAD-fail-model_unsafe_content");
});

longTest("the summary of a run has the sheet and cell of what the service rejected", async () => {
  const { cat } = await worldWith(
    ["DRESS-1", "Amara", "nowhere", "full-front"],
    ["DRESS-2", "Amara", "studio", "full-front"],
  );
  const ran = await cat(`tryon looks.xlsx ${maps} --yes --skip-invalid --json`);
  expect(summaryOf(ran.stdout).rejected).toEqual([
    { line: 2, sheet: "My looks", cell: "D2", code: "invalid_request", message: expect.any(String) },
  ]);
});
