import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { App } from "../../../src/cli/app/app.ts";
import { openPrompts } from "../../../src/cli/app/prompts.ts";

/** Prompts on a terminal, and all that is written to it. */
async function promptsOn({ columns, rows = 24 }: { columns: number; rows?: number }) {
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
      stderr: { raw: Object.assign(raw, { columns, rows }), columns, rows, isTTY: true },
      interrupt: new AbortController().signal,
    },
    globals: { yes: false },
    io: { asCalled: plain, paintNote: { bold: plain } },
    secrets: { mask: plain },
  } as unknown as App);
  const drawn = () => new Promise<void>((resolve) => void raw.write("", () => resolve()));
  return { prompts, stdin, raw, drawn, screen: () => stripVTControlCharacters(text) };
}

test("an answer is a line of its own before anything else is printed, on a terminal that is slow", async () => {
  const { prompts, stdin, raw, drawn, screen } = await promptsOn({ columns: 80 });
  const answered = prompts.input("Which?", undefined, () => true);
  await new Promise((resolve) => setImmediate(resolve));
  stdin.write("this\r");
  expect(await answered).toBe("this");
  raw.write("next\n");
  await drawn();
  expect(screen()).toMatch(/Which\? this\nnext\n$/);
});

test("choices fill the terminal, and are broken between words", async () => {
  const { prompts, stdin, drawn, screen } = await promptsOn({ columns: 40, rows: 12 });
  const names = ["Sex = sex", "Bezeichnung = name (example: grünes Kleid)", ..."abcdefg"];
  const choices = names.map((name) => ({ name, value: name }));
  const answered = prompts.select("Read it like this?", choices, "Sex = sex");
  await new Promise((resolve) => setImmediate(resolve));
  expect(screen()).toBe(
    "? Read it like this?\n❯ Sex = sex\n  Bezeichnung = name (example: grünes\n    Kleid)\n  a\n  b\n  c\n  d\n\n↑↓ navigate • ⏎ select",
  );
  stdin.write("\r");
  expect(await answered).toBe("Sex = sex");
  await drawn();
  expect(screen()).toMatch(/✔ Read it like this\? Sex = sex\n*$/);
});

test("a long answer is below its question, broken between words", async () => {
  const { prompts, stdin, drawn, screen } = await promptsOn({ columns: 40 });
  const name = "Yes, and remember it for later files (profile x)";
  const answered = prompts.select("Read 12 columns like this?", [{ name, value: 1 }], 1);
  await new Promise((resolve) => setImmediate(resolve));
  stdin.write("\r");
  expect(await answered).toBe(1);
  await drawn();
  expect(screen()).toContain(
    "✔ Read 12 columns like this?\n  Yes, and remember it for later files\n    (profile x)\n",
  );
});

test("a terminal that is closed while a question is open ends the command with SIGHUP, and no error is left", async () => {
  const { prompts, stdin } = await promptsOn({ columns: 80 });
  const answered = prompts.input("Which?", undefined, () => true);
  await new Promise((resolve) => setImmediate(resolve));
  stdin.emit("end");
  await expect(answered).rejects.toMatchObject({ name: "InterruptError", signal: "SIGHUP" });
  expect(stdin.emit("error", new Error("setRawMode EIO"))).toBe(true);
});
