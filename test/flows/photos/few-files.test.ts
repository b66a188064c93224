import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { LocalPhotos } from "../../../src/flows/photos/local-photos.ts";
import { changeError, openSource } from "../../../src/flows/rows/source.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** How many of the next calls of `open` fail, and their error. */
const { fault, failing } = vi.hoisted(() => {
  const fault = { times: 0, code: "EMFILE" };
  const failing =
    <Args extends readonly unknown[], Result>(open: (...args: Args) => Result) =>
    (...args: Args): Result => {
      if (fault.times-- > 0)
        throw Object.assign(new Error(fault.code), { code: fault.code, syscall: "open", path: args[0] });
      return open(...args);
    };
  return { fault, failing };
});
afterEach(() => {
  fault.times = 0;
});

vi.mock("node:timers/promises", () => ({ setTimeout: async () => {} }));
vi.mock("node:fs/promises", async (original) => {
  const promises = await original<typeof import("node:fs/promises")>();
  return {
    ...promises,
    open: async (...args: Parameters<typeof promises.open>) => failing(promises.open)(...args),
  };
});
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return { ...fs, openSync: failing(fs.openSync) };
});

function photos(): LocalPhotos {
  const root = temporaryFolder();
  writeFileSync(join(root, "a.jpg"), Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex"));
  return new LocalPhotos({ root });
}
const image = { index: 0, path: "a.jpg" };

test.each(["EMFILE", "ENFILE", "ENOMEM"])("a photo waits for other files to close: %s", async (code) => {
  Object.assign(fault, { code, times: 30 });
  expect(await photos().problems([image])).toEqual([]);
});

test.each([
  ["EMFILE", "too many open files"],
  ["ENFILE", "too many open files"],
  ["ENOMEM", "the system has no memory left"],
])("%s is no problem of a row, and no changed photo", async (code, why) => {
  const local = photos();
  Object.assign(fault, { code, times: 1_000 });
  const error = { type: "file", code, message: `cannot open "a.jpg": ${why}` };
  await expect(local.problems([image])).rejects.toMatchObject(error);
  fault.times = 0;
  const checked = photos();
  await checked.problems([image]);
  fault.times = 1_000;
  const later = { ...error, message: `cannot open the photo "a.jpg": ${why}` };
  await expect(checked.digest("a.jpg")).rejects.toMatchObject(later);
});

test("a file that cannot be opened for the lack of descriptors is not a changed file", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.csv"), "reference,name\nA,One\n");
  const source = await openSource("a.csv", { cwd: folder, stdin: () => process.stdin });
  await source.readDigest();
  writeFileSync(join(folder, "a.csv"), "reference,name\nA,One\n");
  Object.assign(fault, { code: "EMFILE", times: 1_000 });
  const reading = async () => {
    for await (const _ of source.read());
  };
  await expect(reading()).rejects.toMatchObject({
    type: "file",
    code: "EMFILE",
    message: "cannot open a.csv: too many open files",
  });
  fault.times = 1_000;
  expect(await changeError(source)).toBe(null);
});
