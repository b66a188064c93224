import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { rawZip } from "../../support/raw-zip.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import {
  type ArtifactStep,
  artifactWorld,
  body,
  cutAfter,
  etag,
  exportId,
  rest,
  smallZip,
} from "./exports-world.ts";

const zip = await smallZip();
const other = await smallZip("another photo".repeat(60));
const gone = body("", {}, 403);

const left = ({ folder }: { folder: string }) => readdirSync(folder).filter((name) => name !== ".home");

/** The size of the part, which is in a folder of its own; -1 if there is none. */
const partBytes = ({ folder }: { folder: string }): number => {
  const part = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith(`/.${exportId}.part`),
  );
  return part === undefined ? -1 : statSync(join(folder, part)).size;
};

describe("a download of an export", () => {
  test("with fewer images than the service counted is kept, and exits with 8", async () => {
    const world = await artifactWorld("zip", body(zip));
    world.counted.images = 3;
    const { exit, stderr } = await world.download();
    expect([exit, stderr]).toEqual([
      8,
      expect.stringMatching(
        /^Saved file \(1 of 3 images, \d+ B\) in \d+\.\d s\.\nerror: 2 images are not in the export\n/,
      ),
    ]);
    expect(left(world)).toEqual(["file"]);
  });

  test.each<[string, ArtifactStep[], string | null]>(
    sampled(
      [
        ["that is cut off continues after the bytes it has", [cutAfter(zip, 200), rest(zip)], "bytes=200-"],
        [
          "whose URL expires halfway continues with a new one",
          [cutAfter(zip, 200), gone, rest(zip)],
          "bytes=200-",
        ],
        ["whose Range is ignored starts over", [cutAfter(zip, 200), body(zip)], "bytes=200-"],
        ["whose file changed starts over", [cutAfter(other, 200), body(zip, { etag: '"v2"' })], "bytes=200-"],
        [
          "that gets another range than it asked for starts over",
          [
            cutAfter(zip, 200),
            body(zip.subarray(100), { "content-range": `bytes 100-${zip.length - 1}/${zip.length}` }, 206),
            body(zip),
          ],
          null,
        ],
        ["that was damaged on the way is repeated once", [body(zip.subarray(0, 300)), body(zip)], null],
      ],
      3,
    ),
  )("%s", async (_, steps, range) => {
    const world = await artifactWorld("zip", ...steps);
    const { exit, stderr } = await world.download();
    expect([exit, stderr]).toEqual([0, expect.stringMatching(/^Saved file \(\d+ B\) in \d+\.\d s\.\n$/)]);
    expect(readFileSync(join(world.folder, "file")).equals(zip)).toBe(true);
    expect(left(world)).toEqual(["file"]);
    expect(world.asked).toHaveLength(steps.length);
    expect(world.asked.at(-1)!.range).toBe(range);
    if (range !== null) expect(world.asked.at(-1)!.ifRange).toBe(etag);
  });

  const page = "<!DOCTYPE html><title>Sign in</title>";
  const shown = `the file of export ${exportId}`;
  test.each<[string, "zip" | "manifest", ArtifactStep, string, number]>(
    sampled([
      [
        "an HTML page instead of a ZIP",
        "zip",
        body(page),
        `${shown} is not a ZIP file: it does not start like one`,
        2,
      ],
      [
        "a ZIP without its end",
        "zip",
        body(zip.subarray(0, 300)),
        `${shown} is damaged: its end is missing, or other bytes follow it`,
        2,
      ],
      ["an empty ZIP file", "zip", body(""), `${shown} is not a ZIP file: it does not start like one`, 2],
      [
        "an HTML page instead of a manifest",
        "manifest",
        body(page),
        `${shown} is not the manifest of the export: it ends within a line`,
        2,
      ],
      [
        "a manifest with another line",
        "manifest",
        body('{"product":{"id":"A"},"assets":[]}\n{"product":{}}\n'),
        `${shown} is not the manifest of the export: line 2 has no product`,
        2,
      ],
      [
        "a manifest without its last line end",
        "manifest",
        body('{"product":{"id":"A"},"assets":[]}'),
        `${shown} is not the manifest of the export: it ends within a line`,
        2,
      ],
    ]),
  )(
    "with %s exits with 7 after a second one, and the old file is unchanged",
    async (_, format, step, why, times) => {
      const world = await artifactWorld(format, step);
      world.write("file", "old");
      const { exit, stderr } = await world.download("--out file --yes");
      const hint = "Run the command again to download it again.";
      expect([exit, stderr]).toEqual([7, `error: ${why}\n${hint}\n`]);
      expect([world.asked.length, left(world), world.read("file")]).toEqual([times, ["file"], "old"]);
    },
  );

  const hostile = rawZip([
    { name: "a.jpg", data: "a photo" },
    { name: "../b.jpg", data: "another photo" },
  ]);
  const damaged = Buffer.from(zip);
  damaged[60]! ^= 1;
  test.each<[string, Buffer, string]>(
    sampled([
      [
        "that leads out of the folder",
        hostile,
        `${shown} is not safe to extract: "../b.jpg" leads out of the folder`,
      ],
      [
        "with a wrong checksum",
        damaged,
        `${shown} is damaged: "A_front.jpg" has another checksum than declared`,
      ],
      [
        "without its end",
        zip.subarray(0, 300),
        `${shown} is damaged: its end is missing, or other bytes follow it`,
      ],
    ]),
  )("of a ZIP %s is not extracted: the folder stays empty, and nothing is left", async (_, bytes, why) => {
    const world = await artifactWorld("zip", body(bytes));
    mkdirSync(join(world.folder, "images"), { mode: 0o750 });
    const before = statSync(join(world.folder, "images")).ino;
    const { exit, stderr } = await world.download("--extract images --no-label");
    expect([exit, stderr.split("\n")[0]]).toEqual([7, `error: ${why}`]);
    expect([left(world), readdirSync(join(world.folder, "images"))]).toEqual([["images"], []]);
    expect(statSync(join(world.folder, "images")).ino).toBe(before);
  });

  test("of unknown length that is no ZIP exits with 7", async () => {
    const step: ArtifactStep = (response) => {
      response.writeHead(200, { etag, "transfer-encoding": "chunked" });
      response.end("x".repeat(100_000));
    };
    const world = await artifactWorld("zip", step);
    const { exit, stderr } = await world.download();
    expect([exit, stderr]).toEqual([7, expect.stringContaining("is not a ZIP file")]);
    expect(left(world)).toEqual([]);
  });

  longTest("of a server that drips exits with 7 after the deadline", async () => {
    let world: Awaited<ReturnType<typeof artifactWorld>>;
    const step: ArtifactStep = (response) => {
      response.writeHead(200, { "content-length": 1_000_000, etag });
      const drip = setInterval(() => {
        response.write("x");
        // Each byte comes ten seconds after the one before.
        world.clock.advance(10_000);
      }, 5);
      response.on("close", () => clearInterval(drip));
    };
    world = await artifactWorld("zip", step);
    const { exit, stderr } = await world.download();
    expect([exit, stderr.split("\n")[0]]).toEqual([
      7,
      expect.stringMatching(/^error: the download was not complete after \d+ s \(\d+ bytes received\)$/),
    ]);
    expect(existsSync(join(world.folder, "file"))).toBe(false);
  });

  test("with a URL that stays expired exits with 7", async () => {
    const world = await artifactWorld("zip", gone);
    const { exit, stderr } = await world.download();
    expect([exit, stderr.split("\n")[0]]).toEqual([
      7,
      `error: ${world.origin}/artifact is no longer valid (403): the signed URL has expired or is unknown`,
    ]);
    expect([new Set(world.asked.map(({ path }) => path)).size, left(world)]).toEqual([4, []]);
  });

  test("that was interrupted is continued by the same command", async () => {
    const large = await smallZip("0123456789".repeat(200_000));
    const step: ArtifactStep = (response) => {
      response.writeHead(200, { "content-length": large.length, etag });
      response.write(large.subarray(0, 1_500_000));
    };
    const world = await artifactWorld("zip", step, rest(large));
    const running = world.download();
    await until(() => partBytes(world) > 0);
    running.interrupt();
    expect((await running).exit).toBe(130);
    expect(left(world)).toEqual([expect.stringMatching(/^\.file\..+\.part$/)]);
    expect((await world.download()).exit).toBe(0);
    expect(world.asked[1]!.range).toMatch(/^bytes=[1-9]\d+-$/);
    expect(readFileSync(join(world.folder, "file")).equals(large)).toBe(true);
    expect(left(world)).toEqual(["file"]);
  });

  test.each<[string, ArtifactStep, (world: { folder: string; asked: readonly unknown[] }) => boolean]>(
    sampled(
      [
        ["response", () => {}, ({ asked }) => asked.length === 1],
        [
          "byte",
          (response) => {
            response.writeHead(200, { "content-length": zip.length, etag }).flushHeaders();
          },
          (world) => partBytes(world) === 0,
        ],
      ],
      1,
    ),
  )("that was interrupted before the first %s leaves nothing", async (_, step, isThere) => {
    const world = await artifactWorld("zip", step, body(zip));
    const running = world.download();
    await until(() => isThere(world));
    running.interrupt();
    expect([(await running).exit, left(world)]).toEqual([130, []]);
    expect([(await world.download()).exit, world.asked[1]!.range, left(world)]).toEqual([0, null, ["file"]]);
  });

  test.skipIf(process.getuid?.() === 0)("to a read-only folder exits with 2", async () => {
    const world = await artifactWorld("zip", body(zip));
    world.write("closed/keep", "");
    chmodSync(join(world.folder, "closed"), 0o500);
    const { exit } = await world.download("--out closed/a.zip");
    chmodSync(join(world.folder, "closed"), 0o700);
    expect([exit, world.asked]).toEqual([2, []]);
  });

  test("to an existing file exits with 2 unless --yes is given, and is not begun", async () => {
    const world = await artifactWorld("zip", body(zip));
    writeFileSync(join(world.folder, "file"), "old");
    const { exit, stderr } = await world.download();
    expect([exit, stderr.split("\n").slice(0, 2), world.asked]).toEqual([
      2,
      [
        "error: file exists; nothing was downloaded",
        "Add --yes to replace it, or choose another file with --out.",
      ],
      [],
    ]);
  });
});
