import { expect, test } from "vitest";
import { rawZip } from "../../../support/raw-zip.ts";
import { extracted } from "./extracting.ts";

test("extracts stored and compressed files, folders and empty files", async () => {
  const zip = rawZip([
    { name: "a.jpg", data: "one" },
    { name: "b.png", data: "two ".repeat(9_000), deflate: true },
    { name: "empty.webp" },
    { name: "empty-deflated.webp", deflate: true },
    { name: "more/", mode: 0o40755 },
    { name: "deep/er/c.jpg", data: "three" },
  ]);
  expect(await extracted([zip])).toEqual({
    result: { files: 5, bytes: 36_008, renamed: [] },
    error: null,
    tree: {
      "a.jpg": "one",
      "b.png": "two ".repeat(9_000),
      "deep/": "",
      "deep/er/": "",
      "deep/er/c.jpg": "three",
      "empty-deflated.webp": "",
      "empty.webp": "",
      "more/": "",
    },
    left: [],
  });
});
