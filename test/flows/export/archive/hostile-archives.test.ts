import { crc32, deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { toExitCode } from "../../../../src/cli/context/errors.ts";
import { extra64, type RawEnd, type RawEntry, rawZip, unicodePath } from "../../../support/raw-zip.ts";
import { extracted } from "./extracting.ts";

const photo: RawEntry = { name: "a.jpg", data: "photo" };
const zip = (entries: RawEntry[], end?: RawEnd): Buffer => rawZip(entries, end);
const damaged = "1.zip is damaged: ";
const unsafe = "1.zip is not safe to extract: ";
const unreadable = "1.zip cannot be read: ";
const notZip = "1.zip is not a ZIP file: ";
const good = zip([photo, { name: "b.jpg", data: "other photo" }]);
const zeros = Buffer.alloc(150_000_000);
const bomb = deflateRawSync(zeros);
const bombCrc = crc32(zeros);
const deflated = deflateRawSync("photo");

const archives: [what: string, bytes: () => Buffer, sentence: string][] = [
  // Not a ZIP.
  ["an empty file", () => Buffer.alloc(0), `${notZip}it does not start like one`],
  [
    "an HTML page",
    () => Buffer.from("\n<!DOCTYPE html><title>502</title>"),
    `${notZip}it does not start like one`,
  ],
  [
    "an HTML page with a ZIP in it",
    () => Buffer.concat([Buffer.from("<html>"), good]),
    `${notZip}it does not start like one`,
  ],
  ["other bytes", () => Buffer.from("\x89PNG\r\n"), `${notZip}it does not start like one`],
  [
    "a ZIP after other bytes",
    () => zip([photo], { prefix: Buffer.from("#!/bin/sh\n") }),
    `${notZip}it does not start like one`,
  ],

  // Incomplete or corrupt.
  [
    "a ZIP without its last byte",
    () => good.subarray(0, -1),
    `${damaged}its end is missing, or other bytes follow it`,
  ],
  [
    "half a ZIP",
    () => good.subarray(0, good.length / 2),
    `${damaged}its end is missing, or other bytes follow it`,
  ],
  [
    "a ZIP and another byte",
    () => zip([photo], { suffix: Buffer.alloc(1) }),
    `${damaged}its end is missing, or other bytes follow it`,
  ],
  ["two ZIPs in one", () => Buffer.concat([good, good]), `${damaged}its list of files is incomplete`],
  [
    "bytes between the list and the end",
    () => zip([photo], { between: Buffer.from("hidden") }),
    `${damaged}its list of files is incomplete`,
  ],
  [
    "an end that counts fewer files",
    () => zip([photo, { name: "b.jpg" }], { entries: 1 }),
    `${damaged}its list of files is incomplete`,
  ],
  [
    "an end that counts more files",
    () => zip([photo], { entries: 2 }),
    `${damaged}its list of files is invalid`,
  ],
  [
    "a list in the middle of an entry",
    () => zip([photo], { directoryAt: 4, directoryBytes: good.length }),
    `${damaged}its list of files is invalid`,
  ],
  [
    "a list with another signature",
    () => zip([{ ...photo, signature: 1 }]),
    `${damaged}its list of files is invalid`,
  ],
  [
    "a comment with another end in it",
    () => zip([photo], { comment: zip([]) }),
    `${damaged}its list of files is incomplete`,
  ],
  [
    "ZIP64 records that count other files",
    () => zip([photo], { zip64: { entries: 2 } }),
    `${damaged}its list of files is invalid`,
  ],
  [
    "ZIP64 records with another list",
    () => zip([photo], { zip64: { directoryAt: 0 } }),
    `${damaged}its list of files is invalid`,
  ],
  [
    "a ZIP64 record far outside",
    () => zip([photo], { zip64: { recordAt: 2 ** 52 } }),
    `${damaged}its end is missing, or other bytes follow it`,
  ],
  [
    "a ZIP64 size that is missing",
    () => zip([{ ...photo, size: 0xffff_ffff, stored: 0xffff_ffff, extra: extra64() }]),
    `${damaged}its list of files is invalid`,
  ],
  [
    "a ZIP64 size larger than the file",
    () => zip([{ ...photo, size: 0xffff_ffff, stored: 0xffff_ffff, extra: extra64(2 ** 52, 2 ** 52) }]),
    `${damaged}"a.jpg" is outside the ZIP`,
  ],
  [
    "an extra field without an end",
    () => zip([{ ...photo, extra: Buffer.from([1, 0, 99, 0]) }]),
    `${damaged}its list of files is invalid`,
  ],
  ["an entry after the end", () => zip([{ ...photo, at: 5_000 }]), `${damaged}"a.jpg" is outside the ZIP`],
  [
    "an entry in the list of files",
    () => zip([photo, { name: "b.jpg", at: 1 }]),
    `${damaged}"b.jpg" has other bytes than declared`,
  ],
  [
    "an entry that reaches into the list",
    () => zip([{ ...photo, stored: 20, size: 20 }]),
    `${damaged}"a.jpg" is outside the ZIP`,
  ],
  [
    "a header with another signature",
    () => zip([photo, { name: "b.jpg", local: { signature: 1 } }]),
    `${damaged}"b.jpg" has other bytes than declared`,
  ],
  [
    "a wrong checksum",
    () => zip([{ ...photo, crc: 1 }]),
    `${damaged}"a.jpg" has another checksum than declared`,
  ],
  [
    "a wrong checksum of compressed bytes",
    () => zip([{ ...photo, deflate: true, crc: 1 }]),
    `${damaged}"a.jpg" has another checksum than declared`,
  ],
  [
    "a flipped bit in the last file",
    () => {
      const bytes = Buffer.from(good);
      bytes[bytes.indexOf("other photo")]! ^= 1;
      return bytes;
    },
    `${damaged}"b.jpg" has another checksum than declared`,
  ],
  [
    "compressed bytes that are not",
    () => zip([{ ...photo, method: 8 }]),
    `${damaged}"a.jpg" has other bytes than declared`,
  ],
  [
    "compressed bytes without their end",
    () => zip([{ ...photo, deflate: true, raw: deflated.subarray(0, -1) }]),
    `${damaged}"a.jpg" has other bytes than declared`,
  ],
  [
    "stored bytes with two lengths",
    () => zip([{ ...photo, size: 4 }]),
    `${damaged}its list of files is invalid`,
  ],

  // Claims of size.
  [
    "more bytes than declared",
    () => zip([{ ...photo, deflate: true, size: 4 }]),
    `${damaged}"a.jpg" has other bytes than declared`,
  ],
  [
    "many more bytes than declared, in a large entry",
    () => zip([{ ...photo, method: 8, raw: bomb, size: 2_000_000 }]),
    `${damaged}"a.jpg" has other bytes than declared`,
  ],
  [
    "fewer bytes than declared",
    () => zip([{ ...photo, deflate: true, size: 6 }]),
    `${damaged}"a.jpg" has other bytes than declared`,
  ],
  [
    "fewer bytes than declared, in a large entry",
    () => zip([{ ...photo, deflate: true, size: 3_000_000 }]),
    `${damaged}"a.jpg" has other bytes than declared`,
  ],
  [
    "a bomb",
    () => zip([{ name: "a.jpg", method: 8, raw: bomb, size: zeros.length, crc: bombCrc }]),
    `${unsafe}it unpacks to more than 100 times its size`,
  ],
  [
    "a bomb of many files",
    () =>
      zip(
        Array.from({ length: 15 }, (_, at) => ({
          name: `${at}.jpg`,
          method: 8,
          raw: bomb.subarray(0, bomb.length / 10),
          size: zeros.length / 10,
        })),
      ),
    `${unsafe}it unpacks to more than 100 times its size`,
  ],
  [
    "a bomb whose files share their bytes",
    () =>
      zip([
        { ...photo, deflate: true },
        { ...photo, name: "b", at: 0, local: "none" },
      ]),
    `${damaged}"b" has another checksum than declared`,
  ],
  [
    "one entry listed under its name twice",
    () => zip([photo, { ...photo, at: 0, local: "none" }]),
    `${unsafe}"a.jpg" is in it twice, or differs from another name only in case or accents`,
  ],
  [
    "more than 100,000 files",
    () => zip([photo], { zip64: { entries: 100_001 }, entries: 0xffff }),
    `${unreadable}it has more than 100,000 files`,
  ],

  // What this program does not read.
  [
    "an encrypted file",
    () => zip([{ ...photo, flags: 0x801, raw: Buffer.alloc(17) }]),
    `${unreadable}"a.jpg" is encrypted`,
  ],
  [
    "a strongly encrypted file",
    () => zip([{ ...photo, flags: 0x841 }]),
    `${damaged}its list of files is invalid`,
  ],
  ["an encrypted list", () => zip([{ ...photo, flags: 0x2800 }]), `${unreadable}"a.jpg" is encrypted`],
  [
    "an unknown compression",
    () => zip([{ ...photo, method: 14 }]),
    `${unreadable}"a.jpg" is compressed with an unknown method (14)`,
  ],
  ["one of several parts", () => zip([photo], { disk: 1 }), `${unreadable}it is one of several parts`],
  // Things that are not files.
  [
    "a link",
    () => zip([{ name: "a.jpg", data: "/etc/passwd", mode: 0o120777 }]),
    `${unsafe}"a.jpg" is a link`,
  ],
  [
    "a link to a folder, and a file in it",
    () =>
      zip([
        { name: "a", data: "/tmp", mode: 0o120777 },
        { name: "a/b", data: "b" },
      ]),
    `${unsafe}"a" is a link`,
  ],
  [
    "a link made on macOS",
    () => zip([{ ...photo, mode: 0o120777, madeBy: 0x1300 }]),
    `${unsafe}"a.jpg" is a link`,
  ],
  [
    "a link of Windows",
    () => zip([{ ...photo, attributes: 0x400, madeBy: 0x0a00 }]),
    `${unsafe}"a.jpg" is a link`,
  ],
  ["a device", () => zip([{ name: "a.jpg", mode: 0o60666 }]), `${unsafe}"a.jpg" is a device`],
  ["a terminal", () => zip([{ name: "a.jpg", mode: 0o20666 }]), `${unsafe}"a.jpg" is a device`],
  ["a pipe", () => zip([{ name: "a.jpg", mode: 0o10666 }]), `${unsafe}"a.jpg" is a device`],
  ["a socket", () => zip([{ name: "a.jpg", mode: 0o140666 }]), `${unsafe}"a.jpg" is a device`],
  [
    "a folder with the name of a file",
    () => zip([{ name: "a.jpg", mode: 0o40755 }]),
    `${unsafe}"a.jpg" is a folder with the name of a file`,
  ],
  [
    "a folder with content",
    () => zip([{ name: "a/", data: "x", mode: 0o40755 }]),
    `${unsafe}"a/" is a folder with content`,
  ],

  // Names that meet.
  ...(
    [
      ["a name twice", "a.jpg", "a.jpg"],
      ["two cases of a name", "a.jpg", "A.JPG"],
      ["two forms of an accent", "caf\u00e9.jpg", "cafe\u0301.jpg"],
      ["an accent in two forms and cases", "CAF\u00c9.jpg", "cafe\u0301.jpg"],
      ["a sharp s and its capitals", "stra\u00dfe.jpg", "STRASSE.jpg"],
      ["a Kelvin sign and a k", "\u212a.jpg", "k.jpg"],
      ["two forms of a sigma", "\u03c3.jpg", "\u03c2.jpg"],
      ["a ligature and its letters", "\ufb01.jpg", "fi.jpg"],
      ["a folder and a file", "a/", "a"],
    ] as const
  ).map(([what, one, other]): (typeof archives)[number] => [
    what,
    () => zip([{ name: one }, { name: other }]),
    `${unsafe}"${other}" is in it twice, or differs from another name only in case or accents`,
  ]),
  [
    "a file where another needs a folder",
    () => zip([{ name: "a" }, { name: "a/b" }]),
    `${unsafe}"a/b" needs a folder where "a" is`,
  ],
  [
    "a folder where a file is to be",
    () => zip([{ name: "a/b" }, { name: "A" }]),
    `${unsafe}"A" has the name of a folder`,
  ],
  [
    "a folder in two cases",
    () => zip([{ name: "a/b" }, { name: "A/c" }]),
    `${unsafe}"A/c" needs a folder where "a" is`,
  ],
  [
    "a second name that leads out",
    () => zip([{ ...photo, extra: unicodePath("a.jpg", "../a.jpg"), local: { extra: Buffer.alloc(0) } }]),
    `${unsafe}"../a.jpg" leads out of the folder`,
  ],
];

test.each(archives)(
  "the extraction of ZIPs rejects %s, and leaves nothing",
  async (_what, bytes, sentence) => {
    const { error, tree, left } = await extracted([bytes()]);
    expect((error as Error).message).toBe(sentence);
    expect({ exit: toExitCode(error), tree, left }).toEqual({ exit: 7, tree: null, left: [] });
  },
);

test("at least 25 hostile archives are tried", () => {
  expect(archives.length).toBeGreaterThanOrEqual(25);
});

test("the extraction of ZIPs names the archive that is hostile, and writes nothing of the others", async () => {
  const { error, tree, left } = await extracted([good, zip([{ name: "../b.jpg" }])]);
  expect((error as Error).message).toBe('2.zip is not safe to extract: "../b.jpg" leads out of the folder');
  expect({ tree, left }).toEqual({ tree: null, left: [] });
});
