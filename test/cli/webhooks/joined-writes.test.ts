import { expect, test } from "vitest";
import { joinedWrites } from "../../../src/cli/commands/listen/plain-view.ts";

test("texts of one turn are one write, and a failed write rejects each of them", async () => {
  const writes: string[] = [];
  let isBroken = false;
  const write = joinedWrites(async (text) => {
    writes.push(text);
    if (isBroken) throw new Error("closed");
  });
  const later = Promise.resolve().then(() => write("c"));
  await Promise.all([write("a"), write("b"), later]);
  await write("d");
  expect(writes).toEqual(["abc", "d"]);
  const shown: string[] = [];
  const before = (name: string) => () => shown.push(`${name} before ${writes.length}`);
  await Promise.all([write("1", before("1")), write("2", before("2")), write("3")]);
  expect(shown).toEqual(["2 before 2"]);
  expect(writes.pop()).toBe("123");
  isBroken = true;
  const failed = await Promise.allSettled([write("e"), write("f")]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(writes).toEqual(["abc", "d", "ef"]);
});
