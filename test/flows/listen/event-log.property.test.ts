import { readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EventLog } from "../../../src/flows/listen/event-log.ts";
import type { LogFile } from "../../../src/flows/listen/log-file.ts";
import { openLogFile } from "../../../src/flows/listen/log-file.ts";
import { readLog } from "../../../src/flows/listen/log-lines.ts";
import { repetitions } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const lineOf = (id: string, body = "{}") => ({
  ...{
    id,
    type: "import.completed",
    created_at: null,
    data: null,
    received_at: "2026-01-05T09:00:00Z",
    header: null,
  },
  body,
});

test("a log that was cut anywhere keeps every complete line, and takes new ones on lines of their own", async () => {
  const folder = temporaryFolder();
  let count = 0;
  const bodies = fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(bodies, fc.nat(), async (texts, cut) => {
      const path = join(folder, `${count++}.ndjson`);
      const first = await EventLog.open(path);
      await Promise.all(texts.map((body, at) => first.append(lineOf(`evt_${at}`, body))));
      await first.close();
      const size = statSync(path).size;
      const kept = cut % (size + 1);
      truncateSync(path, kept);
      const complete = readFileSync(path, "utf8").split("\n").length - 1;
      const second = await EventLog.open(path);
      // The last line may be complete but for its line end.
      const known = texts.map((_, at) => second.isKnown(`evt_${at}`));
      expect(known.slice(0, complete).every(Boolean)).toBe(true);
      expect(known.slice(complete + 1).some(Boolean)).toBe(false);
      await second.append(lineOf("evt_new", "new"));
      await second.close();
      const read: unknown[] = [];
      for await (const line of readLog(path)) read.push(line);
      expect(read.at(-1)).toEqual(lineOf("evt_new", "new"));
      expect(read.slice(0, complete)).toEqual(
        texts.slice(0, complete).map((body, at) => lineOf(`evt_${at}`, body)),
      );
    }),
    { numRuns: repetitions(20, 1_000) },
  );
});

test("lines that wait go to disk together, and a failed write acknowledges none of them", async () => {
  const path = join(temporaryFolder(), "events.ndjson");
  const groups: string[][] = [];
  let isFull = false;
  const failing = async (place: string): Promise<LogFile & { isNew: boolean }> => {
    const file = await openLogFile(place);
    return {
      isNew: file.isNew,
      close: () => file.close(),
      async append(bytes) {
        if (isFull) throw Object.assign(new Error("full"), { code: "ENOSPC" });
        groups.push(
          bytes
            .toString()
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line).id),
        );
        await file.append(bytes);
      },
    };
  };
  const log = await EventLog.open(path, failing);
  await Promise.all(["a", "b", "c", "d"].map((id) => log.append(lineOf(id))));
  expect(groups).toEqual([["a"], ["b", "c", "d"]]);
  isFull = true;
  const results = await Promise.allSettled(["e", "f"].map((id) => log.append(lineOf(id))));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([log.isKnown("d"), log.isKnown("e")]).toEqual([true, false]);
  isFull = false;
  await log.append(lineOf("e"));
  expect(log.isKnown("e")).toBe(true);
  await log.close();
});

test("a log that was removed takes no event, and is readable only by its owner", async () => {
  const path = join(temporaryFolder(), "events.ndjson");
  const log = await EventLog.open(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  rmSync(path);
  await expect(log.append(lineOf("a"))).rejects.toMatchObject({ type: "file", code: "log_gone" });
  await log.close();
});
