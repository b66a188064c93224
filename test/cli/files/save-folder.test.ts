import { expect, test } from "vitest";
import type { App } from "../../../src/cli/app/app.ts";
import { checkSaveFolder } from "../../../src/cli/files/save-folder.ts";
import { createWorld } from "../../support/world.ts";

test("a folder for images is rejected where its disk has less than 1 MB free", async () => {
  const { folder } = await createWorld();
  const app = { context: { cwd: folder } } as App;
  await expect(checkSaveFolder(app, "images", async () => 999_999)).rejects.toMatchObject({
    message: "cannot save in images: its disk is full",
    type: "usage",
  });
  for (const free of [1_000_000, null]) {
    expect(await checkSaveFolder(app, "images", async () => free)).toBe(`${folder}/images`);
  }
});
