import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pathComponents } from "../../../../../src/flows/export/sync/mirror-folders.ts";
import { planRenames } from "../../../../../src/flows/export/sync/rename.ts";
import { type NamedEntry, readTemplate } from "../../../../../src/flows/export/sync/template.ts";
import { foldedPath } from "../../../../../src/flows/files/file-names.ts";
import { entryWith, mirrorIndexOf } from "../index-of.ts";
import { MemoryStore, StoredFiles } from "../memory-store.ts";

/** A folder with files of the user. */
function places(existing: readonly string[] = []) {
  const stored = new StoredFiles();
  for (const path of existing) stored.files.set(path, Buffer.from("of the user"));
  const store = new MemoryStore(stored, { work: "work" });
  return { store, freed: new Set<string>(), others: new Set<string>(), staying: new Set<string>() };
}

const entry: NamedEntry = {
  product_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  asset_id: "01BX5ZZKBKACTAV9WEVGEMMVRZ",
  reference: "DRESS-1",
  name: "Linen dress",
  role: "tryon",
  mime_type: "image/png",
  created_at: "2026-01-05T09:00:00.000Z",
  task_id: null,
  attributes: { angle_shot: "full-front", edit_number: 2 },
  suggested_filename: "DRESS-1_full-front.png",
};

describe("names of files", () => {
  test.for([
    [null, "DRESS-1_full-front.png"],
    [
      "{reference}/{role}-{orientation|angle_shot}-{id}{ext}",
      "DRESS-1/tryon-full-front-01BX5ZZKBKACTAV9WEVGEMMVRZ.png",
    ],
    ["{angle_shot|orientation}{ext}", "full-front.png"],
    ["{date}/{name}/{edit_number}{ext}", "2026-01-05/Linen dress/2.png"],
    ["{ orientation | task_id }x{ext}", "x.png"],
    ["{product_id}{ext}", "01ARZ3NDEKTSV4RRFFQ69G5FAV.png"],
    ["{filename}{ext}", "DRESS-1_full-front.png"],
    ["{orientation}{ext}", "_.png"],
    ["{orientation}/{id}{ext}", "_/01BX5ZZKBKACTAV9WEVGEMMVRZ.png"],
  ] as const)("%s gives %s", ([template, path]) => {
    expect(readTemplate(template)(entry)).toBe(path);
  });

  test.for([
    ["catalogue.ndjson", "_catalogue.ndjson"],
    ["Catalogue.1-of-3.NDJSON", "_Catalogue.1-of-3.NDJSON"],
    ["catalogue.ndjson.txt", "catalogue.ndjson.txt"],
  ] as const)("never give a folder the name of the index: %s", ([reference, folder]) => {
    expect(readTemplate("{reference}/{id}{ext}")({ ...entry, reference })).toBe(
      `${folder}/${entry.asset_id}.png`,
    );
  });

  test("have the reference, or without one the product ID", () => {
    expect(readTemplate("{reference}{ext}")({ ...entry, reference: null })).toBe(`${entry.product_id}.png`);
  });

  test("have the extension of the bytes, whatever the service suggests", () => {
    const named = (suggested_filename: string | null, mime_type = "image/jpeg") =>
      readTemplate(null)({ ...entry, suggested_filename, mime_type });
    expect(named("a.jpg")).toBe("a.jpg");
    expect(named("a.JPEG")).toBe("a.jpg");
    expect(named("a.png")).toBe("a.png.jpg");
    expect(named("catalogue.ndjson")).toBe("catalogue.ndjson.jpg");
    expect(named("run.exe", "image/webp")).toBe("run.exe.webp");
    expect(named(".jpg")).toBe("_jpg.jpg");
    expect(named(null)).toBe(`${entry.asset_id}.jpg`);
    expect(named("a", "image/avif")).toBe("a.bin");
  });

  test.for([
    ["{refrence}{ext}", "unknown placeholder {refrence}", "Did you mean {reference}?"],
    ["{angel_shot}{ext}", "unknown placeholder {angel_shot}", "Did you mean {angle_shot}?"],
    ["{id|xyz}{ext}", "unknown placeholder {xyz}", /^Placeholders: \{id\} \{product_id\} .*\{ext\}$/],
    ["{id", '"{" has no counterpart', /^For example/],
    ["id}{ext}", '"}" has no counterpart', /^For example/],
    ["{id}", "it does not end with {ext}", /^For example/],
    ["", "it does not end with {ext}", /^For example/],
    ["{id}{ext}/", "it does not end with {ext}", /^For example/],
    ["{ext}/{id}{ext}", "a component is empty, or {ext} is not at its end", /^For example/],
    ["/{id}{ext}", "a component is empty, or {ext} is not at its end", /^For example/],
    ["{reference}//{id}{ext}", "a component is empty, or {ext} is not at its end", /^For example/],
    ["{ext}", "a component is empty, or {ext} is not at its end", /^For example/],
  ] as const)("rejects the template %j: %s", ([template, why, hint]) => {
    expect(() => readTemplate(template)).toThrow(
      expect.objectContaining({
        message: `invalid --template ${JSON.stringify(template)}: ${why}`,
        hint: typeof hint === "string" ? hint : expect.stringMatching(hint),
        type: "usage",
      }),
    );
  });
});

/** Texts that lead out of a folder, or that some system cannot store. */
const hostile = [
  "..",
  ".",
  "",
  " ",
  "../x",
  "../../etc/passwd",
  "/etc/passwd",
  "\\\\server\\share",
  "C:\\x",
  "c:x",
  "a/b",
  "a\\b",
  "x/../../y",
  "~",
  "~root",
  "-rf",
  "CON",
  "con.txt",
  "NUL",
  "COM1",
  "LPT9.a",
  "aux ",
  "COM\u00b9",
  "a.",
  "a ",
  "a...",
  " a",
  ".hidden",
  "..a",
  "a\0b",
  "a\nb",
  "a\tb",
  "\u001b[31mred",
  "\u202egpj.exe",
  "\u200f",
  "\ufeff",
  "a:b",
  "a*b",
  "a?b",
  'a"b',
  "a<b>c",
  "a|b",
  "$(id)",
  "`id`",
  "%00",
  "%2e%2e%2f",
  "x".repeat(300),
  "\u00e4".repeat(200),
  "\ud83d\udc57".repeat(100),
  "\ud800",
  "A\u0301",
  "\u00c1",
  "\u1e9e",
  "ss",
  "\ufb01",
  "fi",
  ".catalogue-sync",
  "catalogue.ndjson",
  "catalogue.1-of-2.ndjson",
];
const text = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary" }));
const templates = [null, "{reference}/{name}-{role}{ext}", "{angle_shot}/{reference}{ext}", "{role}{ext}"];

describe("whatever texts the catalogue has", () => {
  test("there are more than 50 hostile ones", () => {
    expect(new Set(hostile).size).toBeGreaterThan(50);
  });

  test("each path stays in the folder, and every system can store it", () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(...templates), (one, other, template) => {
        const named = { ...entry, reference: one, name: other, role: other, suggested_filename: one };
        const path = readTemplate(template)({ ...named, attributes: { angle_shot: one } });
        const components = pathComponents(path);
        expect(components).toHaveLength(template?.split("/").length ?? 1);
        for (const component of components) {
          expect(Buffer.byteLength(component)).toBeLessThanOrEqual(200);
          expect(component).not.toMatch(/^\.|[.\s]$|[\p{Cc}\p{Cs}<>:"|?*\\/]/u);
          expect(component).not.toMatch(/^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]) *(\.|$)/i);
        }
        expect(path).not.toMatch(/^catalogue[^/]*\.ndjson$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test("no two files have names that a system takes for the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, fc.nat(4), fc.nat(9)), { maxLength: 30 }),
        fc.constantFrom(...templates),
        async (all, template) => {
          const entries = all.map(([name, product, asset], at) =>
            entryWith({ product, asset, path: `old-${at}`, reference: name, suggested_filename: name }),
          );
          const index = mirrorIndexOf(entries);
          const renames = await planRenames(index, readTemplate(template), places());
          const paths = renames.map(({ to }) => to);
          expect(paths).toHaveLength([...index.entries()].length);
          expect(new Set(paths.map(foldedPath)).size).toBe(paths.length);
        },
      ),
    );
  });
});

describe("names of colliding assets", () => {
  const pathOf = readTemplate("{reference}{ext}");
  const plan = async (entries: ReturnType<typeof entryWith>[], existing: readonly string[] = []) =>
    (await planRenames(mirrorIndexOf(entries), pathOf, places(existing))).map(
      ({ entry: { path }, to }) => `${path} -> ${to}`,
    );
  const one = entryWith({ product: 1, asset: 1, reference: "A", path: "1" });
  const other = entryWith({ product: 2, asset: 2, reference: "a", path: "2" });

  test("the first one by product and asset ID has the plain name, the others have their asset ID", async () => {
    expect(await plan([other, one])).toEqual(["1 -> A.jpg", `2 -> a-${other.asset_id}.jpg`]);
  });

  test("a photo of two products has the product ID too", async () => {
    const same = entryWith({ product: 3, asset: 2, reference: "A", path: "3" });
    expect(await plan([one, other, same])).toEqual([
      "1 -> A.jpg",
      `2 -> a-${other.asset_id}.jpg`,
      `3 -> A-${same.product_id}-${same.asset_id}.jpg`,
    ]);
  });

  test("nothing is renamed once all have their names", async () => {
    expect(
      await plan([
        { ...one, path: "A.jpg" },
        { ...other, path: `a-${other.asset_id}.jpg` },
      ]),
    ).toEqual([]);
  });

  test("the next one takes the plain name when it becomes free", async () => {
    expect(await plan([{ ...other, path: `a-${other.asset_id}.jpg` }])).toEqual([
      `a-${other.asset_id}.jpg -> a.jpg`,
    ]);
  });

  test("kept files of removed assets, and files of the user, keep their names", async () => {
    expect(await plan([{ ...one, path: "A.jpg", removed: true }, other])).toEqual([
      `2 -> a-${other.asset_id}.jpg`,
    ]);
    expect(await plan([one], ["A.jpg"])).toEqual([`1 -> A-${one.asset_id}.jpg`]);
  });

  test("accents in two forms, and letters in two cases, are the same name", () => {
    expect(foldedPath("A\u0301.jpg")).toBe(foldedPath("\u00e1.jpg"));
    expect(foldedPath("STRASSE.jpg")).toBe(foldedPath("stra\u00dfe.jpg"));
    expect(foldedPath("a.jpg")).not.toBe(foldedPath("b.jpg"));
  });
});
