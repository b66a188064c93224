import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { downloadFile, type FileDownload } from "../../../src/flows/files/download-file.ts";
import { partName } from "../../../src/flows/files/file-names.ts";
import { BadResponseError } from "../../../src/http/errors.ts";
import { OpenFile } from "../../../src/open-file.ts";
import { clientAgainst, closeAll } from "../../client/world.ts";
import { bytes, type Step } from "../../http/scripted-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

/** From now on, the disk has so many free bytes; null if the system does not tell. */
function freeBytes(count: number | null) {
  const asked = vi.spyOn(promises, "statfs");
  if (count === null) asked.mockRejectedValue(new Error("unknown"));
  else asked.mockResolvedValue({ bavail: count, bsize: 1 } as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    asked.mockRestore();
    syncBuiltinESMExports();
  });
  return asked;
}

afterEach(closeAll);

const whole = "0123456789abcdef";
const etag = '"v1"';

const cutAfter =
  (sent: number, headers: Record<string, string> = { etag }): Step =>
  (response) => {
    response.writeHead(200, { "content-length": whole.length, ...headers });
    response.write(whole.slice(0, sent), () => setImmediate(() => response.socket?.destroy()));
  };
const all = (text = whole, headers: Record<string, string> = { etag }): Step =>
  bytes(200, text, { "content-length": text.length, ...headers });
const rest = (from: number): Step =>
  bytes(206, whole.slice(from), { etag, "content-range": `bytes ${from}-15/16` });
/** Changes what the sidecar says. */
function editState(folder: string, change: object): void {
  const path = join(folder, ".a.zip.part.state");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...change }));
}

const gone = bytes(400, "", {});

async function against(...steps: Step[]) {
  const { client, server } = await clientAgainst(steps);
  const folder = temporaryFolder();
  const path = join(folder, "a.zip");
  return {
    client,
    folder,
    path,
    origin: server.origin,
    get: (more: Partial<FileDownload> = {}) =>
      downloadFile(client, { url: `${server.origin}/file?signature=s`, path, ...more }),
    read: () => readFileSync(path, "utf8"),
    left: () => readdirSync(folder).sort(),
    asked: () => server.requests.map(({ headers }) => headers.range ?? null),
  };
}

describe("a file", () => {
  test("appears when it is complete, and nothing else is left", async () => {
    const { get, read, left } = await against(cutAfter(5), rest(5));
    expect(await get()).toEqual({ bytes: 16, chunks: null, label: null, sent: null });
    expect([read(), left()]).toEqual([whole, ["a.zip"]]);
  });

  test("that exists stays unchanged until the download is complete, and keeps its permissions", async () => {
    const { get, path, read } = await against(gone, all());
    writeFileSync(path, "old", { mode: 0o640 });
    await expect(get()).rejects.toMatchObject({ code: "download_refused" });
    expect(read()).toBe("old");
    await get();
    expect([read(), statSync(path).mode & 0o777]).toEqual([whole, 0o640]);
  });

  test("behind a link is replaced at the target of the link", async () => {
    const { get, folder, read, path } = await against(all());
    mkdirSync(join(folder, "there"));
    symlinkSync("there/b.zip", path);
    await get();
    expect([read(), readdirSync(join(folder, "there"))]).toEqual([whole, ["b.zip"]]);
  });

  test("reports its progress", async () => {
    const seen: object[] = [];
    const { get, read, left } = await against(all());
    await get({ onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ bytes: 16, total: 16 }]);
    expect([read(), left()]).toEqual([whole, ["a.zip"]]);
  });

  test("of many chunks and batches equals the source", async () => {
    const source = Buffer.alloc(5_000_001, "0123456789abcdefghijklm");
    const { get, path } = await against(bytes(200, source, { "content-length": source.length, etag }));
    const seen: number[] = [];
    await get({ onProgress: (progress) => seen.push(progress.bytes) });
    expect(readFileSync(path).equals(source)).toBe(true);
    expect([seen.length >= 4 && seen.length < 12, seen.at(-1)]).toEqual([true, source.length]);
  });

  test("is synced to disk before it gets its name, and its folder after that", async () => {
    const { get, folder, path } = await against(all());
    const { sync } = OpenFile.prototype;
    const synced: [string, boolean][] = [];
    const spy = vi.spyOn(OpenFile.prototype, "sync").mockImplementation(function (this: OpenFile) {
      synced.push([this.path, existsSync(path)]);
      return sync.call(this);
    });
    onTestFinished(() => spy.mockRestore());
    await get();
    expect(synced).toEqual([
      [join(folder, ".a.zip.part"), false],
      [folder, true],
    ]);
    expect(readdirSync(folder)).toEqual(["a.zip"]);
  });
});

describe("a part", () => {
  test("is kept after the last attempt, and the next process resumes it", async () => {
    const { get, left, read, asked } = await against(cutAfter(5), gone, rest(5));
    await expect(get()).rejects.toMatchObject({ code: "download_refused" });
    expect(left()).toEqual([".a.zip.part", ".a.zip.part.state"]);
    expect(await get()).toEqual({ bytes: 16, chunks: null, label: null, sent: null });
    expect([read(), left(), asked()]).toEqual([whole, ["a.zip"], [null, "bytes=5-", "bytes=5-"]]);
  });

  test("contains neither the URL nor its signature", async () => {
    const { get, folder } = await against(cutAfter(5), gone);
    await get().catch(() => {});
    expect(JSON.parse(readFileSync(join(folder, ".a.zip.part.state"), "utf8"))).toEqual({
      form: 4,
      resource: expect.stringMatching(/^[0-9a-f]{64}$/),
      etag,
      total: 16,
      boot: expect.any(String),
    });
  });

  test("of a version without a strong ETag is not kept", async () => {
    const { get, left } = await against(cutAfter(5, { etag: 'W/"v1"' }), gone);
    await get().catch(() => {});
    expect(left()).toEqual([]);
  });

  test("with a second name, left by a kill, is not resumed: the other file stays as it is", async () => {
    const { get, folder, read, left, asked } = await against(cutAfter(5), gone, all());
    await get().catch(() => {});
    linkSync(join(folder, ".a.zip.part"), join(folder, "keep.zip"));
    await get();
    expect([read(), left(), asked()]).toEqual([whole, ["a.zip", "keep.zip"], [null, "bytes=5-", null]]);
    expect(readFileSync(join(folder, "keep.zip"), "utf8")).toBe(whole.slice(0, 5));
  });

  test("that is a link is not resumed: what it leads to stays as it is", async () => {
    const { get, folder, read, left, asked } = await against(cutAfter(5), gone, all());
    await get().catch(() => {});
    rmSync(join(folder, ".a.zip.part"));
    writeFileSync(join(folder, "private"), whole.slice(0, 5));
    symlinkSync("private", join(folder, ".a.zip.part"));
    await get();
    expect([read(), left(), asked()]).toEqual([whole, ["a.zip", "private"], [null, "bytes=5-", null]]);
    expect(readFileSync(join(folder, "private"), "utf8")).toBe(whole.slice(0, 5));
  });

  test.runIf(process.getuid?.() === 0)("of another user is not resumed", async () => {
    const { get, folder, read, left, asked } = await against(cutAfter(5), gone, all());
    await get().catch(() => {});
    chownSync(join(folder, ".a.zip.part"), 54_002, 54_000);
    await get();
    expect([read(), left(), asked()]).toEqual([whole, ["a.zip"], [null, "bytes=5-", null]]);
  });

  test.runIf(process.platform === "linux")("whose sidecar is a pipe is not waited for", async () => {
    const { get, folder, read, left } = await against(all());
    execFileSync("mkfifo", [join(folder, ".a.zip.part.state")]);
    await get();
    expect([read(), left()]).toEqual([whole, ["a.zip"]]);
  });

  test("of another resource is not resumed", async () => {
    const { get, read, asked } = await against(cutAfter(5), gone, all());
    await get({ resource: "image A" }).catch(() => {});
    await get({ resource: "image B" });
    expect([read(), asked()]).toEqual([whole, [null, "bytes=5-", null]]);
  });

  test("of the same resource is resumed with another signature, also one in the path", async () => {
    const first = await against(cutAfter(5), gone, rest(5));
    await first.get({ resource: "image A" }).catch(() => {});
    await first.get({ resource: "image A", url: `${first.origin}/file?signature=t` });
    expect(first.asked()).toEqual([null, "bytes=5-", "bytes=5-"]);
    const other = await against(cutAfter(5), gone, rest(5));
    await other.get({ resource: "image A" }).catch(() => {});
    await other.get({ resource: "image A", url: `${other.origin}/signature-t/file` });
    expect([other.read(), other.asked()]).toEqual([whole, [null, "bytes=5-", "bytes=5-"]]);
  });

  test("without the name of a resource is not resumed with another path", async () => {
    const { get, read, origin, asked } = await against(cutAfter(5), gone, all("FEDCBA9876543210"));
    await get().catch(() => {});
    await get({ url: `${origin}/elsewhere?signature=s` });
    expect([read(), asked()]).toEqual(["FEDCBA9876543210", [null, "bytes=5-", null]]);
  });

  test("of a version that has changed starts over, even if it was complete", async () => {
    const { get, read, left, asked, folder } = await against(cutAfter(5), gone, all("NEW", { etag: '"v2"' }));
    await get().catch(() => {});
    writeFileSync(join(folder, ".a.zip.part"), whole);
    await get();
    expect([read(), left(), asked()]).toEqual(["NEW", ["a.zip"], [null, "bytes=5-", "bytes=15-"]]);
  });

  test.each<[string, (folder: string) => void]>([
    ["a sidecar that is cut", (folder) => truncateSync(join(folder, ".a.zip.part.state"), 20)],
    ["an empty sidecar", (folder) => truncateSync(join(folder, ".a.zip.part.state"))],
    ["a sidecar of null", (folder) => writeFileSync(join(folder, ".a.zip.part.state"), "null")],
    ["a sidecar of an earlier version of this program", (folder) => editState(folder, { form: 3 })],
    ["a start of the machine before this one", (folder) => editState(folder, { boot: "earlier" })],
    ["no bytes", (folder) => truncateSync(join(folder, ".a.zip.part"))],
    ["more bytes than the file has", (folder) => writeFileSync(join(folder, ".a.zip.part"), `${whole}X`)],
  ])("with %s starts over", async (_, damage) => {
    const { get, folder, read, left, asked } = await against(cutAfter(5), gone, all());
    await get().catch(() => {});
    damage(folder);
    await get();
    expect([read(), left(), asked()]).toEqual([whole, ["a.zip"], [null, "bytes=5-", null]]);
  });

  test("is resumed after its last byte on the disk", async () => {
    const { get, folder, read, asked } = await against(cutAfter(5), gone, rest(9));
    await get().catch(() => {});
    writeFileSync(join(folder, ".a.zip.part"), whole.slice(0, 9));
    await get();
    expect([read(), asked()]).toEqual([whole, [null, "bytes=5-", "bytes=9-"]]);
  });

  test("of another program is neither resumed nor removed", async () => {
    const { get, folder, left, asked } = await against(all());
    writeFileSync(join(folder, ".a.zip.part"), "mine");
    expect(await get().catch((error: unknown) => error)).toMatchObject({
      name: "OutputError",
      code: "part_exists",
      hint: "Move that file elsewhere, or choose another name for the download.",
    });
    expect([readFileSync(join(folder, ".a.zip.part"), "utf8"), left(), asked()]).toEqual([
      "mine",
      [".a.zip.part"],
      [],
    ]);
  });

  test("of a process killed before its first byte was on the disk is replaced", async () => {
    const { get, folder, read, left } = await against((response) => {
      response.writeHead(200, { etag, "content-length": 16 });
      response.write("01234");
    }, all());
    const abort = new AbortController();
    const outcome = get({ signal: abort.signal }).catch(() => {});
    await until(() => left().length === 2);
    const killed = left().map((name) => [name, readFileSync(join(folder, name))] as const);
    abort.abort(new Error("stop"));
    await outcome;
    for (const [name, content] of killed) writeFileSync(join(folder, name), content);
    await get();
    expect([read(), left()]).toEqual([whole, ["a.zip"]]);
  });

  test("is kept at an interrupt", async () => {
    const { get, left } = await against((response) => {
      response.writeHead(200, { etag, "content-length": 16 });
      response.write("01234");
    });
    const abort = new AbortController();
    const outcome = get({ signal: abort.signal }).catch((error: unknown) => error);
    await until(() => left().length === 2);
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error("stop"));
    expect(await outcome).toMatchObject({ message: "stop" });
    expect(left()).toEqual([".a.zip.part", ".a.zip.part.state"]);
  });

  test("that another process has replaced is never moved to the file's name", async () => {
    let goOn = () => {};
    const held: Step = (response) => {
      response.writeHead(200, { etag, "content-length": 16 });
      response.write("01234");
      goOn = () => void response.end(whole.slice(5));
    };
    const { get, left, folder } = await against(held);
    const outcome = get().catch((error: unknown) => error);
    await until(() => left().length === 2);
    const other = join(folder, ".a.zip.part");
    writeFileSync(`${other}.new`, "other bytes");
    const { renameSync } = await import("node:fs");
    renameSync(`${other}.new`, other);
    goOn();
    expect(await outcome).toMatchObject({ name: "OutputError", code: "file_busy" });
    expect(left()).toEqual([".a.zip.part", ".a.zip.part.state"]);
    expect(readFileSync(other, "utf8")).toBe("other bytes");
  });

  test("has a name that fits, however long the file's name is", () => {
    expect(partName("a.zip")).toBe(".a.zip.part");
    const long = `${"é".repeat(125)}.zip`;
    const [one, other] = [partName(long), partName(`${"é".repeat(124)}e.zip`)];
    expect(Buffer.byteLength(`${one}.state`)).toBeLessThanOrEqual(255);
    expect([one === other, one, partName(long) === one]).toEqual([
      false,
      expect.stringMatching(/^\.é+-[0-9a-f]{16}\.part$/),
      true,
    ]);
  });
});

describe("a file that may stay in memory", () => {
  const limit = 4 * 1024 * 1024;
  const announcing = (total: number | null, text = whole): Step =>
    total === null
      ? bytes(200, text, { etag, "transfer-encoding": "chunked" })
      : bytes(200, Buffer.alloc(total, text), { etag, "content-length": total });

  test("is gathered without a file, also after a break", async () => {
    const { get, left, asked } = await against(cutAfter(5), rest(5));
    const { bytes: length, chunks } = await get({ inMemory: true });
    expect([length, Buffer.concat(chunks!).toString(), left()]).toEqual([16, whole, []]);
    expect(asked()).toEqual([null, "bytes=5-"]);
  });

  test.each([limit + 1, null])("is written if it has %s bytes, after one request", async (total) => {
    const { get, left, asked, path } = await against(announcing(total));
    const { bytes: length, chunks } = await get({ inMemory: true });
    expect([chunks, left(), asked()]).toEqual([null, ["a.zip"], [null]]);
    expect([length, statSync(path).size]).toEqual([total ?? 16, total ?? 16]);
  });

  test("has no part of an earlier, larger version left", async () => {
    const { get, left } = await against(
      (response) => {
        response.writeHead(200, { etag, "content-length": limit + 1 });
        response.write(whole, () => setImmediate(() => response.socket?.destroy()));
      },
      gone,
      all("NEW", { etag: '"v2"' }),
    );
    await get({ inMemory: true }).catch(() => {});
    expect(left()).toEqual([".a.zip.part", ".a.zip.part.state"]);
    const { chunks } = await get({ inMemory: true });
    expect([Buffer.concat(chunks!).toString(), left()]).toEqual(["NEW", []]);
  });
});

describe("a target that cannot be written", () => {
  test("is an OutputError that names the file", async () => {
    const { client, folder, get } = await against(all());
    for (const [path, code] of [
      [join(folder, "none", "a.zip"), "ENOENT"],
      [folder, "EISDIR"],
      ["/dev/null", "EINVAL"],
    ] as const) {
      const error = await get({ path }).catch((error: unknown) => error);
      expect(error).toMatchObject({ name: "OutputError", type: "output", cause: { code } });
      expect((error as Error).message).toContain(path);
    }
    expect(client).toBeDefined();
  });

  test("because of a full disk is an OutputError, and nothing is left", async () => {
    const { get, path, read, left, asked } = await against(all());
    const full = vi
      .spyOn(OpenFile.prototype, "writeAll")
      .mockRejectedValue(Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
    onTestFinished(() => full.mockRestore());
    const error = await get().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "OutputError", cause: { code: "ENOSPC" } });
    expect((error as Error).message).toContain(path);
    expect([left(), existsSync(path)]).toEqual([[], false]);
    full.mockRestore();
    expect(await get()).toEqual({ bytes: 16, chunks: null, label: null, sent: null });
    expect([read(), asked().at(-1)]).toEqual([whole, null]);
  });
});

describe("the mock's signed files", () => {
  test("send an image in one request, and resume it by its ETag", async () => {
    const world = await createWorld({ mock: { demo: 1 } });
    const { baseUrl, apiKey } = world.mock;
    const client = createClient({ baseUrl, apiKey, clock: world.clock, random: () => 0.5 });
    onTestFinished(() => client.close());
    const image = await client.images.get({ image_id: world.products()[0]!.images[0]!.id });
    const source = Buffer.from(await (await fetch(image.url)).arrayBuffer());
    const path = join(world.folder, "a.jpg");
    const fault = (order: object) =>
      fetch(`${baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    await fault({ match: { path: "/_signed/images" }, times: 1, truncate: 1000 });
    await fault({ match: { path: "/_signed/images" }, times: 1, status: 503 });
    const file = { url: image.url, path, type: "image/jpeg" };
    expect(await downloadFile(client, file)).toEqual({
      bytes: source.length,
      chunks: null,
      label: null,
      sent: null,
    });
    expect(readFileSync(path).equals(source)).toBe(true);
    expect(readdirSync(world.folder)).toEqual(["a.jpg"]);
  });

  test("allow an expired URL to be replaced during a download", async () => {
    const world = await createWorld({ mock: { demo: 1 } });
    const { baseUrl, apiKey } = world.mock;
    const client = createClient({ baseUrl, apiKey, clock: world.clock, random: () => 0.5 });
    onTestFinished(() => client.close());
    const image_id = world.products()[0]!.images[0]!.id;
    const { url } = await client.images.get({ image_id });
    const path = join(world.folder, "a.jpg");
    await fetch(`${baseUrl}/_mock/faults`, {
      method: "POST",
      body: JSON.stringify({ match: { path: "/_signed/images" }, times: 1, truncate: 1000 }),
    });
    const limits = { attempts: 1 };
    await expect(downloadFile(client, { url, path, limits })).rejects.toMatchObject({
      code: "connection_cut",
    });
    expect(readdirSync(world.folder)).toEqual([".a.jpg.part", ".a.jpg.part.state"]);
    world.clock.advance(3_600_001);
    const freshUrl = async () => (await client.images.get({ image_id })).url;
    const { bytes: length } = await downloadFile(client, { url, path, freshUrl });
    const source = Buffer.from(await (await fetch(await freshUrl())).arrayBuffer());
    expect([length, readFileSync(path).equals(source)]).toEqual([source.length, true]);
  });
});

describe("the disk", () => {
  const space = "Free some space or choose another disk, and run the command again.";

  test("is checked before the first byte: the error has the needed and the free space", async () => {
    const { get, folder, path, left } = await against(all());
    writeFileSync(path, "old");
    const asked = freeBytes(15);
    await expect(get({ name: "a.zip" })).rejects.toMatchObject({
      type: "output",
      code: "disk_full",
      message: "a.zip needs 16 B, but its disk has only 15 B free",
      hint: space,
    });
    expect([readFileSync(path, "utf8"), left()]).toEqual(["old", ["a.zip"]]);
    expect(asked).toHaveBeenCalledWith(folder);
  });

  test("needs room only for the rest of a download that resumes", async () => {
    const { get, read } = await against(cutAfter(10), gone, rest(10));
    await expect(get()).rejects.toMatchObject({ code: "download_refused" });
    freeBytes(5);
    await expect(get()).rejects.toMatchObject({ code: "disk_full" });
    freeBytes(6);
    await get();
    expect(read()).toBe(whole);
  });

  test("is not asked about a file of unknown length, and one that does not tell is not full", async () => {
    const { get, read } = await against(all());
    freeBytes(null);
    await get();
    expect(read()).toBe(whole);
  });
});

describe("a check of the content", () => {
  const broken = new BadResponseError("it is broken", { code: "wrong_content" });

  test("sees the complete file before it has its name, and another download follows a broken one", async () => {
    const { get, path, read, asked } = await against(all("0123456789abcdeX"), all());
    writeFileSync(path, "old");
    const seen: string[] = [];
    const check = async (part: string) => {
      seen.push(`${readFileSync(part, "utf8")} ${read()}`);
      if (seen.length === 1) throw broken;
    };
    await get({ check });
    expect(seen).toEqual(["0123456789abcdeX old", `${whole} old`]);
    expect([read(), asked().length]).toEqual([whole, 2]);
  });

  test("fails after the second broken file, which leaves nothing", async () => {
    const { get, left, asked } = await against(all());
    await expect(get({ check: async () => Promise.reject(broken) })).rejects.toBe(broken);
    expect([left(), asked().length]).toEqual([[], 2]);
  });
});
