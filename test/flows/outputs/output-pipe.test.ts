import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutputPipe } from "../../../src/flows/outputs/output-pipe.ts";
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

/** A reader that has opened its end and takes what it is told to take. */
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
    /** Whatever is there; null when nothing is yet, an empty text at the end. */
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
  test("that nobody reads is refused after a moment, instead of waiting for ever", async () => {
    const { path, clock, place } = pipe();
    const begun = clock.now();
    await expect(OutputPipe.open(path, place)).rejects.toMatchObject({
      type: "output",
      code: "no_reader",
      message: `${path} is a pipe that nobody reads`,
    });
    expect(clock.now() - begun).toBe(2_000);
  });

  test("may get its reader a moment later", async () => {
    const { path, clock, place } = pipe();
    const opening = OutputPipe.open(path, place);
    clock.at(clock.now() + 1_500, () => void reader(path));
    await (await opening).discard();
  });

  test("is not waited for after an interrupt", async () => {
    const { path, interrupt, place } = pipe();
    const reason = new Error("interrupted");
    const opening = OutputPipe.open(path, place);
    interrupt.abort(reason);
    await expect(opening).rejects.toBe(reason);
  });

  test("brings every byte to a slow reader, and then its end", async () => {
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

  test("whose reader takes nothing more ends after an interrupt and its grace", async () => {
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
      message: `cannot write ${path}: nothing more is taken by its reader`,
    });
  });

  test("whose reader went away is an error in words", async () => {
    const { path, place } = pipe();
    const { close } = reader(path);
    const out = await OutputPipe.open(path, place);
    close();
    await expect(out.write(more)).rejects.toMatchObject({
      code: "reader_gone",
      message: `${path} was left by its reader before everything was written`,
    });
  });
});
