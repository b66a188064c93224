import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { asCalled } from "../../../src/cli/command-names.ts";
import type { CommandList, ListedCommand } from "../../../src/cli/completion/command-list.ts";
import { explain, nextSteps } from "../../../src/cli/output/explain.ts";
import { ApiError } from "../../../src/client/api-error.ts";
import { type ErrorCode, errorCodes, errorTypes } from "../../../src/contract/error-codes.ts";
import { createWorld } from "../../support/world.ts";

const format = { json: false, verbose: false, width: null, paint: (text: string) => text };

const errorOf = (code: string, { status, type }: { status: number; type: string }) =>
  new ApiError({
    request: "GET /v1/products",
    status,
    body: { type: type as never, code, message: "It failed." },
    requestId: "req_1",
  });

describe("an error of the service", () => {
  test.for(Object.keys(errorCodes) as ErrorCode[])(
    "%s shows its code, its request ID and one next step",
    (code) => {
      const { status } = errorCodes[code];
      const error = errorOf(code, errorCodes[code]);
      const step = nextSteps[code];
      expect(step).toMatch(/^[A-Z][^\n]{10,}$/);
      expect(explain(error, format)).toBe(
        `error: It failed (GET /v1/products: ${status} ${code}, request req_1)\n${step}\n`,
      );
      expect(JSON.parse(explain(error, { ...format, json: true })).error).toMatchObject({
        code,
        message: `It failed (GET /v1/products: ${status} ${code}). ${step}`,
        request_id: "req_1",
        status,
      });
    },
  );

  test.for(errorTypes)("of type %s has a next step if its code is new", (type) => {
    const lines = explain(errorOf("a_new_code", { status: 400, type }), format).split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^[A-Z][^\n]{10,}$/);
  });

  test("keeps the next step that a command has", () => {
    const own = new ApiError({
      ...{ request: "GET /v1/x", status: 429, hint: "Try again in 5 s." },
      body: { type: "rate_limited", code: "rate_limit_exceeded", message: "Too many" },
    });
    expect(explain(own, format)).toContain("\nTry again in 5 s.\n");
  });
});

test("each command in a message is written as the user called the program", () => {
  const named = asCalled("catalogue", []);
  // A name in quotation marks stays as it is; here they are those of the source.
  const lines = messages().map(({ line }) => named(line.replaceAll('"', "")));
  expect(lines.filter((line) => /(?:: |\()cat /.test(line))).toEqual([]);
});

test("a command that a message names exists, with its flags", async () => {
  const world = await createWorld();
  const list = JSON.parse((await world.cat("commands --json")).stdout) as CommandList;
  const problems = messages().flatMap(({ file, line }) =>
    problemsOf(line, list).map((what) => `${file}: ${what}: ${line}`),
  );
  expect(problems).toEqual([]);
  expect(
    [
      "Run: cat prodcts list",
      "Run: cat products lst",
      "Run: cat products list --nope",
      "Run: cat products list --limit 3 --json",
      "Run: cat logout (or: cat login)",
    ].flatMap((line) => problemsOf(line, list)),
  ).toEqual(["unknown command prodcts", "unknown command products lst", "unknown flag --nope"]);
});

/** The strings in src/ that hold a command to type: after `Run: `, another colon, or an opening bracket. */
function messages(): { file: string; line: string }[] {
  const src = fileURLToPath(new URL("../../../src", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const found = files.flatMap((file) =>
    readFileSync(join(src, file), "utf8")
      .split("\n")
      .filter((line) => /: cat [a-z]|\(cat [a-z]/.test(line) && !/^\s*(\*|\/\*|\/\/)/.test(line))
      .map((line) => ({ file, line: line.trim() })),
  );
  expect(found.length).toBeGreaterThan(30);
  return found;
}

/** What is wrong with the commands in a message. */
function problemsOf(line: string, list: CommandList): string[] {
  const named = [...line.matchAll(/(?:: |\()cat ([a-z][^"`)(]*)/g)].map((match) => match[1]!);
  return named.flatMap((text) => {
    const words = text.split(/[ .,;]+/);
    const groups = new Set(list.commands.map(({ name }) => name.split(" ")[0]));
    // `help` is commander's own.
    if (words[0] === "help") return [];
    const command = findCommand(words, list);
    if (command === undefined)
      return groups.has(words[0])
        ? [`unknown command ${words.slice(0, 2).join(" ")}`]
        : [`unknown command ${words[0]}`];
    const flags = [...command.flags, ...list.global_flags].map(({ flag }) => flag);
    return words
      .filter((word) => /^--[a-z]/.test(word) && ![...flags, "--help"].includes(word))
      .map((word) => `unknown flag ${word}`);
  });
}

const findCommand = (words: string[], { commands }: CommandList): ListedCommand | undefined =>
  commands.find(({ name }) => name === words.slice(0, 2).join(" ")) ??
  commands.find(({ name }) => name === words[0]);
