import { exitMeanings } from "../../src/cli/context/errors.ts";
import { environment } from "../../src/cli/settings/environment.ts";
import { flagText, pageName, valueText } from "./pages.ts";
import { type Described, type DescribedCommand, type GeneratedFile, outputForm, shapesOf } from "./source.ts";

/** The man pages: `catalogue`, and `cat-COMMAND` for each command. No page is named `cat`: the system has one. */
export function manPagesOf(list: Described): GeneratedFile[] {
  return [
    { path: "man/catalogue.1", text: mainPage(list) },
    ...list.commands.map((command) => ({
      path: `man/cat-${pageName(command.name)}.1`,
      text: commandPage(command),
    })),
  ];
}

const commandPage = ({
  name,
  summary,
  usage,
  about,
  arguments: args,
  flags,
  output,
  examples,
}: DescribedCommand): string =>
  page(`CAT-${pageName(name)}`, [
    heading("NAME"),
    line(`cat-${pageName(name)} - ${summary}`),
    heading("SYNOPSIS"),
    bold(usage),
    heading("DESCRIPTION"),
    ...about.split(/\n\n+/).flatMap((paragraph) => [".PP", line(paragraph.replaceAll("\n", " "))]),
    ...terms(
      "ARGUMENTS",
      args.map((one) => [one.name, valueText(one)]),
    ),
    ...terms(
      "OPTIONS",
      flags.map((flag) => [flagText(flag), valueText(flag)]),
    ),
    heading("OUTPUT"),
    line(`With --json, stdout has ${outputForm(output)}. A field with ? may be missing.`),
    ...shapesOf(output.schema).flatMap((fields) => [
      ".PP",
      ...fields.flatMap(({ path, type }) => [line(`${path}: ${type}`), ".br"]),
    ]),
    ...terms(
      "EXIT STATUS",
      output.exit_statuses.map((status) => [
        String(status),
        exitMeanings[status as keyof typeof exitMeanings],
      ]),
    ),
    heading("EXAMPLES"),
    ...examples.flatMap(({ purpose, command }) => [".PP", line(purpose), ".PP", ".RS", bold(command), ".RE"]),
    heading("SEE ALSO"),
    line("catalogue(1), for the global flags and the environment variables"),
  ]);

const mainPage = ({ commands, global_flags }: Described): string =>
  page("CATALOGUE", [
    heading("NAME"),
    line("catalogue - manage your fashion catalogue on the imaging service"),
    heading("SYNOPSIS"),
    bold("catalogue COMMAND [flags]"),
    ".br",
    bold("cat COMMAND [flags]"),
    ...terms(
      "COMMANDS",
      commands.map(({ name, summary }) => [name, summary]),
    ),
    ...terms(
      "GLOBAL OPTIONS",
      global_flags.map((flag) => [flagText(flag), valueText(flag)]),
    ),
    ...terms("EXIT STATUS", Object.entries(exitMeanings)),
    ...terms(
      "ENVIRONMENT",
      environment.flatMap(({ variables }) => variables.map(({ name, about }) => [name, about] as const)),
    ),
    heading("SEE ALSO"),
    line("cat-import(1), cat(1)"),
  ]);

/** A page without a date or a version, so that only changes of its text change it. */
const page = (title: string, lines: readonly string[]): string =>
  `.TH "${title.toUpperCase()}" 1 "" "" "catalogue"\n.nh\n.ad l\n${lines.join("\n")}\n`;

const heading = (text: string): string => `.SH ${text}`;
const bold = (text: string): string => `\\fB${escaped(text)}\\fR`;

/** A list of terms; nothing without any. */
const terms = (title: string, all: readonly (readonly [string, string])[]): string[] =>
  all.length === 0 ? [] : [heading(title), ...all.flatMap(([term, text]) => [".TP", bold(term), line(text)])];

/** A line of text: one that starts with a dot or an apostrophe would be a request to roff. */
const line = (text: string): string => escaped(text).replace(/^(?=[.'])/gm, "\\&");

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("\n", " ");
