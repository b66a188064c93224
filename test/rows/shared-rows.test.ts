import { cpSync, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";

// Inputs made by other software, which lie beside the project; their README says what should happen.

const rows = fileURLToPath(new URL("../../../shared/rows", import.meta.url));
const isThere = existsSync(rows);

interface Expected {
  /** The lines of problems; none: imported. */
  readonly problems?: readonly number[];
  /** The notes as `COUNT@FIRST`; that of one photo on several products is left out. */
  readonly notes?: readonly string[];
  /** What is imported: `REFERENCE NAME PHOTOS`; undefined where only the check counts. */
  readonly products?: readonly string[];
  readonly flags?: string;
  /** Parts of what is said, besides the lines. */
  readonly says?: readonly RegExp[];
  readonly never?: readonly RegExp[];
}

const files: Readonly<Record<string, Expected>> = {
  "damage/right.csv": { notes: [], products: ["1001 Item 1", "1002 Item 2", "1003 Item 3"] },
  "damage/references.csv": {
    problems: [7, 9, 10, 11, 17, 19, 20, 21],
    notes: ["1@8", "2@22", "4@13"],
    never: [/keep one/],
  },
  "damage/names.csv": { problems: [2, 3, 4, 5, 6, 8, 9, 16], says: [/names\.csv:7 /, /names\.csv:10 /] },
  "damage/names.xlsx": { problems: [2, 3, 4, 5, 6, 8, 9, 16] },
  "damage/saved-as-shown.csv": { problems: [2, 3, 4, 5], notes: ["1@7"], never: [/keep one/] },
  "damage/before-it-was-saved.xlsx": { problems: [2, 3, 4, 5, 7] },
  "damage/pandas-float.csv": {
    notes: ["3@2"],
    products: ["1001.0 Item 1", "1002.0 Item 2", "1003.0 Item 3"],
  },
  "damage/equals-text.csv": { notes: [], products: ["00123 x", "4006381333931 Belt", "=00124 y"] },
  "damage/numbers.ndjson": { problems: [1, 2, 3] },
  "damage/double-encoded.csv": { problems: [3], notes: ["1@2"] },
  "encoding/pl.csv": { problems: [2], says: [/windows-1250/] },
  "encoding/tr.csv": { problems: [2], says: [/windows-1254/] },
  "encoding/ru.csv": { problems: [2], says: [/windows-1251/] },
  "encoding/gr.csv": { problems: [2], says: [/windows-1253/] },
  "encoding/kr.csv": { problems: [2], says: [/euc-kr/] },
  "encoding/fr.csv": { problems: [2], says: [/windows-1252/] },
  "encoding/mac.csv": { problems: [2] },
  "encoding/mixed.csv": { problems: [3] },
  "twin/references.csv": { problems: [3, 4, 5, 6, 10, 11, 13, 14, 15, 17, 18, 19] },
  "twin/names-and-words.csv": { problems: [2, 3], never: [/sex {2}/] },
  "twin/nothing-to-see.csv": { problems: [2] },
  "sheet/articles-and-suppliers.xlsx": { says: [/Artikel/], never: [/Lieferanten[!']/] },
  "merge/photo-a-row.csv": { says: [/--merge-rows/], problems: [3, 4] },
  "merge/photo-a-row.ndjson": { says: [/--merge-rows/], problems: [2] },
  "header/title.csv": { notes: ["1@1"], products: ["A-1 x, y"] },
  "header/numbers.csv": { notes: ["1@1"], products: ["Q-1 Belt"] },
  "header/two-lines.xlsx": { notes: ["2@1"], products: ["S-1 Shirt 2 photos"] },
  "header/two-lines.csv": { notes: ["2@1"], products: ["S-1 Shirt 2 photos"] },
  "header/sql.csv": { problems: [3], never: [/--map/] },
  "header/total.csv": { problems: [3], never: [/--map/] },
  "header/quoted-lines.csv": { never: [/--map/], says: [/save it again|save the file again|quote/i] },
  "header/saved-again.csv": { never: [/--map/] },
  "url/share-links.csv": { notes: ["1@6", "1@7", "1@9", "1@10", "2@4", "3@2"] },
  "url/forms.csv": { problems: [2, 7, 10, 11, 12, 13, 16, 17, 22], says: [/%20/, /https:/] },
  "url/several.csv": { problems: [7, 10, 11, 13, 14, 16, 18, 19] },
  "url/late.csv": { problems: [2, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 22, 23] },
  "url/commas.csv": { problems: [3, 7, 8] },
  "door/words.csv": { problems: [4, 5, 6, 7], says: [/--map-value/, /Anna/] },
  "door/windows-paths.csv": { problems: [2, 3, 4] },
  "door/products.csv.gz": { notes: [], products: ["1001 Item 1", "1002 Item 2", "1003 Item 3"] },
  "door/deep.ndjson": { problems: [2], never: [/internal/] },
  "photo/photos.csv": { problems: [3, 4, 5, 7], notes: ["1@10", "1@11"] },
};

const mapped: Readonly<Record<string, Expected>> = {
  "encoding/pl.csv": { flags: "--encoding windows-1250", products: ["A-pl Sukienka żółta długa"] },
  "encoding/tr.csv": { flags: "--encoding windows-1254", products: ["A-tr İpek gömlek şık"] },
  "encoding/ru.csv": { flags: "--encoding windows-1251", products: ["A-ru Платье летнее"] },
  "encoding/gr.csv": { flags: "--encoding windows-1253", products: ["A-gr Φόρεμα λινό"] },
  "encoding/fr.csv": { flags: "--encoding windows-1252", products: ["A-fr Robe d’été"] },
  "merge/photo-a-row.csv": { flags: "--merge-rows", products: ["B-1 Bag 3 photos", "B-2 Hat"] },
  "merge/photo-a-row.ndjson": { flags: "--merge-rows", products: ["B-1 Bag 2 photos"] },
  "merge/shopify.csv": {
    flags:
      '--map Handle=reference --map Title=name --map "Image Src=image_1" --map "Image Position=ignore" --map "Body (HTML)=ignore" --map Vendor=ignore --map "Option1 Value=ignore" --map "Variant SKU=ignore" --map "Variant Price=ignore" --map "Image Alt Text=ignore" --merge-rows',
    products: ["linen-dress Linen dress 4 photos", "wool-hat Wool hat"],
  },
};

describe.skipIf(!isThere)("inputs of other software (../shared/rows, where it is there)", () => {
  test.each(sampled(Object.entries(files), 14))("%s", (file, expected) => play(file, expected));
  test.each(sampled(Object.entries(mapped)))("%s with the flags that are meant", (file, expected) =>
    play(file, expected),
  );

  longTest("an article list and suppliers: the sheet of the articles is meant", () =>
    play("sheet/articles-and-suppliers.xlsx", {
      flags: "--map Artikel-Nr.=reference --map Titel=name --map Foto=image_front --map Preis=ignore",
      products: Array.from({ length: 300 }, () => expect.any(String)),
    }),
  );

  test("a picture under a wrong name gets no encoding as advice", async () => {
    const { exit, stderr } = await (await worldWithRows()).cat("import rows/encoding/picture.csv --dry-run");
    expect(exit).toBe(3);
    expect(stderr).not.toContain("--encoding");
  });

  test("a ZIP is named", async () => {
    const { exit, stderr } = await (await worldWithRows()).cat("import rows/door/both.zip --dry-run");
    expect(exit).toBeGreaterThan(0);
    expect(stderr).toMatch(/ZIP/);
  });

  test("names of a ZIP that was unpacked with the wrong code page become no references", async () => {
    const world = await worldWithRows();
    const { exit } = await world.cat(["import", "rows/door/ph", "--pattern", "{reference}_{side}"]);
    expect(exit).toBe(3);
    expect(world.products()).toEqual([]);
  });

  test("with --convert no photo is counted as one of other colors or turned", async () => {
    const { stdout } = await (await worldWithRows()).cat(
      "import rows/photo/photos.csv --convert --dry-run --json",
    );
    expect(JSON.parse(stdout).notes ?? []).toEqual([]);
  });
});

async function worldWithRows() {
  const world = await createWorld();
  cpSync(rows, `${world.folder}/rows`, { recursive: true });
  return world;
}

async function play(
  file: string,
  { problems = [], notes, products, flags = "", says = [], never = [] }: Expected,
) {
  const world = await worldWithRows();
  const checked = await world.cat(`import rows/${file} ${flags} --dry-run --json`);
  const report = JSON.parse(checked.stdout);
  const lines = new Set((report.problems as { line: number }[]).map(({ line }) => line));
  if (problems.length > 0 || products !== undefined)
    expect([...lines].sort((a, b) => a - b)).toEqual(problems);
  type Note = { code: string; count: number; line: number };
  const noted = ((report.notes ?? []) as Note[])
    .filter(({ code }) => code !== "same_photo")
    .map(({ count, line }) => `${count}@${line}`);
  if (notes !== undefined) expect(noted.sort()).toEqual([...notes].sort());
  const said = await world.cat(`import rows/${file} ${flags} --dry-run --no-progress`);
  for (const expression of says) expect(said.stderr).toMatch(expression);
  for (const expression of [/internal error/, ...never]) expect(said.stderr).not.toMatch(expression);
  if (products === undefined) return;
  expect((await world.cat(`import rows/${file} ${flags} --no-progress`)).exit).toBe(0);
  const imported = world
    .products()
    .map(
      ({ reference, name, images }) =>
        `${reference} ${name}${images.length === 1 ? "" : ` ${images.length} photos`}`,
    );
  expect(imported).toEqual(products);
}
