import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EventLog } from "../../../src/flows/listen/event-log.ts";
import { ShownMark } from "../../../src/flows/listen/log-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const lineOf = (id: string) => ({
  ...{ id, type: "import.completed", created_at: null, data: null, header: null, body: "{}" },
  received_at: "2026-01-05T09:00:00Z",
});

test("a log that was closed before its events were shown returns them at the next start, once", async () => {
  const path = join(temporaryFolder(), "events.ndjson");
  const shown = () => JSON.parse(readFileSync(`${path}-shown`, "utf8")).events;
  const first = await EventLog.open(path);
  const places = await Promise.all(["a", "b", "c"].map((id) => first.append(lineOf(id))));
  await first.record({ result_of: "a", url: "http://h/", status: 500, at: "2026-01-05T09:00:00Z" });
  expect([places, shown()]).toEqual([[1, 2, 3], 0]);
  first.markShown(2);
  first.markShown(1);
  expect([shown(), first.takeUnshown()]).toEqual([2, []]);
  await first.close();
  const second = await EventLog.open(path);
  expect(second.takeUnshown()).toEqual([{ line: lineOf("c"), place: 3 }]);
  expect([shown(), second.takeUnshown()]).toEqual([2, []]);
  expect(await second.append(lineOf("d"))).toBe(4);
  second.markShown(4);
  await second.close();
  expect(existsSync(`${path}-shown`)).toBe(false);
  const third = await EventLog.open(path);
  expect(third.takeUnshown()).toEqual([]);
  await third.close();
});

test("a damaged mark does not count", () => {
  const path = join(temporaryFolder(), "mark");
  expect(ShownMark.left(path)).toBeNull();
  const mark = new ShownMark(path, 0);
  for (const events of [12_345, 12_346]) mark.set(events);
  expect([ShownMark.left(path), statSync(path).mode & 0o777]).toEqual([12_346, 0o600]);
  mark.close(12_346);
  writeFileSync(path, '{"ev');
  expect(ShownMark.left(path)).toBeNull();
});
