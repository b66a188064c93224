import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import XLSX from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const photo = "https://cdn.example.com/1.jpg";
const shop = "https://shop.example.com/0083";

/** A test environment with a workbook of one row, whose cells are texts or texts with the target of a link. */
async function worldWith(kind: "xlsx" | "ods", cells: readonly (string | readonly [string, string])[]) {
  const world = await createWorld();
  const texts = cells.map((cell) => [cell].flat()[0]);
  const sheet = XLSX.utils.aoa_to_sheet([["reference", "name", "image_front"], texts]);
  cells.forEach((cell, column) => {
    const place = XLSX.utils.encode_cell({ r: 1, c: column });
    if (typeof cell !== "string") sheet[place].l = { Target: cell[1] };
  });
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, sheet, "S");
  writeFileSync(join(world.folder, `a.${kind}`), XLSX.write(book, { type: "buffer", bookType: kind }));
  const check = () => world.cat(`import a.${kind} --dry-run --no-progress`);
  return { ...world, check };
}

describe.each(["xlsx", "ods"] as const)("%s", (kind) => {
  test("a link in a column without photos says nothing about its row", async () => {
    const { check } = await worldWith(kind, [["0083", shop], ["https://shop.example.com/1", shop], photo]);
    const ran = await check();
    expect(ran.exit, ran.stderr).toBe(0);
  });

  test("a photo's text that is another URL than that of its link is rejected", async () => {
    const { check } = await worldWith(kind, ["0083", "Kleid", [photo, shop]]);
    const ran = await check();
    expect([ran.exit, ran.stderr]).toEqual([3, expect.stringContaining(`a.${kind}: S!C2`)]);
    expect(ran.stderr).toContain("link_differs");
  });

  test("the target of a link to a local photo is used", async () => {
    // In .ods, the library writes it relative to the parts of the file, as LibreOffice does: with ../ before it.
    const { check, folder } = await worldWith(kind, ["A", "Kleid", ["Foto", "fotos/x%20y.jpg"]]);
    const missing = await check();
    expect(missing.exit).toBe(3);
    expect(missing.stderr).toContain('"fotos/x y.jpg" is not a URL, an image ID or an existing file');
    mkdirSync(join(folder, "fotos"));
    const bytes = Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex");
    writeFileSync(join(folder, "fotos", "x y.jpg"), bytes);
    const found = await check();
    expect(found.stderr).not.toContain("photo_not_found");
  });

  test("a text that names a photo is used, and never a folder proposed", async () => {
    const { check, folder } = await worldWith(kind, ["A", "Kleid", ["Foto", "mailto:anna@example.com"]]);
    mkdirSync(join(folder, "fotos"));
    const ran = await check();
    expect(ran.stderr).toContain('"Foto" is not a URL, an image ID or an existing file');
    expect(ran.stderr).not.toContain("did you mean");
  });
});
