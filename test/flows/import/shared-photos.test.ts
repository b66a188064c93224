import fc from "fast-check";
import { expect, test } from "vitest";
import { fetchedUrl } from "../../../src/flows/import/digests.ts";
import { sharedPhotos } from "../../../src/flows/import/shared-photos.ts";
import { tinyPng } from "../../mock/world.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { createWorld } from "../../support/world.ts";

const noFiles = { sizeOf: async () => null, digest: async () => "" };

/** The rows that are noted: the first one, and how often. */
async function noted(rows: readonly (readonly string[])[], seed: number): Promise<string[]> {
  const across = sharedPhotos(seededRandom(seed), noFiles);
  const toRow = (at: number) => {
    return { line: at, record: [], content: { images: rows[at]!.map((url) => ({ url })) } };
  };
  for (const at of rows.keys()) across.add(toRow(at), at);
  const found = await across.end();
  return found.flatMap(({ at, count, toNote }) =>
    Array<string>(count).fill(`${at} ${toNote(toRow(at)).param}`),
  );
}

test("a URL counts in each row but the first one that has it, and not for the same row", () => {
  const url = fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((at) => `https://cdn.example.com/${at}.jpg?width=1000`),
    fc.string({ maxLength: 8 }),
  );
  return fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(url, { maxLength: 4 }), { maxLength: 200 }),
      fc.nat(),
      async (rows, seed) => {
        const first = new Map<string, number>();
        const expected: string[] = [];
        for (const [row, urls] of rows.entries())
          for (const [index, url] of urls.entries()) {
            const fetched = fetchedUrl(url);
            if (!first.has(fetched)) first.set(fetched, row);
            else if (first.get(fetched) !== row) expected.push(`${row} images[${index}].url`);
          }
        expect(await noted(rows, seed)).toEqual(expected.map(() => expected[0]));
      },
    ),
  );
});

test("different URLs are never taken for one another, also in a large file", async () => {
  const rows = Array.from({ length: 60_000 }, (_, at) => [
    `https://cdn.example.com/p/${at}/front.jpg?v=1&w=800`,
  ]);
  expect(await noted(rows, 7)).toEqual([]);
  expect(await noted([...rows, [rows[5]![0]!]], 7)).toEqual(["60000 images[0].url"]);
});

test.each([
  "https://CDN.example.com/a.jpg",
  "https://cdn.example.com:443/a.jpg",
  "https://cdn.example.com/a.jpg#front",
  "https://cdn.example.com/x/../a.jpg",
  "HTTPS://cdn.example.com/a.jpg",
])("a URL is compared as it is fetched: %s", async (url) => {
  const other = [
    "https://cdn.example.com/A.jpg",
    "https://cdn.example.com/a.jpg?v=1",
    "https://cdn.example.com/a.jpg/",
  ];
  expect(await noted([["https://cdn.example.com/a.jpg"], other, [url]], 3)).toEqual(["2 images[0].url"]);
  expect(await noted([other, [url]], 3)).toEqual([]);
});

test("a path that is not ASCII is compared as it is sent", async () => {
  expect(await noted([["https://cdn.example.com/ä.jpg"], ["https://cdn.example.com/%C3%A4.jpg"]], 3)).toEqual(
    ["1 images[0].url"],
  );
});

test("photos of two products are one note: by their URLs, paths, or bytes", async () => {
  const world = await createWorld();
  const other = Buffer.concat([tinyPng, Buffer.from("other")]);
  world.write("a.png", tinyPng);
  world.write("copy.png", tinyPng);
  world.write("same-size.png", Buffer.concat([tinyPng, Buffer.from("OTHER")]));
  world.write("b.png", other);
  const url = "https://cdn.example.com/a.jpg";
  world.write(
    "rows.csv",
    `reference,name,images\nA,x,a.png|b.png\nB,x,${url}|${url}\nC,x,copy.png|same-size.png\nD,x,${url}\nE,x,b.png\n`,
  );
  const { notes } = JSON.parse((await world.cat("import rows.csv --dry-run --json")).stdout);
  expect(notes).toEqual([
    {
      code: "same_photo",
      count: 3,
      line: 4,
      param: "images",
      value: "copy.png",
      message: '3 photos also on another product, such as "copy.png". Check that the products share them',
    },
  ]);
  // Invalid rows are corrected first.
  world.write("rows.csv", `reference,name,images\nA,x,a.png\n,x,a.png\n`);
  expect(JSON.parse((await world.cat("import rows.csv --dry-run --json")).stdout).notes).toBeUndefined();
  // The check of a run, and the list of its problems, read the file twice.
  world.write("rows.csv", `reference,name,images\nA,x,${url}\n`);
  const ran = await world.cat("import rows.csv --json");
  expect(JSON.parse(ran.stdout).notes).toBeUndefined();
});
