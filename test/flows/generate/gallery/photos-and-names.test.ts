import { describe, expect, test } from "vitest";
import { decisionsName } from "../../../../src/cli/commands/generate/gallery.ts";
import type { ProductImage } from "../../../../src/contract/resources/products.ts";
import { photoOfSide } from "../../../../src/flows/generate/gallery/fetch-images.ts";
import { needsBrowser, openFile } from "../../../support/browser.ts";
import { longTest } from "../../../support/long-test.ts";
import { entry, sampleData, writePage } from "./sample-page.ts";

describe("the photo beside a result", () => {
  const image = (orientation: string): ProductImage => ({ id: orientation, orientation, origin: "user" });

  test.for([
    ["full-front", ["back", "front"], "front"],
    ["full-back", ["front", "back"], "back"],
    ["half-back", ["front"], "front"],
    ["full-side", ["front", "left"], "left"],
    ["three-quarter-left", ["front", "three-quarter-left"], "three-quarter-left"],
    ["detail", ["front", "detail"], "detail"],
    ["custom-walk", ["unlabeled", "front"], "front"],
    ["close-up", ["unlabeled"], "unlabeled"],
  ] as const)("of %s, among %j, is that of %s", ([angleShot, orientations, expected]) => {
    const images = orientations.map((one) => image(one));
    expect(photoOfSide({ images }, angleShot)?.orientation).toBe(expected);
  });

  test("is none where the product is unknown or has no photo", () => {
    expect([photoOfSide(undefined, "front"), photoOfSide({ images: [] }, "front")]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

test.for([
  ["looks.csv", "looks.decisions.csv"],
  ["in/looks.xlsx", "looks.decisions.csv"],
  ["looks.decisions.csv", "looks.decisions.round-2.csv"],
  ["looks.decisions-2.csv", "looks.decisions-2.round-2.csv"],
  ["looks.decisions.round-9.csv", "looks.decisions.round-10.csv"],
  ["looks.decisions.round-2-2.csv", "looks.decisions.round-2-2.round-3.csv"],
  ["decisions.csv", "decisions.round-2.csv"],
  ["looks-2.csv", "looks-2.decisions.csv"],
  ["-", "stdin.decisions.csv"],
  ["Größe 38; rm 'x'.csv", "Größe-38-rm-x-.decisions.csv"],
  ["--x.csv", "x.decisions.csv"],
] as const)("the decisions about %s are saved as %s", ([input, expected]) => {
  expect(decisionsName(input)).toBe(expected);
});

longTest(
  "a window of 1400 pixels shows at least four looks in a row, also of four products",
  async (context) => {
    needsBrowser(context);
    const products = Array.from({ length: 8 }, (_, at) => ({
      ...{ id: `id-${at}`, reference: `R-${at}`, name: "Dress" },
      photos: [{ image: 0, orientation: "front" }],
    }));
    const results = products.map((_, product) => entry({ line: product + 2, product }));
    const { page } = await openFile(await writePage(sampleData({ products, results })), {
      viewport: { width: 1400, height: 900 },
    });
    const boxes = await page.locator(".picture .frame").evaluateAll((all) =>
      all.map((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return { top, bottom };
      }),
    );
    expect(boxes.filter(({ top }) => top === boxes[0]!.top)).toHaveLength(4);
    expect(boxes.filter(({ bottom }) => bottom <= 900)).toHaveLength(8);
  },
);
