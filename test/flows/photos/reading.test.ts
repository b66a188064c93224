import { writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orientations } from "../../../src/contract/value-sets.ts";
import { orientationOfName } from "../../../src/flows/import/file-row.ts";
import { importForm } from "../../../src/flows/import/import-form.ts";
import { openRows } from "../../../src/flows/rows/open-rows.ts";
import { openSource } from "../../../src/flows/rows/source.ts";
import { checkPath } from "../rows/check-support.ts";
import { photoFolder } from "./photo-folder.ts";

const url = "https://cdn.example.com/a.jpg";
const id = "01JGZZ0000000000000000000A";

/** The images of each row of a text, as read. */
async function imagesOf(text: string, name = "rows.csv"): Promise<unknown[]> {
  const { at, folder } = photoFolder();
  writeFileSync(at(name), text);
  const source = await openSource(at(name), { cwd: folder, stdin: () => Readable.from([]) });
  const images: unknown[] = [];
  for await (const rows of (await openRows({ source, read: {}, form: importForm(new Map()) })).batches())
    for (const { content } of rows) images.push((content as { images: unknown }).images);
  return images;
}

/** Checks a text in a folder with files; the folder in messages is `~`. */
async function checkBeside(files: Record<string, string>, text: string, name = "rows.csv") {
  const { at, folder } = photoFolder(files);
  writeFileSync(at(name), text);
  const { result, problems } = await checkPath(at(name));
  return {
    ...result,
    problems: problems.map(({ line, param, code, message }) => [
      `${line} ${param ?? "-"} ${code}`,
      message.replaceAll(folder, "~"),
    ]),
  };
}

describe("a cell is read as a URL, an ID or a path:", () => {
  test.each([
    [url, { url }],
    ["http://cdn.example.com/a.jpg", { url: "http://cdn.example.com/a.jpg" }],
    ["data:image/png;AAAA", { url: "data:image/png;AAAA" }],
    ["cdn.example.com:8080/a.jpg", { url: "cdn.example.com:8080/a.jpg" }],
    [id, { image_id: id }],
    ["photos/a.jpg", { path: "photos/a.jpg" }],
    ["C:\\photos\\a.jpg", { path: "C:\\photos\\a.jpg" }],
    ["c:/photos/a.jpg", { path: "c:/photos/a.jpg" }],
    ["../a.jpg", { path: "../a.jpg" }],
    ["12:30.jpg", { path: "12:30.jpg" }],
    ["./a:b.jpg", { path: "./a:b.jpg" }],
    ["www.example.com/a.jpg", { path: "www.example.com/a.jpg" }],
    [id.slice(1), { path: id.slice(1) }],
  ])("%s", async (cell, image) => {
    expect(await imagesOf(`reference,name,images\nA,Dress, ${cell} \n`)).toEqual([[image]]);
  });

  test("each of several in one cell", async () => {
    expect(await imagesOf(`reference,name,images\nA,Dress,${url}| a_back.jpg |${id}\n`)).toEqual([
      [{ url }, { path: "a_back.jpg", orientation: "back" }, { image_id: id }],
    ]);
  });
});

describe("the orientation of a photo", () => {
  test("is that of its column, otherwise of its name; the name in a URL does not count", async () => {
    const text =
      "reference,name,image_1,image_1_orientation,image_2,image_detail,image_3\n" +
      `A,Dress,a_front.jpg,side,a_back.jpg,a_left.jpg,https://cdn.example.com/a_front.jpg\n`;
    expect(await imagesOf(text)).toEqual([
      [
        { path: "a_front.jpg", orientation: "side" },
        { path: "a_back.jpg", orientation: "back" },
        { path: "a_left.jpg", orientation: "detail" },
        { url: "https://cdn.example.com/a_front.jpg" },
      ],
    ]);
  });

  test("is its own in NDJSON, otherwise that of its name", async () => {
    const images = [
      { path: "a_front.jpg", orientation: "side" },
      { path: "a_front.jpg" },
      { path: "a.jpg" },
      { url: "https://cdn.example.com/a_front.jpg" },
    ];
    const line = JSON.stringify({ reference: "A", name: "Dress", images });
    expect(await imagesOf(`${line}\n`, "rows.ndjson")).toEqual([
      [images[0], { path: "a_front.jpg", orientation: "front" }, images[2], images[3]],
    ]);
  });

  test("is the last part of the name, whatever comes before it and in any case", () => {
    const mixed = (word: string, mask: number) =>
      [...word].map((c, at) => ((mask >> (at % 30)) & 1 ? c.toUpperCase() : c)).join("");
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9_ .-]{1,12}$/),
        fc.constantFrom("_", "-", " "),
        fc.constantFrom(...orientations),
        fc.nat(),
        fc.constantFrom(".jpg", ".JPEG", ".png", ".webp", ""),
        fc.constantFrom("", "folder_back/", "C:\\my photos_top\\"),
        (stem, separator, orientation, mask, ending, folder) => {
          // `three-quarter` before `left` belongs to it.
          fc.pre(!/three[-_ ]quarter$/i.test(stem));
          const name = `${folder}${stem}${separator}${mixed(orientation, mask)}${ending}`;
          expect(orientationOfName(name)).toBe(orientation);
        },
      ),
    );
  });

  test.each([
    ["SKU_front.jpg", "front"],
    ["SKU-three-quarter-left.png", "three-quarter-left"],
    ["SKU_three_quarter_left.png", "three-quarter-left"],
    ["SKU front.webp", "front"],
    ["SKUfront.jpg", undefined],
    ["SKU_front_2.jpg", undefined],
    ["SKU_front/a.jpg", undefined],
    ["SKU_quarter-left.jpg", "left"],
    ["", undefined],
  ])("of the name %s is %s", (name, orientation) => {
    expect(orientationOfName(name)).toBe(orientation);
  });
});

describe("rows with paths are checked by the service's rules:", () => {
  const files = { "a.jpg": "a", "b.jpg": "b" };

  test("existing photos are valid, next to URLs and IDs", async () => {
    const text = `reference,name,images\nA,Dress,a.jpg|${url}|b.jpg|${id}\n`;
    expect(await checkBeside(files, text)).toMatchObject({ total: 1, valid: 1, problems: [] });
  });

  test("problems are ordered by line, those of a row before those of its photos, without repetition", async () => {
    const text =
      "reference,name,image_1,image_1_orientation,image_2\n" +
      "A,,a.jpg,upside-down,no.jpg\nB,Dress,a.jpg,front,\nB,Dress,no.jpg,,a.jpg\n";
    const { problems, valid } = await checkBeside(files, text);
    expect(valid).toBe(1);
    expect(problems.map(([where]) => where)).toEqual([
      "2 name invalid_row",
      "2 image_1_orientation invalid_row",
      "2 image_2 photo_not_found",
      "4 image_1 photo_not_found",
      "4 reference duplicate_reference_in_file",
    ]);
  });

  test("a mistyped URL gets a message about URLs, too", async () => {
    expect((await checkBeside(files, "reference,name,images\nA,B,www.example.com/a.jpg\n")).problems).toEqual(
      [
        [
          "2 images photo_not_found",
          '"www.example.com/a.jpg" is not a URL, an image ID or an existing file (~/www.example.com/a.jpg does not exist): for a URL, add https:// at the start',
        ],
      ],
    );
  });

  test.each([
    ["http://x.example.com/a.jpg", 'images must start with https://: "http://x.example.com/a.jpg"'],
    ["ftp:a.jpg", 'images must start with https://: "ftp:a.jpg"'],
    [
      "data:image/png;base64,AA",
      'images must start with https://: "data:image/png;base64,AA": save the picture as a file, and use its path',
    ],
  ])("a URL of another scheme is not a path: %s", async (cell, message) => {
    const { problems } = await checkBeside(files, `reference,name,images\nA,B,"${cell}"\n`);
    expect(problems).toEqual([["2 images invalid_row", message]]);
  });

  test("control characters and excessive lengths are rejected in paths", async () => {
    const text = `reference,name,images\nA,B,"a.jpg\nb.jpg"\nC,D,${"x".repeat(4097)}\n`;
    expect((await checkBeside(files, text)).problems).toEqual([
      ["2 images invalid_row", 'images contains a control character: "a.jpg\\nb.jpg"'],
      ["4 images invalid_row", "images has 4097 characters, too many for the path of a file"],
    ]);
  });

  test("an NDJSON image has exactly one of url, image_id and path", async () => {
    const line = (images: unknown[]) => `${JSON.stringify({ reference: "A", name: "B", images })}\n`;
    const images = [
      { path: "a.jpg", url: "http://x.example.com/a.jpg" },
      { path: "a.jpg", image_id: id },
      { path: "" },
      { path: 7 },
      { path: "no.jpg", orientation: "up", size: 1 },
      { path: "a.jpg" },
    ];
    expect((await checkBeside(files, line(images), "rows.ndjson")).problems).toEqual([
      ["1 images[0].url invalid_row", 'images[0].url must start with https://: "http://x.example.com/a.jpg"'],
      ["1 images[4].size invalid_row", "images[4].size is not a field of an image"],
      [
        "1 images[4].orientation invalid_row",
        expect.stringMatching(/^images\[4\]\.orientation must be one of .*"up"/),
      ],
      ["1 images[0] invalid_row", "images[0] must have exactly one of url, image_id and path"],
      ["1 images[1] invalid_row", "images[1] must have exactly one of url, image_id and path"],
      ["1 images[2].path invalid_row", "images[2].path is empty"],
      ["1 images[3].path invalid_row", "images[3].path must be text with the path of a file"],
      ["1 images[4].path photo_not_found", "images[4].path: ~/no.jpg does not exist"],
    ]);
  });

  test("a value without a column is the only problem reported, because it makes the others doubtful", async () => {
    const text = "reference,name,images,\nA,B,no.jpg,stray\n";
    expect((await checkBeside(files, text)).problems).toEqual([
      ["2 - invalid_row", "this value is in a column without a header: name or remove the column"],
    ]);
  });

  test("21 photos are too many", async () => {
    const text = `reference,name,images\nA,B,${Array(21).fill("a.jpg").join("|")}\n`;
    expect((await checkBeside(files, text)).problems).toEqual([
      ["2 images invalid_row", "images has 21 entries; at most 20 are allowed"],
    ]);
  });
});
