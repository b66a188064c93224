import { describe, expect, test } from "vitest";
import { toExitCode } from "../../../src/cli/context/errors.ts";
import { rejectFewOpenFiles, withOpenFileLimit } from "../../../src/cli/context/open-files.ts";
import { asFileError, CatError } from "../../../src/errors.ts";

const limitOf = (limit: number | null) => ({ openFileLimit: () => limit });

describe("the limit of open files", () => {
  test.each<[number | null, number | undefined]>([
    [64, undefined],
    [64, 1],
    [64, 8],
    [136, 32],
    [null, 64],
  ])("%j is enough for a concurrency of %j", (limit, concurrency) => {
    expect(() => rejectFewOpenFiles(limitOf(limit), concurrency)).not.toThrow();
  });

  test.each<[number, number | undefined, number, string]>([
    [22, undefined, 64, "Raise it, for example: ulimit -n 1024"],
    [63, 4, 64, "Raise it, for example: ulimit -n 1024"],
    [135, 32, 136, "Raise it, for example: ulimit -n 1024. Or lower --concurrency."],
  ])("%j is too low for a concurrency of %j, which needs %j: exit 2", (limit, concurrency, least, hint) => {
    const message = `the limit of open files is ${limit}, but this command needs ${least}`;
    const thrown = expect.objectContaining({ code: "few_open_files", message, hint });
    expect(() => rejectFewOpenFiles(limitOf(limit), concurrency)).toThrow(thrown);
    expect(toExitCode(new CatError(message, { type: "file", code: "few_open_files" }))).toBe(2);
  });
});

describe("too many open files", () => {
  test.each([
    ["open", "/a", "cannot open /a: too many open files"],
    ["connect", undefined, "cannot open a connection: too many open files"],
    ["getaddrinfo", undefined, "cannot open a file: too many open files"],
    ["pipe", undefined, "cannot open a file: too many open files"],
  ])("in a call of %s are exit 2, with the limit", (syscall, path, message) => {
    const error = Object.assign(new Error("EMFILE"), { code: "EMFILE", syscall, ...(path && { path }) });
    const shown = withOpenFileLimit(asFileError(error), limitOf(80));
    expect(shown).toMatchObject({
      message,
      type: "file",
      code: "EMFILE",
      hint: "This process may open 80 files. Raise the limit, for example with ulimit -n 1024, and run the command again.",
    });
    expect(toExitCode(shown)).toBe(2);
  });

  test("are exit 2 also as the cause of another error", () => {
    const cause = Object.assign(new Error("EMFILE"), { code: "EMFILE", syscall: "connect" });
    const network = new CatError("cannot connect", { type: "network", code: "too_many_open_files", cause });
    expect(toExitCode(new CatError("stopped", { type: "input", code: "x", cause: network }))).toBe(2);
    expect(toExitCode(new CatError("stopped", { type: "network", code: "x", cause: new Error() }))).toBe(7);
  });
});
