import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { App } from "../../../src/cli/app/app.ts";
import { openPrompts } from "../../../src/cli/app/prompts.ts";

/** Prompts on a terminal, and all that is written to it. */
async function promptsOn(size: { columns: number; rows?: number }) {
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
    context: {
      stdin,
      stderr: { raw: Object.assign(raw, size), columns: size.columns, isTTY: true },
      interrupt: new AbortController().signal,
    },
    globals: { yes: false },
    io: { asCalled: plain, paintNote: { bold: plain } },
    secrets: { mask: plain },
  } as unknown as App);
  return { prompts, stdin, raw, screen: () => stripVTControlCharacters(text) };
}

test("an answer is a line of its own before anything else is printed, on a terminal that is slow", async () => {
  const { prompts, stdin, raw, screen } = await promptsOn({ columns: 80 });
  const answered = prompts.input("Which?", undefined, () => true);
  await new Promise((resolve) => setImmediate(resolve));
  stdin.write("this\r");
  expect(await answered).toBe("this");
  raw.write("next\n");
  await new Promise<void>((resolve) => void raw.write("", () => resolve()));
  expect(screen()).toMatch(/Which\? this\nnext\n$/);
});

test("choices fill the terminal, and are broken between words", async () => {
  const { prompts, stdin, screen } = await promptsOn({ columns: 40, rows: 12 });
  const names = ["Sex = sex", "Bezeichnung = name (example: grünes Kleid)", ..."abcdefg"];
  const choices = names.map((name) => ({ name, value: name }));
  const answered = prompts.select("Read it like this?", choices, "Sex = sex");
  await new Promise((resolve) => setImmediate(resolve));
  expect(screen()).toBe(
    "? Read it like this?\n❯ Sex = sex\n  Bezeichnung = name (example: grünes\n    Kleid)\n  a\n  b\n  c\n  d\n\n↑↓ navigate • ⏎ select",
  );
  stdin.write("\r");
  expect(await answered).toBe("Sex = sex");
});
