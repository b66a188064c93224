import { type Command, Help, Option } from "commander";
import type { App } from "./app/app.ts";
import { firstWord } from "./command-names.ts";
import { type CommandEntry, commands } from "./command-table.ts";
import { exitMeanings } from "./context/errors.ts";
import { earlyFlags, type GlobalFlag, globalFlags } from "./context/globals.ts";
import { rejectFewOpenFiles } from "./context/open-files.ts";
import { command, flagDescription, HelpShown, Misread } from "./flags/command.ts";
import { rejectAddress, rejectAddressArguments, settlePaths } from "./flags/local-path.ts";
import { lineWidth, namedLines, wrappedColumns } from "./output/wrapped.ts";
import { findTopic, type HelpTopic, helpTopics } from "./reference/topics.ts";
import { rejectRelativeHome } from "./settings/home-folder.ts";

/** A command line, ready to run. */
export interface Program {
  parse(): Promise<void>;
}

/** Creates the program. Only the command in the arguments is loaded, unless it describes the others. */
export async function createProgram(app: App, argv: readonly string[]): Promise<Program> {
  const topic = findTopic(withoutGlobals(wordsAfterHelp(argv) ?? []));
  if (topic !== null) return { parse: () => printTopic(app, topic, argv) };
  const given = helpAsFlag(argv);
  const help: string[] = [];
  const root = command("cat")
    .usage("COMMAND [flags]")
    .description("Manage your fashion catalogue on the imaging service.")
    .configureHelp({ formatHelp: withoutOptions })
    .addHelpText("after", helpSections);
  for (const flag of globalFlags) {
    const option = new Option(flag.value === null ? flag.flag : `${flag.flag} <${flag.value}>`, flag.about);
    root.addOption(flag.flag === "--progress" ? option.choices(["json"]) : option);
  }
  await addCommands(root, app, given);
  const args = await withOwnVerb(given, root);
  for (const each of everyCommand(root)) configureHelp(each, app, help);
  root.hook("preAction", async (_root, called) => {
    Object.assign(app.globals, root.opts());
    rejectAddressArguments(called);
    await rejectWrongHome(app);
    rejectFewOpenFiles(app.context, called.opts().concurrency);
  });

  return {
    async parse() {
      try {
        if (args.length === 0) root.help();
        await root.parseAsync(args, { from: "user" });
      } catch (error) {
        if (error instanceof Misread) throw (await import("./flags/mistakes.ts")).usageError(error);
        if (!(error instanceof HelpShown)) throw error;
        await rejectUnknown(root, args);
      }
      await app.io.data(wrappedColumns(app.io.asCalled(help.join("")), lineWidth(app.context.stdout)));
    },
  };
}

/** Adds the command of the arguments, and the names of the others where help or a mistake may need them. */
async function addCommands(root: Command, app: App, given: string[]): Promise<void> {
  const first = firstWord(given);
  const called = first?.word;
  const needsAll = commands[called as keyof typeof commands]?.describesAll === true;
  // The top help and the nearest name of a mistyped command need the names of all; each takes time to create.
  const isAlone = Object.hasOwn(commands, called ?? "") && first!.index === 0 && !needsAll;
  for (const [name, entry] of Object.entries<CommandEntry>(commands)) {
    const isCalled = name === called;
    if (isAlone && !isCalled) continue;
    const rest = () => (isCalled ? given.slice(first!.index + 1) : []);
    if (isCalled && runsAnother(entry, rest())) app.commandLine = takeCommandLine(given);
    const added = isCalled || needsAll ? await entry.load(app, firstWord(rest())?.word) : command(name);
    root.addCommand(added.summary(entry.summary));
  }
}

const titles = /^(?:Usage(?=:)|[A-Z].*(?=:$))/gm;

/** Hides the flags of the top help, which lists the global flags below the examples. */
const withoutOptions: Help["formatHelp"] = (made, helper) => {
  helper.visibleOptions = () => [];
  return Help.prototype.formatHelp.call(helper, made, helper);
};

/** Replaces `help`, as in `help import` and `help products list`, by `--help` after the other words. */
function helpAsFlag(argv: readonly string[]): string[] {
  const words = wordsAfterHelp(argv);
  if (words === null) return [...argv];
  const flags = argv.slice(0, firstWord(argv)!.index);
  // An unknown command gives the same error as without `help`.
  const called = firstWord(words);
  const known = called === null || Object.hasOwn(commands, called.word);
  return [...flags, ...words, ...(known ? ["--help"] : [])];
}

/** The words after `help`, without the global flags; null if the first word is another one. */
function wordsAfterHelp(argv: readonly string[]): string[] | null {
  const first = firstWord(argv);
  return first?.word === "help" ? argv.slice(first.index + 1).filter((word) => word !== "help") : null;
}

/** Replaces the verb after a group by the one of this program that it means: `products search dress`. */
async function withOwnVerb(args: string[], root: Command): Promise<string[]> {
  const first = firstWord(args);
  const group = root.commands.find((made) => made.name() === first?.word);
  const at = (first?.index ?? 0) + 1;
  const typed = firstWord(args.slice(at));
  const find = (name: string) => group?.commands.find((made) => made.name() === name);
  if (!group?.usage().startsWith("COMMAND") || typed === null || find(typed.word) !== undefined) return args;
  const { meantVerbs } = await import("./flags/first-guesses.ts");
  const rest = args.slice(at + typed.index + 1);
  const value = firstWord(rest);
  const hasValue = value !== null && (!value.word.startsWith("-") || value.word === "--help");
  for (const meant of meantVerbs(typed.word)) {
    const [name = "", ...flag] = meant.split(" ");
    const verb = find(name);
    if (verb === undefined || (name === "get" && !hasValue)) continue;
    if (!flag.every((one) => verb.options.some(({ long }) => long === one))) continue;
    return [...args.slice(0, at + typed.index), name, ...(hasValue ? flag : []), ...rest];
  }
  return args;
}

/** Throws UsageError for a CAT_HOME that is not the full path of a folder on this computer. */
async function rejectWrongHome({ context }: App): Promise<void> {
  const { CAT_HOME: home } = context.env;
  if (home === undefined) return;
  rejectAddress(home, "CAT_HOME");
  rejectRelativeHome(context);
}

function withoutGlobals(words: readonly string[]): string[] {
  const first = firstWord(words);
  return first === null ? [] : [first.word, ...withoutGlobals(words.slice(first.index + 1))];
}

/** Prints a topic of `cat help TOPIC`; one JSON object with `--json`. */
async function printTopic(app: App, topic: HelpTopic, argv: readonly string[]): Promise<void> {
  const { sections, json } = await topic.load();
  app.globals.json = earlyFlags(argv).json;
  if (app.globals.json) return app.io.jsonData(json);
  const { bold } = app.io.paint;
  const text = sections.map(({ title, lines }) => `${bold(title)}\n${namedLines(lines)}`).join("\n");
  await app.io.data(wrappedColumns(app.io.asCalled(text), lineWidth(app.context.stdout)));
}

/** Throws a UsageError if help was asked for a command that a group does not have: `products lst --help`. */
async function rejectUnknown(root: Command, args: readonly string[]): Promise<void> {
  let rest = args;
  for (let at = root; at.commands.length > 0; ) {
    const next = firstWord(rest);
    if (next === null || next.word.startsWith("-")) return;
    const subcommand = at.commands.find((made) => made.name() === next.word);
    if (subcommand === undefined) throw (await import("./flags/mistakes.ts")).unknownCommand(at, next.word);
    at = subcommand;
    rest = rest.slice(next.index + 1);
  }
}

/** Whether a command runs another program, by the arguments after its name. */
const runsAnother = ({ runsAnother: who }: CommandEntry, rest: readonly string[]): boolean =>
  who === true || (typeof who === "string" && firstWord(rest)?.word === who);

/** Removes `--` and the arguments after it, and returns those; null without `--`. */
function takeCommandLine(args: string[]): string[] | null {
  const end = args.indexOf("--");
  return end < 0 ? null : args.splice(end).slice(1);
}

function* everyCommand(top: Command): Generator<Command> {
  yield top;
  for (const made of top.commands) yield* everyCommand(made);
}

/** Configures the output and the format of the help of a command. */
function configureHelp(made: Command, app: App, help: string[]): void {
  const { stdout } = app.context;
  settlePaths(made);
  made.configureOutput({
    writeOut: (text) => void help.push(text.replace(titles, (title) => app.io.paint.bold(title))),
    // Mistakes are thrown and reported like other errors.
    writeErr: () => {},
    getOutHelpWidth: () => (stdout.isTTY ? Math.min(100, Math.max(40, stdout.columns)) : 80),
    // `writeOut` adds colors only where they are wanted; commander must not strip them.
    getOutHasColors: () => true,
  });
  const subcommandUsage = (sub: Command) => commands[sub.name() as keyof typeof commands]?.usage;
  made.configureHelp({
    ...made.configureHelp(),
    optionDescription: flagDescription,
    argumentDescription: flagDescription,
    subcommandTerm: (sub) =>
      made.parent === null
        ? (subcommandUsage(sub) ?? sub.name())
        : `${sub.name()} ${sub.usage().replace("[flags]", "").trim()}`.trim(),
  });
}

/** The end of the top help: examples, global flags, exit statuses, and the system's cat. */
const helpSections = (): string => `
For help with a command: cat help COMMAND
Other topics: ${Object.keys(helpTopics)
  .map((name) => `cat help ${name}`)
  .join(", ")}

Examples:
  # try an import without an account, with a mock of the service
  $ cat import products.csv --mock

  # check a file without sending it
  $ cat import products.csv --dry-run

  # import a file
  $ export CAT_BASE_URL=https://HOST CAT_API_KEY=ak_...
  $ cat import products.csv

  # search for products
  $ cat products list --q "linen dress"

Global flags, before or after the command:
${flagLines}

Exit status:
${exitLines}

The system's cat still works: \`cat notes.txt\`, \`echo hi | cat\` and \`cat -n FILE\`
are passed on to it. To print a file that has the name of a command, add its
folder: \`cat ./import\`. For help with the system's cat: \`/bin/cat --help\`.
\`catalogue\` is another name of this program; it never starts the system's cat.
`;

const exitLines = Object.entries(exitMeanings)
  .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`)
  .join("\n");

const flagName = ({ flag, value }: GlobalFlag): string => (value === null ? flag : `${flag} ${value}`);
const nameWidth = Math.max(...globalFlags.map((flag) => flagName(flag).length));
const flagLines = globalFlags
  .map((flag) => `  ${flagName(flag).padEnd(nameWidth)}  ${flag.about}`)
  .join("\n");
