import { expect, test } from "vitest";
import { sourceOfImage, sourcesOfNames } from "../../../src/flows/export/how-made.ts";

/** A catalogue of so many pages, with the assets of the first ones. */
function catalogue(pages: number, ...assets: object[][]) {
  const asked: Record<string, unknown>[] = [];
  const poll = async (_operation: unknown, input: { cursor?: string }) => {
    asked.push(input);
    const at = Number(input.cursor ?? 0);
    const rows = [{ product: { id: `P${at}` }, assets: assets[at] ?? [] }];
    return { data: rows, has_more: at + 1 < pages, next_cursor: String(at + 1) };
  };
  const service = { client: { poll } as never, signal: new AbortController().signal };
  return { asked, service };
}
const made = (suggested_filename: string, role: string) => ({
  ...{ id: suggested_filename, suggested_filename, role },
  ai_generated: role !== "source",
});

test("an image is searched in the first 1,000 products that changed since an hour before it was created", async () => {
  const image = { id: "look.png", created_at: "2026-01-05T09:00:00.000Z" };
  const last = catalogue(20, ...Array.from({ length: 9 }, () => []), [made("look.png", "tryon")]);
  expect(await sourceOfImage(image, last.service)).toBe("trainedAlgorithmicMedia");
  expect(last.asked[0]).toEqual({ limit: 100, since: "2026-01-05T08:00:00.000Z" });
  const later = catalogue(20, ...Array.from({ length: 10 }, () => []), [made("look.png", "tryon")]);
  expect(await sourceOfImage(image, later.service)).toBe(undefined);
  // The page after the last one was requested, and is not waited for.
  expect(later.asked).toHaveLength(11);
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
