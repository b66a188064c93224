import type { ListedArgument, ListedFlag } from "../../src/cli/completion/command-list.ts";
import { exitMeanings } from "../../src/cli/context/errors.ts";
import { describedValue } from "../../src/cli/flags/command.ts";
import { exitAdvice } from "../../src/cli/reference/help-pages.ts";
import { environment } from "../../src/cli/settings/environment.ts";
import { codeGroups } from "./error-codes.ts";
import { type Described, type DescribedCommand, type GeneratedFile, outputForm, shapesOf } from "./source.ts";

/** The name of a command's page, e.g. `products-list`. */
export const pageName = (command: string): string => command.replaceAll(" ", "-");

/** The pages of docs/reference/. */
export function pagesOf(list: Described): GeneratedFile[] {
  const page = (name: string, lines: readonly string[]) => ({
    path: `docs/reference/${name}.md`,
    text: `${lines.join("\n").trimEnd()}\n`,
  });
  return [
    page("README", index(list)),
    ...list.commands.map((command) => page(pageName(command.name), commandPage(command))),
    page("errors", errorPage()),
    page("environment", environmentPage()),
    page("exit-statuses", exitPage()),
    page("global-flags", globalPage(list)),
  ];
}

const index = ({ commands }: Described): string[] => [
  "# Reference",
  "",
  "This page lists every command. `npm run reference` generates it and the pages that it leads to from the commands.",
  "",
  "More: [global flags](global-flags.md), [exit statuses](exit-statuses.md), [error codes](errors.md),",
  "[environment variables](environment.md). The package has the same as man pages: `man cat-import`, `man catalogue`.",
  "",
  ...table(
    ["command", "what it does"],
    commands.map(({ name, summary }) => [`[cat ${name}](${pageName(name)}.md)`, summary]),
  ),
];

function commandPage({
  name,
  usage,
  about,
  arguments: args,
  flags,
  output,
  examples,
}: DescribedCommand): string[] {
  const shapes = shapesOf(output.schema);
  return [
    `# cat ${name}`,
    "",
    about,
    "",
    "```text",
    usage,
    "```",
    "",
    ...section(
      "Arguments",
      ["argument", "meaning"],
      args.map((one) => [code(one.name), valueText(one)]),
    ),
    ...section(
      "Flags",
      ["flag", "meaning"],
      flags.map((flag) => [code(flagText(flag)), valueText(flag)]),
    ),
    "The [global flags](global-flags.md) work with every command.",
    "",
    "## Output",
    "",
    `With \`--json\`, stdout has ${outputForm(output)}. ` +
      `\`cat commands ${name} --json\` has its JSON Schema. A field with \`?\` may be missing.`,
    "",
    ...shapes.flatMap((fields, at) => [
      ...(shapes.length > 1 ? [at === 0 ? "One of:" : "Or:", ""] : []),
      ...(fields.length === 0
        ? ["Any value.", ""]
        : [
            ...table(
              ["field", "type"],
              fields.map(({ path, type }) => [code(path), type]),
            ),
            "",
          ]),
    ]),
    ...section(
      "Exit statuses",
      ["status", "meaning"],
      output.exit_statuses.map((status) => [
        String(status),
        exitMeanings[status as keyof typeof exitMeanings],
      ]),
    ),
    "## Examples",
    "",
    ...examples.flatMap(({ purpose, command }) => ["```sh", `# ${purpose}`, command, "```", ""]),
  ];
}

const errorPage = (): string[] => [
  "# Error codes",
  "",
  "This page lists every `error.code` with what to do. With `--json`, an error is one line on stderr:",
  '`{"error":{"type","code","message","param","status","request_id","exit"}}`.',
  "",
  "The service may add codes. Programs should decide by `type` and by the [exit status](exit-statuses.md) where they do not know a code.",
  "",
  ...codeGroups.flatMap(({ title, codes }) =>
    section(
      title,
      ["code", "what to do"],
      Object.entries(codes).map(([name, step]) => [code(name), step]),
    ),
  ),
];

const environmentPage = (): string[] => [
  "# Environment variables",
  "",
  "This page lists every environment variable that the program reads or sets. `cat help environment` prints the same.",
  "",
  ...environment.flatMap(({ title, variables }) =>
    section(
      title,
      ["variable", "meaning"],
      variables.map(({ name, about }) => [code(name), about]),
    ),
  ),
];

const exitPage = (): string[] => [
  "# Exit statuses",
  "",
  "This page lists the exit statuses of all commands. `cat help exit-codes` prints the same.",
  "",
  ...table(
    ["status", "meaning", "in a script"],
    Object.entries(exitMeanings).map(([status, meaning]) => [
      status,
      meaning,
      exitAdvice[Number(status) as keyof typeof exitAdvice],
    ]),
  ),
  "",
  "`cat serve -- COMMAND` and `cat webhooks listen -- COMMAND` exit with the status of the command:",
  "127 if it was not found, 126 if it cannot be run.",
];

const globalPage = ({ global_flags }: Described): string[] => [
  "# Global flags",
  "",
  "This page lists the flags that every command takes, before or after its name.",
  "",
  ...table(
    ["flag", "meaning"],
    global_flags.map((flag) => [code(flagText(flag)), valueText(flag)]),
  ),
];

/** A flag as it is typed, with the placeholder of its value. */
export function flagText({ flag, short, value }: ListedFlag): string {
  const name = short === null ? flag : `${short}, ${flag}`;
  return value === null ? name : `${name} ${value}`;
}

/** The text of an argument or a flag, with its choices and its default. */
export const valueText = (one: ListedArgument | ListedFlag): string =>
  describedValue(one, [
    ...(one.required ? ["required"] : []),
    ...(one.repeatable && !one.description.includes("repeatable") ? ["repeatable"] : []),
  ]);

/** A heading over a table; nothing without rows. */
const section = (title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : [`## ${title}`, "", ...table(heads, rows), ""];

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${heads.join(" | ")} |`,
  `|${heads.map(() => "---|").join("")}`,
  ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
];

const cell = (text: string): string => text.replace(/[|*]/g, "\\$&").replaceAll("\n", " ");
const code = (text: string): string => `\`${text}\``;
