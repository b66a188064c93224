import { beforeAll, describe, expect, test } from "vitest";
import type { ListedCommand, ListedFlag } from "../../../src/cli/completion/command-list.ts";
import { listedCommands } from "../../support/listed-commands.ts";
import { createWorld, type Ran } from "../../support/world.ts";
import { flagWords, type Ids, lineOf } from "./command-lines.ts";
import { walkedCommands } from "./walked-commands.ts";

const id = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";
const ids: Ids = {
  ...{ products: id, images: id, imports: id, tasks: id, exports: id, webhooks: id },
  ...{ twoPhotos: id, secondImage: id, run: "run_1", event: "evt_1" },
};

let commands: readonly ListedCommand[];
let globalFlags: readonly ListedFlag[];

beforeAll(async () => {
  ({ commands, global_flags: globalFlags } = await listedCommands());
});

/** Command lines that are wrong, by command: each must exit with 2 and match its message on stderr. */
type Wrong = readonly (readonly [line: readonly string[], message: RegExp])[];

/**
 * Runs wrong command lines of every command. Each exits with 2, with a message of two lines that ends with a next step,
 * without a stack trace, without data and without a request.
 */
async function expectWrong(wrongLines: (command: ListedCommand) => Wrong): Promise<void> {
  const world = await createWorld();
  const unexpected: unknown[] = [];
  let count = 0;
  for (const command of walkedCommands(commands)) {
    for (const [line, message] of wrongLines(command)) {
      count++;
      const ran = await world.cat(line, { stdin: "" });
      if (!isUsage(ran) || !message.test(ran.stderr)) unexpected.push([line.join(" "), message.source, ran]);
    }
  }
  expect(unexpected).toEqual([]);
  expect(world.requests()).toEqual([]);
  expect(count).toBeGreaterThan(0);
}

/** A usage error: the message, and a next step. */
const isUsage = ({ exit, stdout, stderr }: Ran): boolean =>
  exit === 2 && stdout === "" && /^error: [^\n]+\n[A-Z][^\n]+\n$/.test(stderr);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const words = ({ name }: ListedCommand): string[] => name.split(" ");

/** The words of a valid line, with other words inserted after the name of the command. */
function lineWith(
  command: ListedCommand,
  more: readonly string[],
  without: readonly string[] = [],
): string[] {
  const line = lineOf(command, ids, without).filter((word) => !without.includes(word));
  return [...words(command), ...more, ...line.slice(words(command).length)];
}

/** Wrong values by placeholder; every other placeholder takes any text. */
const malformed: Readonly<Record<string, string>> = {
  ...{
    N: "many",
    PORT: "x",
    S: "-1",
    SECONDS: "1.5",
    X: "fast",
    MS: "-2",
    TIME: "soon",
    D: "soon",
    "I/N": "3",
  },
  ...{ "TIME|last": "yesterday", "READS,WRITES": "1", URL: "ftp:x", "EVENTS=URL": "x" },
  ...{ EVENT: "%%", EVENTS: "%%", C: "ab", "COLUMN=FIELD": "x", FIELD: "colour", T: "{nope}" },
  ...{ "NAME=VALUE": "x" },
};

/** The service decides about the first, and a GET request has no field. */
const takesAnything = new Set(["webhooks create --url", "api --field"]);

describe("every command exits with 2, a message and a next step, without a request", () => {
  test("without its arguments and required flags", () =>
    expectWrong((command) => {
      const missing = command.arguments.filter(({ required }) => required);
      const flags = command.flags.filter(({ required }) => required);
      const given = lineOf(command, ids).slice(0, words(command).length);
      return [
        ...missing.map((one, at): Wrong[number] => [
          [
            ...given,
            ...command.arguments.slice(0, at).map(({ choices }) => choices?.[0] ?? id),
            ...flags.flatMap((one) => flagWords(command, one, ids)),
          ],
          new RegExp(
            `^error: missing argument: ${escaped(one.name)}\\n(?:To find it: cat \\w+ list|For example: (?:cat|source) .*)\\. See: cat ${command.name} --help`,
          ),
        ]),
        ...flags.map(({ flag }): Wrong[number] => [
          words(command).concat(
            command.arguments.map(({ choices }) => choices?.[0] ?? id),
            flags.filter((other) => other.flag !== flag).flatMap((one) => flagWords(command, one, ids)),
          ),
          new RegExp(`^error: missing flag: ${flag} .*\\nSee: cat ${command.name} --help`),
        ]),
      ];
    }));

  test("with one argument too many", () =>
    expectWrong((command) => {
      if (command.arguments.some(({ repeatable }) => repeatable)) return [];
      const count = command.arguments.length;
      const takesFile = command.arguments.map(({ name }) => name).join() === "FILE";
      const what = takesFile
        ? `cat ${command.name} takes one file, and 2 are named\\nRun it once for each file. `
        : `too many arguments: expected ${count}, got ${count + 1}\\n`;
      const message = `^error: ${what}(?:[A-Z-].*[.?] )?See: cat ${command.name} --help`;
      return [[[...lineOf(command, ids, [], []), "extra"], new RegExp(message)]];
    }));

  test("with an empty argument", () =>
    expectWrong((command) =>
      command.arguments
        .filter(({ name }) => name !== "VALUE")
        .map((_, at): Wrong[number] => {
          const given = command.arguments.map(({ choices }, index) =>
            index === at ? " " : (choices?.[0] ?? id),
          );
          const flags = command.flags.filter(({ required }) => required);
          const line = [...words(command), ...given, ...flags.flatMap((one) => flagWords(command, one, ids))];
          return [[...line, "--yes"], /^error: /];
        }),
    ));

  test("with an unknown flag, and names the nearest flag for a mistyped one", () =>
    expectWrong((command) => {
      const line = (flag: string) => lineWith(command, [flag]);
      const see = `See: cat ${command.name} --help`;
      const known = new Set([...command.flags, ...globalFlags].map(({ flag }) => flag));
      return [
        [line("--zzzzzz=SECRET"), new RegExp(`^error: unknown flag --zzzzzz\\n${see}`)],
        ...command.flags
          .map(({ flag }) => [flag, `${flag}z`] as const)
          // A shorter name is near too many others.
          .filter(([flag, typo]) => flag.length > 4 && !known.has(typo))
          .map(([flag, typo]): Wrong[number] => [
            line(typo),
            new RegExp(
              `^error: unknown flag ${typo}\\nDid you mean (?:${flag}|one of [^\\n]*${flag}[^\\n]*)\\? ${see}`,
            ),
          ]),
      ];
    }));

  test("with a flag without its value, and with an unknown choice", () =>
    expectWrong((command) =>
      command.flags
        // Their values are optional.
        .filter(({ flag, value }) => value !== null && flag !== "--template" && flag !== "--plan")
        .flatMap((one): Wrong => {
          const required = command.flags.filter((flag) => flag.required && flag !== one);
          const line = [
            ...words(command),
            ...command.arguments.map(({ choices }) => choices?.[0] ?? id),
            ...required.flatMap((flag) => flagWords(command, flag, ids)),
            one.flag,
          ];
          const needs = new RegExp(
            `^error: ${one.flag} needs a value: [^\\n]*${escaped(one.value!)}\\nSee: cat ${command.name} --help`,
          );
          const choices = one.choices?.slice(0, -1).join(", ");
          const use = new RegExp(
            `^error: invalid ${one.flag} "nope": use ${escaped(choices || one.choices?.[0] || "")}`,
          );
          return [[line, needs], ...(one.choices === null ? [] : [[[...line, "nope"], use] as const])];
        }),
    ));

  test("with an address instead of a path", () =>
    expectWrong((command) => {
      const isPath = (placeholder: string | null) =>
        /\b(?:FILE|DIR|PHOTO|DECISIONS)\b/.test(placeholder ?? "");
      const message = (name: string) =>
        new RegExp(`^error: ${name} must be a path on this computer, not an address \\(gs://\\)\nUse a path`);
      const required = (but: ListedFlag | null) =>
        command.flags
          .filter((flag) => flag.required && flag !== but)
          .flatMap((flag) => flagWords(command, flag, ids));
      const given = (but: number | null) =>
        command.arguments.map(({ choices }, at) => (at === but ? "gs://bucket/x" : (choices?.[0] ?? id)));
      return [
        ...command.arguments.flatMap(
          ({ name }, at): Wrong =>
            isPath(name) ? [[[...words(command), ...given(at), ...required(null)], message(name)]] : [],
        ),
        ...command.flags
          .filter(({ value }) => isPath(value))
          .map((one): Wrong[number] => [
            [...words(command), ...given(null), ...required(one), `${one.flag}=gs://bucket/x`],
            message(one.flag),
          ]),
      ];
    }));

  test("with a malformed value of a flag", () =>
    expectWrong((command) =>
      command.flags
        .filter(({ flag }) => !takesAnything.has(`${command.name} ${flag}`))
        .filter(({ value, choices }) => choices === null && value !== null && Object.hasOwn(malformed, value))
        .map((one): Wrong[number] => {
          const required = command.flags.filter((flag) => flag.required && flag !== one);
          const line = [
            ...words(command),
            ...command.arguments.map(({ choices }) => choices?.[0] ?? id),
            ...required.flatMap((flag) => flagWords(command, flag, ids)),
            ...(command.name === "serve" ? ["--mock"] : []),
            ...(command.name === "tasks save" ? ["--save", "s3://bucket/x"] : []),
            `${one.flag}=${malformed[one.value!]}`,
          ];
          return [
            line,
            new RegExp(`^error: [^\\n]*(?:${one.flag}|${escaped(JSON.stringify(malformed[one.value!]))})`),
          ];
        }),
    ));

  test("with an unknown command, and names the nearest one", () =>
    expectWrong((command) => {
      const typed = words(command);
      const last = typed.at(-1)!;
      const typo = `${last.slice(0, -1)}${last.at(-1)}z`;
      const message = `^error: unknown command "${typo}"\\nDid you mean (?:${last}|one of [^\\n]*${last}[^\\n]*)\\? See: cat(?: ${typed[0]})? --help`;
      return [[[...typed.slice(0, -1), typo], new RegExp(message)]];
    }));
});

test("with --json a wrong command line of every command is one object on stderr", async () => {
  const world = await createWorld();
  for (const command of walkedCommands(commands)) {
    const { name } = command;
    const ran = await world.cat([...lineWith(command, ["--json", "--zzzzzz"])]);
    expect({ name, exit: ran.exit, stdout: ran.stdout }).toEqual({ name, exit: 2, stdout: "" });
    expect(JSON.parse(ran.stderr)).toEqual({
      error: {
        ...{ type: "usage", code: "unknown_option", exit: 2 },
        message: `unknown flag --zzzzzz. See: cat ${name} --help`,
      },
    });
  }
});
