import fc from "fast-check";
import { expect, test } from "vitest";
import { matchNames } from "../../../../src/flows/export/frozen/named-entries.ts";

const stem = fc.stringMatching(/^[a-c]{1,3}$/);
const asset = fc.record({
  stem,
  sent: fc.constantFrom(".png", ".jpg"),
  written: fc.constantFrom(".png", ".jpg"),
  isRejected: fc.boolean(),
});

test("a frozen export names exactly the images of a ZIP, or none at all where a name is not certain", () => {
  fc.assert(
    fc.property(
      fc.array(asset, { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      (images, isConverted, isCut) => {
        const assets = images.map(({ stem, sent, isRejected }) => ({ name: stem + sent, isRejected }));
        const all = images.map(({ stem, sent, written }) => stem + (isConverted ? written : sent));
        const entries = isCut ? all.slice(1) : all;
        const found = matchNames(assets, entries);
        const stems = new Set(images.map(({ stem }) => stem));
        if (stems.size === images.length && entries.length === all.length)
          expect(found).toEqual(new Map(all.map((entry, at) => [entry, assets[at]])));
        if (entries.length < all.length) expect(found).toBe(null);
        if (new Set(entries).size < entries.length) expect(found).toBe(null);
      },
    ),
  );
});
