import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { needsBrowser } from "./browser.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What `needsBrowser` does with a test: the notes of its skips, and the warnings. */
function skipsOf(tests: number): { skips: string[]; warnings: unknown[] } {
  const warn = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => warn.mockRestore());
  const skips: string[] = [];
  for (let at = 0; at < tests; at++) needsBrowser({ skip: (note) => void skips.push(note) });
  return { skips, warnings: warn.mock.calls.map(([text]) => text) };
}

describe("tests of pages", () => {
  let program = "";
  beforeEach(() => {
    program = `${temporaryFolder()}/chromium`;
    vi.stubEnv("CHROMIUM", program);
    onTestFinished(() => void vi.unstubAllEnvs());
  });

  test("are skipped where Chromium is missing, and one warning says so", () => {
    const note = `${program} is missing: apt-get install chromium`;
    expect(skipsOf(2)).toEqual({
      skips: [note, note],
      warnings: [`${note}. Tests of pages are skipped.\n`],
    });
  });

  test("run where Chromium exists", () => {
    vi.stubEnv("CHROMIUM", process.execPath);
    expect(skipsOf(1)).toEqual({ skips: [], warnings: [] });
  });
});
