import { expect, test } from "vitest";
import { estimateLine } from "../../../src/flows/import/prepare.ts";

const nothing = { photos: 0, bytes: 0, changes: 0, batches: 0 };

test.each<[object, string | null]>([
  [{ photos: 1240, batches: 1 }, "1,240 photos to upload: at least 20 min (limit: 60 writes per minute)"],
  [
    { photos: 1240, bytes: 96_040_000, batches: 1 },
    "1,240 photos to upload (96.0 MB): at least 20 min (limit: 60 writes per minute)",
  ],
  [
    { photos: 10_000, batches: 5 },
    "10,000 photos to upload: at least 2 h 46 min (limit: 60 writes per minute)",
  ],
  [
    { photos: 119, changes: 1 },
    "119 photos to upload, 1 change of products: at least 1 min (limit: 60 writes per minute)",
  ],
  [
    { photos: 119, changes: 1, batches: 1 },
    "119 photos to upload, 1 change of products: at least 2 min (limit: 60 writes per minute)",
  ],
  [{ changes: 310, batches: 2 }, "310 changes of products: at least 5 min (limit: 60 writes per minute)"],
  [{ batches: 500 }, "500 batches to send: at least 8 min (limit: 60 writes per minute)"],
  [{ photos: 3600 }, "3,600 photos to upload: at least 59 min (limit: 60 writes per minute)"],
  [{ photos: 58, changes: 1, batches: 1 }, null],
  [{}, null],
])("the line for %j to send is %j", (counts, line) => {
  expect(estimateLine({ ...nothing, ...counts }, 60)).toBe(line);
});
