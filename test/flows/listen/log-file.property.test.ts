import { appendFileSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { openLogFile } from "../../../src/flows/listen/log-file.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** How many bytes the disk still takes, and what happens as soon as it is full. */
const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY, onFull: () => {} }));

vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const writeSync = (descriptor: number, bytes: Buffer, offset: number) => {
    const length = Math.min(disk.room, bytes.length - offset);
    disk.room -= length;
    if (length > 0) return real.writeSync(descriptor, bytes, offset, length);
    disk.onFull();
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  };
  return { ...real, writeSync };
});

afterEach(() => Object.assign(disk, { room: Number.POSITIVE_INFINITY, onFull: () => {} }));

const full = { type: "file", code: "ENOSPC" };

test("a full disk cuts nothing that another process has written to the log", async () => {
  const path = join(temporaryFolder(), "events.ndjson");
  const log = await openLogFile(path);
  await log.append(Buffer.from('{"id":"a"}\n'));
  appendFileSync(path, '{"id":"other"}\n');
  disk.room = 5;
  await expect(log.append(Buffer.from('{"id":"b"}\n'))).rejects.toMatchObject(full);
  expect(readFileSync(path, "utf8")).toBe('{"id":"a"}\n{"id":"other"}\n');
  // Also not what comes in the moment of the failure.
  Object.assign(disk, { room: 5, onFull: () => appendFileSync(path, '{"id":"late"}\n') });
  await expect(log.append(Buffer.from('{"id":"b"}\n'))).rejects.toMatchObject(full);
  disk.room = Number.POSITIVE_INFINITY;
  await log.append(Buffer.from('{"id":"c"}\n'));
  expect(readFileSync(path, "utf8")).toBe('{"id":"a"}\n{"id":"other"}\n{"id"{"id":"late"}\n\n{"id":"c"}\n');
  await log.close();
});

type Step = { kind: "append" | "fail" | "rotate"; bytes: number };

test("after full disks and copytruncate, the log has each acknowledged line since the last rotation, and no other", async () => {
  const folder = temporaryFolder();
  let count = 0;
  const step = fc.record({ kind: fc.constantFrom("append", "append", "fail", "rotate"), bytes: fc.nat(30) });
  await fc.assert(
    fc.asyncProperty(fc.array(step as fc.Arbitrary<Step>, { maxLength: 12 }), async (steps) => {
      const path = join(folder, `${count++}.ndjson`);
      const log = await openLogFile(path);
      let lines: string[] = [];
      for (const [at, { kind, bytes }] of steps.entries()) {
        const line = JSON.stringify({ id: `evt_${at}`, body: "x".repeat(40) });
        if (kind === "rotate") {
          truncateSync(path, 0);
          lines = [];
          continue;
        }
        disk.room = kind === "fail" ? bytes : Number.POSITIVE_INFINITY;
        const result = log.append(Buffer.from(`${line}\n`));
        if (kind === "fail") await expect(result).rejects.toMatchObject(full);
        else {
          await result;
          lines.push(line);
        }
      }
      disk.room = Number.POSITIVE_INFINITY;
      await log.close();
      expect(readFileSync(path, "utf8")).toBe(lines.map((line) => `${line}\n`).join(""));
    }),
    { numRuns: repetitions(30, 2_000) },
  );
});
