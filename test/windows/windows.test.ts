import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/repetitions.ts";
import { missing, openWindows, type Windows } from "./wine.ts";

test.skipIf(missing === "")(`programs of Windows cannot run here: ${missing}`, ({ skip }) => skip(missing));

// `npm run test:long` only: all of them share one Windows, whose start takes half a minute.
describe.runIf(isLong && missing === "")("on Windows", () => {
  let windows: Windows;
  let unavailable = "";
  beforeAll(async () => {
    const opened = await openWindows();
    if (typeof opened === "string") unavailable = opened;
    else windows = opened;
  });
  afterAll(() => windows?.close());

  test("version", async () => {
    const a = performance.now();
    expect(await windows.cat(["--version"])).toEqual({ exit: 0, stdout: "catalogue 0.1.0\n", stderr: "" });
    console.log(performance.now() - a);
    expect(await windows.cat(["products", "list", "--mock", "--limit", "1"])).toEqual(1);
  });
});
