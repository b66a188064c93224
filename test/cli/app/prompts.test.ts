import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { App } from "../../../src/cli/app/app.ts";
import { openPrompts } from "../../../src/cli/app/prompts.ts";

test("an answer is a line of its own before anything else is printed, on a terminal that is slow", async () => {
  let text = "";
  const raw = new Writable({
    write(chunk, _, done) {
      text += chunk;
      setImmediate(done);
    },
  });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const plain = (one: string) => one;
  const prompts = await openPrompts({
    context: { stdin, stderr: { raw, columns: 80, isTTY: true }, interrupt: new AbortController().signal },
    globals: { yes: false },
    io: { asCalled: plain, paintNote: { bold: plain } },
    secrets: { mask: plain },
  } as unknown as App);
  const answered = prompts.input("Which?", undefined, () => true);
  await new Promise((resolve) => setImmediate(resolve));
  stdin.write("this\r");
  expect(await answered).toBe("this");
  raw.write("next\n");
  await new Promise<void>((resolve) => void raw.write("", () => resolve()));
  expect(stripVTControlCharacters(text)).toMatch(/Which\? this\nnext\n$/);
});
