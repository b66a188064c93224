import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NamesNearby } from "../../../src/flows/photos/find-photo.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("the names of few folders are kept in memory: a file may have one for each row", async () => {
  const root = temporaryFolder();
  const nearby = new NamesNearby();
  const like = (folder: string) => nearby.like(join(root, folder, "front.jpg"));
  mkdirSync(join(root, "0"));
  expect(await like("0")).toEqual([]);
  writeFileSync(join(root, "0", "front.png"), "");
  expect(await like("0")).toEqual([]);
  for (const other of ["1", "2", "3", "4"]) await like(other);
  expect(await like("0")).toEqual(["front.png"]);
});
