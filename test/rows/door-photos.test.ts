import { mkdirSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { misreadName, repairedName } from "../../src/flows/photos/misread-names.ts";
import { tinyPng } from "../mock/world.ts";
import { createWorld } from "../support/world.ts";

// Paths of other machines, and names that a program has read wrong.

describe("a path of another machine", () => {
  const theirs: Readonly<Record<string, readonly [cut: string, rest: string] | null>> = {
    "C:\\Users\\anna\\Desktop\\photos\\x.png": ["C:\\Users\\anna\\Desktop\\", "photos\\x.png"],
    "C:/Users/anna/photos/x.png": ["C:/Users/anna/", "photos/x.png"],
    "D:\\x.png": ["D:\\", "x.png"],
    "\\\\server\\share\\photos\\x.png": ["\\\\server\\share\\", "photos\\x.png"],
    "/Users/anna/Desktop/photos/x.png": ["/Users/anna/Desktop/", "photos/x.png"],
    "/home/anna/photos\\x.png": ["/home/anna/", "photos\\x.png"],
    "~/photos/x.png": ["~/", "photos/x.png"],
    "Desktop/photos/x.png": ["Desktop/", "photos/x.png"],
    "C:\\Users\\anna\\photos\\y.png": null,
    "www.example.com/x.png": null,
    "/photos": null,
  };

  test.each(Object.entries(theirs))(
    "%j: the message names what to remove, if the file is there",
    async (path, parts) => {
      const world = await createWorld();
      world.write("list/photos/x.png", tinyPng);
      world.write("list/x.png", tinyPng);
      world.write("list/rows.ndjson", JSON.stringify({ reference: "A", name: "B", images: [{ path }] }));
      const ran = await world.cat("import list/rows.ndjson --dry-run --json");
      const [{ message, code }] = JSON.parse(ran.stdout).problems as [{ message: string; code: string }];
      expect(code).toBe(/^[/\\]/.test(path) ? "photo_outside_root" : "photo_not_found");
      if (parts === null) expect(message).not.toContain("another machine");
      else {
        const [cut, rest] = parts;
        expect(message).toBe(
          `images[0].path: ${JSON.stringify(path)} is a path of another machine; "${rest}" is in the folder of the file: remove "${cut}" from the paths`,
        );
      }
    },
  );

  test("is read where only its backslashes are of Windows", async () => {
    const world = await createWorld();
    world.write("photos/x.png", tinyPng);
    world.write("rows.csv", "reference,name,images\nA,B,photos\\x.png\n");
    expect(await world.cat("import rows.csv --dry-run")).toMatchObject({ exit: 0 });
  });

  test("reveals nothing about files outside the folder", async () => {
    const world = await createWorld();
    world.write("other/x.png", tinyPng);
    world.write(
      "list/rows.ndjson",
      JSON.stringify({ reference: "A", name: "B", images: [{ path: "/u/../other/x.png" }] }),
    );
    expect((await world.cat("import list/rows.ndjson --dry-run")).stderr).not.toContain("another machine");
  });
});

describe("the name of a photo", () => {
  /** As Info-ZIP, Explorer and the Finder show `Größe-7` and others of a ZIP with the wrong flag. */
  const misread: Readonly<Record<string, string | null>> = {
    "Gr├╢├ƒe-7": "Größe-7",
    "Gr\u00c3\u00b6\u00c3\u0178e-7": "Größe-7",
    "Gr√∂√üe-7": "Größe-7",
    "Caf├⌐": "Café",
    "Caf\u00c3\u00a9": "Café",
    "caf├®": "café",
    "┼╝├│┼éty": "żółty",
    "╨ƒ╨╗╨░╤é╤î╨╡": "Платье",
    "╨Я╨╗╨░╤В╤М╨╡": "Платье",
    рок: null,
    σñûσÑù: "外套",
    "Größe-7": null,
    "Gro\u0308ße": null,
    Платье: null,
    外套: null,
    "DRESS-1": null,
    "naïve └ box": null,
  };

  test.each(Object.entries(misread))("%j is read as %j", (name, meant) => {
    expect(repairedName(name)).toBe(meant);
  });

  test("is found again in any of these code pages, and never where it was read right", () => {
    const dos =
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";
    const letters = fc.string({
      unit: fc.constantFrom(..."aZ9-_ äöüßéèçñøåŁłżКирилица外套".split("")),
      maxLength: 20,
    });
    fc.assert(
      fc.property(letters, (name) => {
        const isPlain = !/[^\0-\x7f]/.test(name);
        const shown = [...Buffer.from(name)]
          .map((byte) => (byte < 128 ? String.fromCharCode(byte) : dos[byte - 128]))
          .join("");
        expect(repairedName(shown)).toBe(isPlain ? null : name);
        expect(misreadName(name)).toBeNull();
      }),
    );
  });

  test.each([
    [
      "Gr├╢├ƒe-7_front.png",
      "misread_name",
      'was unpacked in the wrong code page, and is "photos/Größe-7_front.png": unpack the ZIP with another program, or rename the file',
    ],
    ["Größe-7_front.png", null, ""],
  ])("%s makes a product only if it was read right", async (name, code, why) => {
    const world = await createWorld();
    world.write(`photos/${name}`, tinyPng);
    const ran = await world.cat(["import", "photos", "--pattern", "{reference}_{side}", "--no-progress"]);
    expect([ran.exit, world.products().length]).toEqual(code === null ? [0, 1] : [3, 0]);
    if (code !== null)
      expect(ran.stderr).toBe(
        "1 photo of 1 product found in photos.\n" +
          `photos/${name}  image_1  ${code}  the name "photos/${name}" ${why}\n` +
          "error: photos has 1 invalid product out of 1; nothing was sent\nRename or replace the photos and run the command again.\n",
      );
  });

  test("that is not UTF-8 is a problem of its photo, and is named to the row that means it", async () => {
    const world = await createWorld();
    mkdirSync(`${world.folder}/photos`);
    const name = Buffer.from("Größe-7_front.png", "latin1");
    writeFileSync(Buffer.concat([Buffer.from(`${world.folder}/photos/`), name]), tinyPng);
    const shown = "photos/Gr\ufffd\ufffde-7_front.png";
    const ran = await world.cat(["import", "photos", "--pattern", "{reference}_{side}", "--no-progress"]);
    expect([ran.exit, world.products()]).toEqual([3, []]);
    expect(ran.stderr).toBe(
      "1 photo of 1 product found in photos.\n" +
        `${shown}  image_1  misread_name  the name "${shown}" is not UTF-8: rename the file\n` +
        "error: photos has 1 invalid product out of 1; nothing was sent\nRename or replace the photos and run the command again.\n",
    );

    world.write("rows.csv", "reference,name,images\nA,B,photos/Größe-7_front.png\n");
    expect((await world.cat("import rows.csv --dry-run")).stderr).toContain(
      'Größe-7_front.png does not exist; the name "Gr\ufffd\ufffde-7_front.png" is not UTF-8: rename the file)\n',
    );
  });

  test("that was read wrong is named where it belongs to no row", async () => {
    const world = await createWorld();
    world.write("photos/A.png", tinyPng);
    world.write("photos/Gr├╢├ƒe.png", tinyPng);
    world.write("rows.csv", "reference,name\nA,B\n");
    expect((await world.cat("import rows.csv --images-from photos --dry-run")).stderr).toContain(
      'The name of "Gr├╢├ƒe.png" was unpacked in the wrong code page, and is "Größe.png": unpack the ZIP with another program, or rename the file.\n',
    );
  });
});

test("a folder of photos gets no note about a column of sheets, though its products have other names by now", async () => {
  const world = await createWorld();
  world.write("photos/A_front.png", tinyPng);
  const run = () => world.cat(["import", "photos", "--pattern", "{reference}_{side}", "--no-progress"]);
  await run();
  await world.cat("products update A --name Dress");
  for (const ran of [await run(), await run()]) {
    expect(ran.exit).toBe(0);
    expect(ran.stderr).not.toMatch(/as_exported|sheet/);
  }
});
