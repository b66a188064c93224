import { expect, test } from "vitest";
import { problemNotes } from "../../../src/cli/commands/listen/problem-notes.ts";

test("a flood of one problem does not hide another one", () => {
  let now = 0;
  const shown: string[] = [];
  const { onProblem: note, skipped } = problemNotes({ now: () => now }, (message) => shown.push(message));
  for (let at = 0; at < 20; at++) note(`not the path of this listener (POST /${at})`);
  note("the signature is 400 s old");
  expect(shown.slice(4)).toEqual([
    "not the path of this listener (POST /4)",
    "the signature is 400 s old (15 more problems were not shown)",
  ]);
  for (let at = 0; at < 6; at++) note(`not the path of this listener (POST /${at})`);
  expect(skipped()).toBe(6);
  now = 1_000;
  note("not the path of this listener (POST /x)");
  expect(shown.at(-1)).toBe("not the path of this listener (POST /x) (6 more problems were not shown)");
  expect(skipped()).toBe(0);
});
