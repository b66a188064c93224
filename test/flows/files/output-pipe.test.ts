import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutputPipe } from "../../../src/flows/files/output-pipe.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TestClock } from "../../support/test-clock.ts";

/** More than a pipe holds on any system. */
const more = "x".repeat(1024 * 1024);

function pipe() {
  const path = join(temporaryFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  const interrupt = new AbortController();
  const clock = new TestClock();
  return { path, interrupt, clock, place: { clock, signal: interrupt.signal } };
}

/** A reader that has opened its end and reads on demand. */
function reader(path: string) {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let open = true;
  const close = () => {
    if (open) closeSync(descriptor);
    open = false;
  };
  onTestFinished(close);
  return {
    close,
    /** The available text; null if there is none yet, empty at the end. */
    take(): string | null {
      const into = Buffer.alloc(65_536);
      try {
        return into.toString("utf8", 0, readSync(descriptor, into));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") return null;
        throw error;
      }
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a pipe", () => {
  test("without a reader is rejected after a moment, instead of waiting forever", async () => {
    const { path, clock, place } = pipe();
    const begun = clock.now();
    await expect(OutputPipe.open(path, place)).rejects.toMatchObject({
      type: "output",
      code: "no_reader",
      message: `${path} is a pipe without a reader`,
    });
    expect(clock.now() - begun).toBe(2_000);
  });

  test("waits a moment for its reader", async () => {
    const { path, clock, place } = pipe();
    const opening = OutputPipe.open(path, place);
    clock.at(clock.now() + 1_500, () => void reader(path));
    await (await opening).discard();
  });

  test("ends the wait for its reader at an interrupt", async () => {
    const { path, interrupt, place } = pipe();
    const reason = new Error("interrupted");
    const opening = OutputPipe.open(path, place);
    interrupt.abort(reason);
    await expect(opening).rejects.toBe(reason);
  });

  test("delivers every byte to a slow reader, and then its end", async () => {
    const { path, place } = pipe();
    const { take } = reader(path);
    const out = await OutputPipe.open(path, place);
    const writing = (async () => {
      await out.write(more);
      await out.write("the end");
      return out.commit();
    })();
    let read = "";
    for (let part = take(); part !== ""; part = take()) {
      read += part ?? "";
      await turn();
    }
    expect(await writing).toBe(1);
    expect(read).toBe(`${more}the end`);
  });

  test("whose reader stops reading ends after an interrupt and its grace period", async () => {
    const { path, interrupt, clock, place } = pipe();
    reader(path);
    const out = await OutputPipe.open(path, place);
    const writing = out.write(more);
    interrupt.abort(new Error("interrupted"));
    clock.advance(2_999);
    await turn();
    clock.advance(1);
    await expect(writing).rejects.toMatchObject({
      code: "file_not_writable",
      message: `cannot write ${path}: its reader stopped reading`,
    });
  });

  test("whose reader closed it is reported with a plain error", async () => {
    const { path, place } = pipe();
    const { close } = reader(path);
    const out = await OutputPipe.open(path, place);
    close();
    await expect(out.write(more)).rejects.toMatchObject({
      code: "reader_gone",
      message: `${path} was closed by its reader before everything was written`,
    });
  });
});
