import { expect, test } from "vitest";
import { estimateLine } from "../../../../src/flows/import/plan/estimate.ts";

const nothing = { photos: 0, bytes: 0, patches: 0, calls: 0 };

test.each<[object, string | null]>([
  [{ photos: 1240, calls: 1 }, "1,240 photos, 60 writes a minute: about 21 min"],
  [
    { photos: 1240, bytes: 96_040_000, calls: 1 },
    "1,240 photos, 60 writes a minute: about 21 min (96.0 MB to upload)",
  ],
  [{ photos: 10_000, calls: 5 }, "10,000 photos, 60 writes a minute: about 2 h 47 min"],
  [{ photos: 119, patches: 1 }, "119 photos, 1 changed row, 60 writes a minute: about 2 min"],
  [{ photos: 119, patches: 1, calls: 1 }, "119 photos, 1 changed row, 60 writes a minute: about 3 min"],
  [{ patches: 310, calls: 2 }, "310 changed rows, 60 writes a minute: about 6 min"],
  [{ calls: 500 }, "500 calls, 60 writes a minute: about 9 min"],
  [{ photos: 3600 }, "3,600 photos, 60 writes a minute: about 1 h 0 min"],
  [{ photos: 58, patches: 1, calls: 1 }, null],
  [{}, null],
])("%j: %s", (counts, line) => {
  expect(estimateLine({ ...nothing, ...counts }, 60)).toBe(line);
});
