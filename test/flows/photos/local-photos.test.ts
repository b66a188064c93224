import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import * as files from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import { openLocalPhotos } from "../../../src/flows/photos/open-local-photos.ts";
import { InputError } from "../../../src/flows/rows/source.ts";
import { faultsOf, photo, photoFolder } from "./photo-folder.ts";

vi.mock("node:fs/promises", { spy: true });
afterEach(() => void vi.clearAllMocks());

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("a photo must lie in the root:", () => {
  const outside = (what: string, root: string, absolute = false) => {
    const otherRoot = absolute ? "name a folder that contains it with --images-root, or " : "";
    return `photo_outside_root ${what} lies outside of ${root}: ${otherRoot}give --images-outside to let paths lead there`;
  };

  test("what lies in it may be named from it, absolutely, and on ways that lead out and back", async () => {
    const { folder, at, photosIn } = photoFolder({
      "list/a.jpg": "a",
      "list/in/b.jpg": "b",
      "list/..c.jpg": "c",
    });
    const names = ["a.jpg", "./in/b.jpg", "in/../a.jpg", "../list/a.jpg", at("list/a.jpg"), "..c.jpg"];
    expect(await faultsOf(photosIn("list"), folder, ...names)).toEqual([]);
  });

  test("not what lies beside it, whether it is there or not", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a", "list/x.jpg": "x", "list2/b.jpg": "b" });
    const names = ["../a.jpg", "../no.jpg", "in/../../list2/b.jpg", at("a.jpg"), "/etc/passwd", "/", ".."];
    const faults = await faultsOf(photosIn("list"), folder, ...names);
    expect(faults).toEqual(
      names.map((name) =>
        outside(
          JSON.stringify(name).replace(folder, "~"),
          "the folder of the file (~/list)",
          name.startsWith("/"),
        ),
      ),
    );
    expect(await faultsOf(photosIn("."), folder, at("a.jpg"), "list2/b.jpg")).toEqual([]);
  });

  test("not what a link in it leads to, at the end of a way or in its middle", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a", "else/b.jpg": "b", "list/x.jpg": "x" });
    symlinkSync(at("a.jpg"), at("list/link.jpg"));
    symlinkSync("../else", at("list/out"));
    symlinkSync("x.jpg", at("list/inside.jpg"));
    expect(
      await faultsOf(photosIn("list", "--images-root"), folder, "link.jpg", "out/b.jpg", "inside.jpg"),
    ).toEqual([
      outside('"link.jpg" leads through a link and', "--images-root (~/list)"),
      outside('"out/b.jpg" leads through a link and', "--images-root (~/list)"),
    ]);
    expect(await faultsOf(photosIn(), folder, "list/link.jpg", "list/out/b.jpg")).toEqual([]);
  });

  test("not what is not there behind such a link, of which no more is told than of what is there", async () => {
    const { folder, at, photosIn } = photoFolder({ "else/deep/b.jpg": "b", "list/in/x.jpg": "x" });
    symlinkSync("../else/deep", at("list/out"));
    symlinkSync("../else/no.jpg", at("list/link.jpg"));
    symlinkSync("out/../no.jpg", at("list/back.jpg"));
    symlinkSync("ring", at("else/deep/ring"));
    const names = ["out/no.jpg", "out/B.png", "out/no/b.jpg", "out/b.jpg/c.jpg", "out\\no.jpg"];
    names.push("out/ring/b.jpg", "link.jpg", "back.jpg");
    expect(await faultsOf(photosIn("list"), folder, ...names)).toEqual(
      names.map((name) =>
        outside(`${JSON.stringify(name)} leads through a link and`, "the folder of the file (~/list)"),
      ),
    );
    symlinkSync("in", at("list/inside"));
    symlinkSync("in/no.jpg", at("list/nothing.jpg"));
    symlinkSync("ring", at("list/ring"));
    expect(
      await faultsOf(photosIn("list"), folder, "inside/x.jpg", "inside/no.jpg", "nothing.jpg", "ring/a.jpg"),
    ).toEqual([
      "photo_not_found there is no ~/list/inside/no.jpg",
      "photo_not_found ~/list/nothing.jpg is a link that leads to no file",
      "photo_not_found there is no ~/list/ring/a.jpg",
    ]);
    expect(await faultsOf(photosIn("."), folder, "list/out/no.jpg", "list/link.jpg")).toEqual([
      "photo_not_found there is no ~/list/out/no.jpg",
      "photo_not_found ~/list/link.jpg is a link that leads to no file",
    ]);
  });

  test("a root that is not there, behind a link as well, has no photos and nothing outside of it", async () => {
    const { folder, at, photosIn } = photoFolder({ "real/a.jpg": "a" });
    symlinkSync("real", at("link"));
    expect(await faultsOf(photosIn("link/gone"), folder, "a.jpg")).toEqual([
      "photo_not_found there is no ~/link/gone/a.jpg",
    ]);
  });

  test("unless it may lie outside: then a path leads where it says, from the same folder", async () => {
    const { folder, at } = photoFolder({ "a.jpg": "a", "else/b.jpg": "b", "list/c.jpg": "c" });
    symlinkSync("../else", at("list/out"));
    const place = { cwd: folder, sourcePath: at("list/rows.csv") };
    const names = ["../a.jpg", "..\\a.jpg", "out/b.jpg", at("a.jpg"), "c.jpg"];
    for (const imagesRoot of [undefined, "list"]) {
      const photos = await openLocalPhotos({ imagesRoot, imagesOutside: true }, place);
      expect(await faultsOf(photos, folder, ...names)).toEqual([]);
      expect(await photos.digest("../a.jpg")).toBe(sha256(photo("a")));
      expect(await photos.digest("out/b.jpg")).toBe(sha256(photo("b")));
      expect(await faultsOf(photos, folder, "../no.jpg", "..", "a.jpg")).toEqual([
        "photo_not_found there is no ~/no.jpg",
        'not_an_image ".." is a folder, not a file',
        "photo_not_found there is no ~/list/a.jpg",
      ]);
    }
  });

  test("a root that is a link itself is the folder that it leads to", async () => {
    const { folder, at, photosIn } = photoFolder({ "real/a.jpg": "a", "b.jpg": "b" });
    symlinkSync("real", at("root"));
    const photos = photosIn("root");
    expect(await faultsOf(photos, folder, "a.jpg", at("real/a.jpg"), at("root/a.jpg"))).toEqual([]);
    expect(await faultsOf(photos, folder, "../b.jpg")).toEqual([
      outside('"../b.jpg"', "the folder of the file (~/root)"),
    ]);
  });
});

describe("a photo must be a file that the service would take:", () => {
  test.each([
    ["a text", "hello", 'not_an_image "a.jpg" is no JPEG, PNG or WebP image, whatever its name says'],
    ["a GIF", "GIF89a", 'not_an_image "a.jpg" is no JPEG, PNG or WebP image, whatever its name says'],
    ["nothing", "", 'not_an_image "a.jpg" is empty (0 bytes)'],
  ])("not %s", async (_, content, fault) => {
    const { folder, photosIn } = photoFolder({ "a.jpg": Buffer.from(content) });
    expect(await faultsOf(photosIn(), folder, "a.jpg")).toEqual([fault]);
  });

  test("10 MB pass, and a byte more does not", async () => {
    const { folder, at, photosIn } = photoFolder({ "full.png": "x", "over.png": "x" });
    truncateSync(at("full.png"), limits.imageBytes);
    truncateSync(at("over.png"), limits.imageBytes + 1);
    expect(await faultsOf(photosIn(), folder, "full.png", "over.png")).toEqual([
      'too_large "over.png" has 10485761 bytes; at most 10485760 (10 MB) are allowed',
    ]);
  });

  test("neither a folder, nor a pipe, which is not waited for, nor the way through a file", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a" });
    mkdirSync(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    expect(await faultsOf(photosIn(), folder, "folder", "pipe", "a.jpg/b.jpg", ".")).toEqual([
      'not_an_image "folder" is a folder, not a file',
      'not_an_image "pipe" is a pipe or a device, not a file',
      "photo_not_found there is no ~/a.jpg/b.jpg",
      'not_an_image "." is a folder, not a file',
    ]);
    expect(files.open).not.toHaveBeenCalled();
  });

  test.skipIf(process.getuid?.() === 0)("not one that may not be read", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a" });
    chmodSync(at("a.jpg"), 0);
    expect(await faultsOf(photosIn(), folder, "a.jpg")).toEqual([
      'photo_not_readable "a.jpg" may not be read by you',
    ]);
  });

  test.each([
    ["EACCES", 'photo_not_readable "a.jpg" may not be read by you'],
    ["EIO", 'photo_not_readable "a.jpg" cannot be read (EIO)'],
    ["EMFILE", 'photo_not_readable "a.jpg" cannot be read (EMFILE)'],
  ])("not one whose opening fails with %s", async (code, fault) => {
    const { folder, photosIn } = photoFolder({ "a.jpg": "a" });
    vi.mocked(files.open).mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    expect(await faultsOf(photosIn(), folder, "a.jpg")).toEqual([fault]);
  });

  test("a link that leads nowhere, or in a circle", async () => {
    const { folder, at, photosIn } = photoFolder();
    symlinkSync("no.jpg", at("a.jpg"));
    symlinkSync("circle.jpg", at("circle.jpg"));
    expect(await faultsOf(photosIn(), folder, "a.jpg", "circle.jpg", "x".repeat(300))).toEqual([
      "photo_not_found ~/a.jpg is a link that leads to no file",
      "photo_not_found ~/circle.jpg is a link that leads to no file",
      `photo_not_found there is no ~/${"x".repeat(300)}`,
    ]);
  });
});

describe("a name that is not quite that of a file", () => {
  test.each([
    ["in/A.JPG", "in/a.jpg", ', but there is "a.jpg"'],
    ["in/a.jpeg", "in/a.jpg", ', but there is "a.jpg"'],
    ["in/b.jpg", "in/a.jpg", ""],
    ["out/a.jpg", "in/a.jpg", ""],
  ])("%s for %s", async (named, there, hint) => {
    const { folder, photosIn } = photoFolder({ [there]: "a" });
    expect(await faultsOf(photosIn(), folder, named)).toEqual([
      `photo_not_found there is no ~/${named}${hint}`,
    ]);
  });

  test("is that of the file where only its letters are composed otherwise, as a Mac does", async () => {
    const { folder, photosIn } = photoFolder({ "e\u0301te\u0301.jpg": "a" });
    expect(await faultsOf(photosIn(), folder, "\u00e9t\u00e9.jpg")).toEqual([]);
    expect(await photosIn().digest("\u00e9t\u00e9.jpg")).toBe(sha256(photo("a")));
  });

  test("may part its folders as Windows does, but not to get out of the root", async () => {
    const { folder, photosIn } = photoFolder({
      "list/in/a.jpg": "a",
      "b.jpg": "b",
      "list/odd\\name.jpg": "odd",
    });
    expect(
      await faultsOf(photosIn("list"), folder, "in\\a.jpg", "odd\\name.jpg", "..\\b.jpg", "D:\\a.jpg"),
    ).toEqual([
      'photo_outside_root "..\\\\b.jpg" lies outside of the folder of the file (~/list): give --images-outside to let paths lead there',
      "photo_not_found there is no ~/list/D:\\a.jpg",
    ]);
  });
});

describe("each file is looked at once", () => {
  test("however many rows name it, and no more than eight at a time", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `${index}.jpg`);
    const { folder, photosIn } = photoFolder(Object.fromEntries(names.map((name) => [name, name])));
    const photos = photosIn();
    let open = 0;
    let most = 0;
    const really = await vi.importActual<typeof files>("node:fs/promises");
    vi.mocked(files.open).mockImplementation(async (...args) => {
      const handle = await really.open(...args);
      most = Math.max(most, ++open);
      const close = handle.close.bind(handle);
      handle.close = () => {
        open--;
        return close();
      };
      return handle;
    });
    await Promise.all([1, 2, 3].map(() => faultsOf(photos, folder, ...names)));
    expect(files.open).toHaveBeenCalledTimes(30);
    expect(most).toBe(8);
    expect(open).toBe(0);
    vi.mocked(files.open).mockReset();
  });

  test("and digested once, under however many names", async () => {
    const { at, photosIn } = photoFolder({ "a.jpg": "a", "b.jpg": "b" });
    symlinkSync("a.jpg", at("link.jpg"));
    const photos = photosIn();
    const names = ["a.jpg", "./a.jpg", "link.jpg", "a.jpg", "b.jpg"];
    expect(await Promise.all(names.map((name) => photos.digest(name)))).toEqual(
      ["a", "a", "a", "a", "b"].map((text) => sha256(photo(text))),
    );
    // Looked at under four names, digested as two files.
    expect(files.open).toHaveBeenCalledTimes(4 + 2);
    expect(await photos.size("link.jpg")).toBe(photo("a").length);
  });
});

describe("a photo that is not what it was", () => {
  const changed = (name: string) =>
    new InputError(
      `the photo "${name}" was changed or removed since it was checked: nothing more is sent`,
      "photo_changed",
      "What was uploaded is kept. Run the command again: photos are checked anew.",
    );

  test.each<[string, (world: ReturnType<typeof photoFolder>) => void]>([
    ["written anew", ({ write }) => write("a.jpg", "other")],
    ["removed", ({ at }) => rmSync(at("a.jpg"))],
    ["another file", ({ at }) => renameSync(at("same.jpg"), at("a.jpg"))],
    [
      "a link now",
      ({ at }) => {
        renameSync(at("a.jpg"), at("moved.jpg"));
        symlinkSync("moved.jpg", at("a.jpg"));
      },
    ],
    [
      "a pipe now",
      ({ at }) => {
        rmSync(at("a.jpg"));
        execFileSync("mkfifo", [at("a.jpg")]);
      },
    ],
  ])("is refused: %s", async (_, change) => {
    const world = photoFolder({ "a.jpg": "a", "same.jpg": "a" });
    const photos = world.photosIn();
    const digest = sha256(photo("a"));
    expect(await photos.size("a.jpg")).toBe(photo("a").length);
    change(world);
    await expect(photos.digest("a.jpg")).rejects.toEqual(changed("a.jpg"));
    await expect(photos.read("a.jpg", digest)).rejects.toEqual(changed("a.jpg"));
  });

  test("is refused with other bytes, though nothing of its outside tells so", async () => {
    const { photosIn } = photoFolder({ "a.jpg": "a" });
    const photos = photosIn();
    expect(await photos.read("a.jpg", sha256(photo("a")))).toEqual(photo("a"));
    await expect(photos.read("a.jpg", sha256(photo("b")))).rejects.toEqual(changed("a.jpg"));
  });

  test("is in order when it is another name of the same file", async () => {
    const { at, photosIn } = photoFolder({ "a.jpg": "a" });
    linkSync(at("a.jpg"), at("twin.jpg"));
    const photos = photosIn();
    expect(await photos.digest("twin.jpg")).toBe(await photos.digest("a.jpg"));
  });
});

describe("the root is", () => {
  test("the folder of the file, or the current one for what is piped in, or the one that was named", async () => {
    const { folder, at } = photoFolder({ "list/a.jpg": "a", "b.jpg": "b", "photos/c.jpg": "c" });
    const place = { cwd: folder, sourcePath: at("list/rows.csv") };
    expect(await faultsOf(await openLocalPhotos({}, place), folder, "a.jpg")).toEqual([]);
    const piped = await openLocalPhotos({}, { ...place, sourcePath: null });
    expect(await faultsOf(piped, folder, "b.jpg", "../x.jpg")).toEqual([
      'photo_outside_root "../x.jpg" lies outside of the current folder (~): give --images-outside to let paths lead there',
    ]);
    const named = await openLocalPhotos({ imagesRoot: "photos" }, place);
    expect(await faultsOf(named, folder, "c.jpg")).toEqual([]);
    const absolute = await openLocalPhotos({ imagesRoot: join(folder, ".") }, place);
    expect(await faultsOf(absolute, folder, "list/a.jpg")).toEqual([]);
  });

  test("a folder that is there", async () => {
    const { folder } = photoFolder({ "a.jpg": "a" });
    const place = { cwd: folder, sourcePath: null };
    await expect(openLocalPhotos({ imagesRoot: "no" }, place)).rejects.toThrow(
      "--images-root no does not exist",
    );
    await expect(openLocalPhotos({ imagesRoot: "a.jpg" }, place)).rejects.toThrow(
      "--images-root a.jpg is not a folder",
    );
  });
});
