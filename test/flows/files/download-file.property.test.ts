import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { downloadFile } from "../../../src/flows/files/download-file.ts";
import { clientAgainst, closeAll } from "../../client/world.ts";
import type { Step } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

afterEach(closeAll);

/** The server's reaction to one request. */
interface Move {
  /** The file changes before the response, to one of this length. */
  change: number | null;
  /** How it ends: complete, cut, cut while the process is killed, or a status instead of the file. */
  end: "complete" | "cut" | "kill" | 503 | 403 | 416;
  /** The share of the body sent before a cut, in thousandths. */
  share: number;
  /** How long the killed process may still work on its data, in turns of the event loop. */
  turns: number;
}

const lengths = fc.constantFrom(1, 40, 300, 300, 300, 5000);
const move: fc.Arbitrary<Move> = fc.record({
  change: fc.option(lengths, { freq: 2 }),
  end: fc.constantFrom<Move["end"]>("complete", "cut", "cut", "kill", "kill", "kill", 503, 403, 416),
  share: fc.nat(1000),
  turns: fc.nat(60),
});
const story = fc.record({
  first: lengths,
  moves: fc.array(move, { minLength: 1, maxLength: 10 }),
  validator: fc.constantFrom<"etag" | "weak" | "none">("etag", "etag", "etag", "etag", "weak", "none"),
  batchBytes: fc.constantFrom(1, 7, 64, 100_000),
});
type Story = typeof story extends fc.Arbitrary<infer One> ? One : never;

/** The bytes of one version: every byte differs from that of another version at the same place. */
const version = (number: number, length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + number * 31) % 251));

/** Downloads with these faults, then once more from a server without faults. */
async function play(
  { first, moves, validator, batchBytes }: Story,
  { sameTag = false }: { sameTag?: boolean } = {},
): Promise<{ file: Buffer | null; versions: Buffer[]; parts: number }> {
  const folder = temporaryFolder();
  const path = join(folder, "home", "a.bin");
  const saved = join(folder, "saved");
  mkdirSync(join(folder, "home"));
  const versions = [version(0, first)];
  const plan = [...moves];
  let kill = () => {};
  /** Responses that resume a part. */
  let parts = 0;
  const tag = () => `"v${sameTag ? 0 : versions.length}"`;
  const named = (): Record<string, string> => {
    if (validator === "etag") return { etag: tag() };
    return validator === "weak" ? { etag: `W/${tag()}` } : {};
  };
  const serve: Step = async (response, { headers }) => {
    const { change, end, share, turns } = plan.shift() ?? {
      change: null,
      end: "complete",
      share: 0,
      turns: 0,
    };
    if (change !== null) versions.push(version(versions.length, change));
    const bytes = versions.at(-1)!;
    if (typeof end === "number") return void response.writeHead(end).end();
    const name = named();
    const isSame = name.etag === headers["if-range"];
    const from = isSame ? Number(/\d+/.exec(headers.range ?? "")?.[0] ?? 0) : 0;
    const body = bytes.subarray(from);
    const range = { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
    const length = { "content-length": body.length };
    if (from > 0) parts++;
    response.writeHead(from > 0 ? 206 : 200, { ...name, ...length, ...(from > 0 ? range : {}) });
    if (end === "complete") return void response.end(body);
    const sent = body.subarray(0, Math.floor((body.length * share) / 1000));
    for (let at = 0; at < sent.length; at += 100) {
      await new Promise((resolve) => response.write(sent.subarray(at, at + 100), resolve));
    }
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (end === "kill") kill();
    response.socket?.destroy();
  };
  const { client, server } = await clientAgainst([serve]);
  const url = `${server.origin}/file?signature=s`;
  const freshUrl = async () => url;

  /** One process. The next one finds only what was on disk when it was killed. */
  async function run(): Promise<void> {
    const abort = new AbortController();
    let wasKilled = false;
    kill = () => {
      if (wasKilled) return;
      wasKilled = true;
      copyWhileWritten(join(folder, "home"), saved);
      abort.abort(new Error("killed"));
    };
    await downloadFile(client, {
      ...{ url, freshUrl, path, batchBytes, signal: abort.signal, resource: "file" },
    }).catch(() => {});
    if (wasKilled) {
      rmSync(join(folder, "home"), { recursive: true });
      cpSync(saved, join(folder, "home"), { recursive: true });
      rmSync(saved, { recursive: true });
    }
  }
  while (plan.length > 0) {
    await run();
    if (!existsSync(path)) continue;
    const complete = readFileSync(path);
    if (!versions.some((one) => one.equals(complete))) return { file: complete, versions, parts };
    rmSync(path);
  }
  await run();
  await client.close();
  await server.stop();
  return { file: existsSync(path) ? readFileSync(path) : null, versions, parts };
}

/** Copies a folder whose files may be renamed meanwhile: a copy that misses one is made again. */
function copyWhileWritten(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      cpSync(from, to, { recursive: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 5) throw error;
      rmSync(to, { recursive: true, force: true });
    }
  }
}

test("after any cuts, changes and kills, an existing file equals the source, and the last download completes it", async () => {
  let continued = 0;
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const { file, versions, parts } = await play(told);
      continued += parts;
      expect(file?.equals(versions.at(-1)!)).toBe(true);
    }),
    { numRuns: repetitions(40, 300) },
  );
  expect(continued).toBeGreaterThan(10);
});

longTest(
  "if a changed file keeps its validator, the property finds old and new bytes in one file (negative control)",
  async () => {
    const checked = await fc.check(
      fc.asyncProperty(story, async (told) => {
        const { file, versions } = await play({ ...told, validator: "etag" }, { sameTag: true });
        return file === null || versions.some((one) => one.equals(file));
      }),
      { numRuns: 300, endOnFailure: true },
    );
    expect(checked.failed).toBe(true);
  },
);
