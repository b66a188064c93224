import { expect, test } from "vitest";
import { sourceOfImage, sourcesOfNames } from "../../../src/flows/export/how-made.ts";

/** A catalogue of so many products, with the assets of the first ones. */
function catalogue(products: number, ...assets: object[][]) {
  const asked: unknown[] = [];
  async function* paginate(_operation: unknown, input: object) {
    asked.push(input);
    for (let at = 0; at < products; at++) yield { product: { id: `P${at}` }, assets: assets[at] ?? [] };
  }
  const service = { client: { paginate } as never, signal: new AbortController().signal };
  return { asked, service };
}
const made = (suggested_filename: string, role: string) => ({
  ...{ id: suggested_filename, suggested_filename, role },
  ai_generated: role !== "source",
});

test("an image is searched in the first 1,000 products that changed since an hour before it was created", async () => {
  const image = { id: "look.png", created_at: "2026-01-05T09:00:00.000Z" };
  const before = (count: number) => Array.from({ length: count }, () => []);
  const last = catalogue(2000, ...before(999), [made("look.png", "tryon")]);
  expect(await sourceOfImage(image, last.service)).toBe("trainedAlgorithmicMedia");
  expect(last.asked).toEqual([{ limit: 100, since: "2026-01-05T08:00:00.000Z" }]);
  const later = catalogue(2000, ...before(1000), [made("look.png", "tryon")]);
  expect(await sourceOfImage(image, later.service)).toBe(undefined);
});

test("a name of which assets were made differently is unknown; another extension still matches", async () => {
  const { service } = catalogue(
    2,
    [made("a.png", "tryon"), made("b.jpg", "source"), made("c.png", "beautifier")],
    [made("b.jpg", "tryon"), made("d.jpg", "source")],
  );
  const found = await sourcesOfNames(["a.png", "b.jpg", "c.webp", "d.jpg", "e.png"], service);
  expect([...found.sources]).toEqual([
    ["a.png", "trainedAlgorithmicMedia"],
    ["c.webp", "compositeWithTrainedAlgorithmicMedia"],
  ]);
  expect(found.unknown).toBe(2);
});
