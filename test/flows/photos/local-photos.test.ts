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

describe("the root of photos", () => {
  const outside = (what: string, root: string, absolute = false) => {
    const otherRoot = absolute
      ? "use --images-root with a folder that contains it, or "
      : "move the photo there, or ";
    return `photo_outside_root ${what} leads outside ${root}: ${otherRoot}add --images-outside`;
  };

  test("allows relative and absolute paths to files inside it, and detours that return to it", async () => {
    const { folder, at, photosIn } = photoFolder({
      "list/a.jpg": "a",
      "list/in/b.jpg": "b",
      "list/..c.jpg": "c",
    });
    const names = ["a.jpg", "./in/b.jpg", "in/../a.jpg", "../list/a.jpg", at("list/a.jpg"), "..c.jpg"];
    expect(await faultsOf(photosIn("list"), folder, ...names)).toEqual([]);
  });

  test("forbids files next to it, whether they exist or not", async () => {
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

  test("forbids the targets of links inside it, at the end of a path or in its middle", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a", "else/b.jpg": "b", "list/x.jpg": "x" });
    symlinkSync(at("a.jpg"), at("list/link.jpg"));
    symlinkSync("../else", at("list/out"));
    symlinkSync("x.jpg", at("list/inside.jpg"));
    expect(
      await faultsOf(photosIn("list", "--images-root"), folder, "link.jpg", "out/b.jpg", "inside.jpg"),
    ).toEqual([
      outside('"link.jpg" (through a link)', "--images-root (~/list)"),
      outside('"out/b.jpg" (through a link)', "--images-root (~/list)"),
    ]);
    expect(await faultsOf(photosIn(), folder, "list/link.jpg", "list/out/b.jpg")).toEqual([]);
  });

  test("reveals no more about missing files behind such a link than about existing ones", async () => {
    const { folder, at, photosIn } = photoFolder({ "else/deep/b.jpg": "b", "list/in/x.jpg": "x" });
    symlinkSync("../else/deep", at("list/out"));
    symlinkSync("../else/no.jpg", at("list/link.jpg"));
    symlinkSync("out/../no.jpg", at("list/back.jpg"));
    symlinkSync("ring", at("else/deep/ring"));
    const names = ["out/no.jpg", "out/B.png", "out/no/b.jpg", "out/b.jpg/c.jpg", "out\\no.jpg"];
    names.push("out/ring/b.jpg", "link.jpg", "back.jpg");
    expect(await faultsOf(photosIn("list"), folder, ...names)).toEqual(
      names.map((name) =>
        outside(`${JSON.stringify(name)} (through a link)`, "the folder of the file (~/list)"),
      ),
    );
    symlinkSync("in", at("list/inside"));
    symlinkSync("in/no.jpg", at("list/nothing.jpg"));
    symlinkSync("ring", at("list/ring"));
    expect(
      await faultsOf(photosIn("list"), folder, "inside/x.jpg", "inside/no.jpg", "nothing.jpg", "ring/a.jpg"),
    ).toEqual([
      "photo_not_found ~/list/inside/no.jpg does not exist",
      "photo_not_found ~/list/nothing.jpg is a broken link",
      "photo_not_found ~/list/ring/a.jpg does not exist",
    ]);
    expect(await faultsOf(photosIn("."), folder, "list/out/no.jpg", "list/link.jpg")).toEqual([
      "photo_not_found ~/list/out/no.jpg does not exist",
      "photo_not_found ~/list/link.jpg is a broken link",
    ]);
  });

  test("may be missing, also behind a link, and then has no photos", async () => {
    const { folder, at, photosIn } = photoFolder({ "real/a.jpg": "a" });
    symlinkSync("real", at("link"));
    expect(await faultsOf(photosIn("link/gone"), folder, "a.jpg")).toEqual([
      "photo_not_found ~/link/gone/a.jpg does not exist",
    ]);
  });

  test("does not limit photos with mayLeave: any path is resolved from the same folder", async () => {
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
        "photo_not_found ~/no.jpg does not exist",
        'not_an_image ".." is a folder, not a file',
        "photo_not_found ~/list/a.jpg does not exist",
      ]);
    }
  });

  test("may be a link to a folder", async () => {
    const { folder, at, photosIn } = photoFolder({ "real/a.jpg": "a", "b.jpg": "b" });
    symlinkSync("real", at("root"));
    const photos = photosIn("root");
    expect(await faultsOf(photos, folder, "a.jpg", at("real/a.jpg"), at("root/a.jpg"))).toEqual([]);
    expect(await faultsOf(photos, folder, "../b.jpg")).toEqual([
      outside('"../b.jpg"', "the folder of the file (~/root)"),
    ]);
  });
});

describe("a photo must be a file that the service accepts:", () => {
  test.each([
    ["a text", "hello", 'not_an_image "a.jpg" does not contain a JPEG, PNG or WebP image'],
    ["an AVIF", "\0\0\0\x1cftypavif", 'not_an_image "a.jpg" is an AVIF image, not a JPEG, PNG or WebP image'],
    ["a GIF", "GIF89a", 'not_an_image "a.jpg" is a GIF image, not a JPEG, PNG or WebP image'],
    ["nothing", "", 'not_an_image "a.jpg" is empty (0 bytes)'],
  ])("not %s", async (_, content, fault) => {
    const { folder, photosIn } = photoFolder({ "a.jpg": Buffer.from(content) });
    expect(await faultsOf(photosIn(), folder, "a.jpg")).toEqual([fault]);
  });

  test("10 MB are allowed, and one more byte is not", async () => {
    const { folder, at, photosIn } = photoFolder({ "full.png": "x", "over.png": "x" });
    truncateSync(at("full.png"), limits.imageBytes);
    truncateSync(at("over.png"), limits.imageBytes + 1);
    expect(await faultsOf(photosIn(), folder, "full.png", "over.png")).toEqual([
      'too_large "over.png" has 10485761 bytes; the limit is 10485760 bytes (10 MB)',
    ]);
  });

  test("not a folder, a pipe (which does not block), or a path through a file", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a" });
    mkdirSync(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    expect(await faultsOf(photosIn(), folder, "folder", "pipe", "a.jpg/b.jpg", ".")).toEqual([
      'not_an_image "folder" is a folder, not a file',
      'not_an_image "pipe" is a pipe or a device, not a file',
      "photo_not_found ~/a.jpg/b.jpg does not exist",
      'not_an_image "." is a folder, not a file',
    ]);
    expect(files.open).not.toHaveBeenCalled();
  });

  test.skipIf(process.getuid?.() === 0)("not an unreadable file", async () => {
    const { folder, at, photosIn } = photoFolder({ "a.jpg": "a" });
    chmodSync(at("a.jpg"), 0);
    expect(await faultsOf(photosIn(), folder, "a.jpg")).toEqual([
      'photo_not_readable cannot read "a.jpg": permission denied',
    ]);
  });

  test.each([
    ["EACCES", 'photo_not_readable cannot read "a.jpg": permission denied'],
    ["EIO", 'photo_not_readable cannot read "a.jpg": the disk reported an error'],
    ["EBUSY", 'photo_not_readable cannot read "a.jpg": another program is using it'],
  ])("not a file that fails to open with %s", async (code, fault) => {
    const { folder, photosIn } = photoFolder({ "a.jpg": "a" });
    vi.mocked(files.open).mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    expect(await faultsOf(photosIn(), folder, "a.jpg")).toEqual([fault]);
  });

  test("not a broken or circular link", async () => {
    const { folder, at, photosIn } = photoFolder();
    symlinkSync("no.jpg", at("a.jpg"));
    symlinkSync("circle.jpg", at("circle.jpg"));
    expect(await faultsOf(photosIn(), folder, "a.jpg", "circle.jpg", "x".repeat(300))).toEqual([
      "photo_not_found ~/a.jpg is a broken link",
      "photo_not_found ~/circle.jpg is a broken link",
      `photo_not_found ~/${"x".repeat(300)} does not exist`,
    ]);
  });
});

describe("a name that nearly matches a file", () => {
  test.each([
    ["in/A.JPG", "in/a.jpg", '; did you mean "a.jpg"?'],
    ["in/a.jpeg", "in/a.jpg", '; did you mean "a.jpg"?'],
    ["in/b.jpg", "in/a.jpg", ""],
    ["out/a.jpg", "in/a.jpg", ""],
    ["BAG-1_fornt.jpg", "BAG-1_front.jpg", '; did you mean "BAG-1_front.jpg"?'],
    ["BAG-1.jpg", "BAG-1_front.jpg", '; did you mean "BAG-1_front.jpg"?'],
    ["BAG-1_front.jpg", "BAG-2_front.jpg", ""],
  ])("%s for %s", async (named, there, hint) => {
    const { folder, photosIn } = photoFolder({ [there]: "a" });
    expect(await faultsOf(photosIn(), folder, named)).toEqual([
      `photo_not_found ~/${named} does not exist${hint}`,
    ]);
  });

  test("matches a file that differs only in Unicode composition, as on a Mac", async () => {
    const { folder, photosIn } = photoFolder({ "e\u0301te\u0301.jpg": "a" });
    expect(await faultsOf(photosIn(), folder, "\u00e9t\u00e9.jpg")).toEqual([]);
    expect(await photosIn().digest("\u00e9t\u00e9.jpg")).toBe(sha256(photo("a")));
  });

  test("may use Windows separators, but not to leave the root", async () => {
    const { folder, photosIn } = photoFolder({
      "list/in/a.jpg": "a",
      "b.jpg": "b",
      "list/odd\\name.jpg": "odd",
    });
    expect(
      await faultsOf(photosIn("list"), folder, "in\\a.jpg", "odd\\name.jpg", "..\\b.jpg", "D:\\a.jpg"),
    ).toEqual([
      'photo_outside_root "..\\\\b.jpg" leads outside the folder of the file (~/list): move the photo there, or add --images-outside',
      "photo_not_found ~/list/D:\\a.jpg does not exist",
    ]);
  });
});

describe("each file is checked once", () => {
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

  test("and hashed once, however many names it has", async () => {
    const { at, photosIn } = photoFolder({ "a.jpg": "a", "b.jpg": "b" });
    symlinkSync("a.jpg", at("link.jpg"));
    const photos = photosIn();
    const names = ["a.jpg", "./a.jpg", "link.jpg", "a.jpg", "b.jpg"];
    expect(await Promise.all(names.map((name) => photos.digest(name)))).toEqual(
      ["a", "a", "a", "a", "b"].map((text) => sha256(photo(text))),
    );
    // The files are checked under four names and hashed as two.
    expect(files.open).toHaveBeenCalledTimes(4 + 2);
    expect(await photos.size("link.jpg")).toBe(photo("a").length);
  });
});

describe("a photo that changed", () => {
  const changed = (name: string) =>
    new InputError(
      `the photo "${name}" was changed or removed after the check; nothing more was sent`,
      "photo_changed",
      "Photos uploaded so far are kept. Run the command again to check the photos again.",
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
  ])("is rejected: %s", async (_, change) => {
    const world = photoFolder({ "a.jpg": "a", "same.jpg": "a" });
    const photos = world.photosIn();
    const digest = sha256(photo("a"));
    expect(await photos.size("a.jpg")).toBe(photo("a").length);
    change(world);
    await expect(photos.digest("a.jpg")).rejects.toEqual(changed("a.jpg"));
    await expect(photos.read("a.jpg", digest)).rejects.toEqual(changed("a.jpg"));
  });

  test("is rejected with other bytes, even if size and date are the same", async () => {
    const { photosIn } = photoFolder({ "a.jpg": "a" });
    const photos = photosIn();
    expect(await photos.read("a.jpg", sha256(photo("a")))).toEqual(photo("a"));
    await expect(photos.read("a.jpg", sha256(photo("b")))).rejects.toEqual(changed("a.jpg"));
  });

  test("is accepted under another name of the same file", async () => {
    const { at, photosIn } = photoFolder({ "a.jpg": "a" });
    linkSync(at("a.jpg"), at("twin.jpg"));
    const photos = photosIn();
    expect(await photos.digest("twin.jpg")).toBe(await photos.digest("a.jpg"));
  });
});

describe("the root is", () => {
  test("the folder of the file, the current folder for piped rows, or the one from the flag", async () => {
    const { folder, at } = photoFolder({ "list/a.jpg": "a", "b.jpg": "b", "photos/c.jpg": "c" });
    const place = { cwd: folder, sourcePath: at("list/rows.csv") };
    expect(await faultsOf(await openLocalPhotos({}, place), folder, "a.jpg")).toEqual([]);
    const piped = await openLocalPhotos({}, { ...place, sourcePath: null });
    expect(await faultsOf(piped, folder, "b.jpg", "../x.jpg")).toEqual([
      'photo_outside_root "../x.jpg" leads outside the current folder (~): move the photo there, or add --images-outside',
    ]);
    const named = await openLocalPhotos({ imagesRoot: "photos" }, place);
    expect(await faultsOf(named, folder, "c.jpg")).toEqual([]);
    const absolute = await openLocalPhotos({ imagesRoot: join(folder, ".") }, place);
    expect(await faultsOf(absolute, folder, "list/a.jpg")).toEqual([]);
  });

  test("an existing folder", async () => {
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
