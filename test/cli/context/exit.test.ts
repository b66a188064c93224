import { describe, expect, test } from "vitest";
import type { Context } from "../../../src/cli/context/context.ts";
import {
  InterruptError,
  KeyError,
  ReaderGoneError,
  StdoutError,
  toExitCode,
  UsageError,
} from "../../../src/cli/context/errors.ts";
import { reportError } from "../../../src/cli/main.ts";
import { explain } from "../../../src/cli/output/explain.ts";
import { Secrets } from "../../../src/cli/output/secrets.ts";
import { CatError } from "../../../src/errors.ts";
import { FakeOutput } from "../../support/fake-output.ts";

const responded = (status: number, type = "invalid_request") =>
  new CatError("rejected", { type, code: "code", status });

describe("the exit status", () => {
  test.for([
    ...[400, 405, 413, 414, 415, 422, 431].map((status) => [status, 3] as const),
    ...[401, 402, 403].map((status) => [status, 4] as const),
    [404, 5],
    [409, 6],
    ...[408, 429, 500, 501, 502, 503, 504, 599].map((status) => [status, 7] as const),
  ] as const)("for a response with %i is %i, whatever its type", ([status, exit]) => {
    expect(toExitCode(responded(status))).toBe(exit);
    expect(toExitCode(responded(status, "some_new_type"))).toBe(exit);
  });

  test.for([
    ["usage", 2],
    ["output", 2],
    ["file", 2],
    ["state", 2],
    ["input", 3],
    ["unauthorized", 4],
    ["not_found", 5],
    ["network", 7],
    ["timeout", 7],
    ["bad_response", 7],
    ["partial", 8],
    ["something else", 1],
  ] as const)("for an error of type %s is %i", ([type, exit]) => {
    expect(toExitCode(new CatError("x", { type, code: "x" }))).toBe(exit);
  });

  test("depends on the type, not the status, if the response did not come from the service", () => {
    expect(toExitCode(new CatError("x", { type: "bad_response", code: "x", status: 404 }))).toBe(7);
  });

  test("for other errors is fixed", () => {
    expect(toExitCode(new InterruptError("SIGINT"))).toBe(130);
    expect(toExitCode(new InterruptError("SIGTERM"))).toBe(143);
    expect(toExitCode(new InterruptError("SIGHUP"))).toBe(129);
    expect(toExitCode(new ReaderGoneError())).toBe(0);
    expect(toExitCode(new UsageError("x"))).toBe(2);
    expect(toExitCode(new KeyError("x"))).toBe(4);
    expect(toExitCode(new StdoutError(Object.assign(new Error("full"), { code: "ENOSPC" })))).toBe(2);
    expect(toExitCode(new TypeError("x"))).toBe(1);
    expect(toExitCode(undefined)).toBe(1);
  });
});

test("an unexpected file system error is reported as a file error, not as a bug", async () => {
  const stderr = new FakeOutput();
  const context = { stderr, env: {}, interrupt: new AbortController().signal } as unknown as Context;
  const error = Object.assign(new Error("EMFILE: too many open files, open '/a'"), {
    ...{ code: "EMFILE", syscall: "open", path: "/a" },
  });
  expect(await reportError(error, [], context, new Secrets({}))).toBe(2);
  expect(stderr.text).toBe(
    "error: cannot open /a: too many open files\n" +
      "Close other programs or raise the limit of open files (ulimit -n), and run the command again.\n",
  );
});

describe("an error for people", () => {
  const plain = { json: false, verbose: false, width: null, paint: (text: string) => text };

  test("is one line, or two with a hint", () => {
    const detail = { type: "conflict", code: "c" };
    expect(explain(new CatError("it exists.", detail), plain)).toBe("error: it exists\n");
    const asked = explain(new CatError("no x: did you mean y?", { ...detail, hint: "See z." }), {
      ...plain,
      json: true,
    });
    expect(JSON.parse(asked).error.message).toBe("no x: did you mean y? See z.");
    expect(explain(new CatError("it exists", { ...detail, hint: "Check it." }), plain)).toBe(
      "error: it exists\nCheck it.\n",
    );
  });

  test("shows the request ID once", () => {
    const detail = { type: "output", code: "c", status: 500, requestId: "req-1" };
    expect(explain(new CatError("it failed.", detail), plain)).toBe("error: it failed (request req-1)\n");
    expect(explain(new CatError("it failed in req-1", detail), plain)).toBe("error: it failed in req-1\n");
  });

  test("shows control characters as escapes", () => {
    const text = explain(new CatError("a\u001b[2J\nb", { type: "x", code: "x" }), plain);
    expect(text).toBe("error: a\\x1b[2J\\nb\n");
  });

  test("shows a stack trace for a bug only with --verbose", () => {
    const fault = new TypeError("x is not a function");
    const text =
      "error: internal error: x is not a function\nThis is a bug. Run the command again with --verbose and report the output.\n";
    expect(explain(fault, plain)).toBe(text);
    expect(explain(fault, { ...plain, verbose: true })).toContain("TypeError: x is not a function\n    at ");
  });

  test("is one word for an interrupt, and empty for a closed pipe", () => {
    expect(explain(new InterruptError("SIGINT"), { ...plain, verbose: true })).toBe("interrupted\n");
    expect(explain(new ReaderGoneError(), plain)).toBe("");
  });
});

test("an error for programs has exactly the fields of the interface", () => {
  const json = { json: true, verbose: false, width: 20, paint: (text: string) => text };
  const error = new CatError("bad.", {
    type: "invalid_request",
    code: "invalid_row",
    param: "rows[0].name",
    status: 400,
    requestId: "req-1",
    hint: "Fix it.",
  });
  expect(explain(error, json)).toBe(
    '{"error":{"type":"invalid_request","code":"invalid_row","message":"bad. Fix it.","param":"rows[0].name",' +
      '"status":400,"request_id":"req-1","exit":3}}\n',
  );
  expect(explain(new TypeError("oh"), json)).toBe(
    '{"error":{"type":"internal","code":"fault","message":"oh","exit":1}}\n',
  );
  expect(explain(new InterruptError("SIGTERM"), json)).toBe(
    '{"error":{"type":"interrupted","code":"SIGTERM","message":"interrupted","exit":143}}\n',
  );
});
