import { type FileHandle, open } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { OpenFile } from "../../src/open-file.ts";
import { sampled } from "../support/repetitions.ts";
import { syncWorld } from "./export/sync-world.ts";

/** The handles of `fs.promises` as they are under Yarn Plug'n'Play (@yarnpkg/fslib, FileHandle). */
async function takeMethods(): Promise<void> {
  const probe = await open(".", "r");
  const handles = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  for (const method of ["sync", "datasync", "writev", "readv", "utimes"] as const) {
    const spy = vi.spyOn(handles, method).mockRejectedValue(new Error("Method not implemented."));
    onTestFinished(() => spy.mockRestore());
  }
}

const generation =
  "beautify --product DRESS-1 --subtype clothing --background white --angle front --save out --yes";

test.each(
  sampled(
    [
      [generation, /Saved 1 image in out/],
      ["export sync mirror", /Mirrored 6 images/],
      ["export --zip --out out.zip", /to out\.zip/],
      ["export --zip --extract photos", /6 files/],
      ["export --manifest --out out.ndjson", /to out\.ndjson/],
      ["export --out live.csv", /to live\.csv/],
      ["products export sheet.xlsx", /Wrote 3 products/],
    ],
    3,
  ),
)("%s needs nothing that handles of Yarn Plug'n'Play lack", async (command, shown) => {
  const world = await syncWorld();
  await takeMethods();
  expect(await world.cat(command)).toMatchObject({ exit: 0, stderr: expect.stringMatching(shown) });
});

test.each(
  sampled(
    [
      ["EIO", "the disk reported an error"],
      ["EDQUOT", "disk quota exceeded"],
      ["ENOSYS", "not implemented"],
    ],
    1,
  ),
)(
  "nothing is queued where a file cannot be written to the end in the folder of --save: %s",
  async (code, why) => {
    const world = await syncWorld();
    const failing = vi
      .spyOn(OpenFile.prototype, "sync")
      .mockRejectedValue(Object.assign(new Error("not implemented"), { code }));
    onTestFinished(() => failing.mockRestore());
    expect(await world.cat(generation)).toMatchObject({
      exit: 2,
      stderr: `error: cannot save in out: ${why}\nChoose another folder, for example --save images.\n`,
    });
    failing.mockRestore();
    const tasks = await world.cat("tasks list --json");
    expect(tasks).toMatchObject({ exit: 0, stdout: "" });
  },
);
