import type { ListedArgument, ListedCommand, ListedFlag } from "../../../src/cli/completion/command-list.ts";

/** The IDs of one resource of each kind, which exist at the service and on this machine. */
export interface Ids {
  readonly products: string;
  readonly images: string;
  readonly imports: string;
  readonly tasks: string;
  readonly exports: string;
  readonly webhooks: string;
  /** A product with a photo too many. */
  readonly twoPhotos: string;
  readonly secondImage: string;
  /** The run of a try-on, and an event of the log. */
  readonly run: string;
  readonly event: string;
}

/**
 * A valid value for each placeholder, by `COMMAND PLACEHOLDER`, `GROUP PLACEHOLDER` or `PLACEHOLDER`, the closest first.
 * Choices need no value here. Files are those of the seeded environment.
 */
const values: Readonly<Record<string, string | ((ids: Ids) => string)>> = {
  "products export FILE": "products.csv",
  "products coverage FILE": "references.txt",
  "import FILE": "a.csv",
  "tryon FILE": "looks.csv",
  "beautify FILE": "packshots.csv",
  "images FILE": "photo.png",
  "mcp --root": ".",
  "KIND,...": "writes",
  "import --results": "results.ndjson",
  "import --ledger": "ledger.db",
  "export --products-from": "references.txt",
  "export --decisions": "decisions.csv",
  "webhooks verify --file": "body.json",
  "api --input": "body.json",
  "commands NAME": "import",
  "config get NAME": "label",
  "config NAME": "label",
  "config VALUE": "staging",
  "api PATH": "/webhooks",
  "webhooks listen PATH": "/events",
  "webhooks replay ID": ({ event }) => event,
  "webhooks trigger ID": ({ event }) => event,
  "webhooks replay --log": "events.ndjson",
  "products detach ID|REFERENCE": ({ twoPhotos }) => twoPhotos,
  "products detach IMAGE_ID": ({ secondImage }) => secondImage,
  "products create NAME": "Coat",
  "products update NAME": "Coat",
  "webhooks create URL": "https://hooks.example.com/a",
  "webhooks --public-url": "https://tunnel.example.com/",
  "products update FIELD": "description",
  "webhooks update FIELD": "description",
  "--load": "state.json",
  "imports --status": "failed",
  "login PLACE": "file",
  COUNT: "1",
  DECISIONS: "decisions.csv",
  DIR: "folder",
  FILE: "out.file",
  ID: (ids) => ids.products,
  "imports ID": (ids) => ids.imports,
  "tasks ID": (ids) => ids.tasks,
  "exports ID": (ids) => ids.exports,
  "images ID": (ids) => ids.images,
  "webhooks ID": (ids) => ids.webhooks,
  "ID|REFERENCE": (ids) => ids.products,
  "ID|REF": (ids) => ids.products,
  "ID|NAME": "Mia",
  PHOTO: "photo.png",
  "FILE|IMAGE_ID[:ORIENTATION]": "photo.png:front",
  IMAGE_ID: (ids) => ids.images,
  RUN: ({ run }) => run,
  C: ",",
  NAME: "utf-8",
  "COLUMN=FIELD": "name=name",
  TIME: "1h",
  "TIME|last": "last",
  D: "7d",
  N: "3",
  S: "300",
  SECONDS: "300",
  PORT: "0",
  HOST: "127.0.0.1",
  X: "2",
  MS: "1",
  "READS,WRITES": "1000,1000",
  "R,...": "source",
  T: "{reference}/{id}{ext}",
  "I/N": "1/2",
  TEXT: "Dress",
  REFERENCE: "NEW-1",
  SLUG: "white",
  "tryon --angle": "full-front",
  "beautify --angle": "front",
  STYLE: "ghost",
  URL: "http://127.0.0.1:9/",
  EVENT: "task.succeeded",
  EVENTS: "task.succeeded",
  "EVENTS=URL": "task.*=http://127.0.0.1:9/",
  VALUE: "t=1,v1=00",
  "NAME=VALUE": "limit=3",
  "NAME=TEXT": "description=x",
};

/** A valid value of an argument or a flag. Throws for a placeholder without one, so that a new one cannot be missed. */
export function sampleOf(command: ListedCommand, one: ListedArgument | ListedFlag, ids: Ids): string {
  const placeholder = "flag" in one ? one.value! : one.name;
  const group = command.name.split(" ")[0]!;
  const names = "flag" in one ? [one.flag, placeholder] : [placeholder];
  const found = names
    .flatMap((name) => [
      `${command.name} ${name}`,
      `${group} ${name}`,
      ...(name.startsWith("-") ? [name] : []),
    ])
    .concat(placeholder)
    .find((name) => Object.hasOwn(values, name));
  if (found === undefined && one.choices !== null) return one.choices[0]!;
  if (found === undefined)
    throw new Error(`no value for ${placeholder} of cat ${command.name}: add one to ${import.meta.filename}`);
  const value = values[found]!;
  return typeof value === "string" ? value : value(ids);
}

/** Whether a command runs until an interrupt, unless it runs a program. */
export const runsAnother = ({ usage }: ListedCommand): boolean => usage.includes("[-- COMMAND");

/** Flags that a command needs in a test, although it does not require them. */
const alwaysNeeded: Readonly<Record<string, readonly string[]>> = {
  serve: ["--mock", "--port", "0"],
  "webhooks listen": ["--port", "0"],
  login: ["--with-key"],
  "tasks save": ["--save", "folder"],
  "products update": ["--name", "Coat"],
  "webhooks update": ["--status", "paused"],
};

/**
 * The words of a command line with all arguments and the required flags; `more` are further flags, and `program` is what
 * a command runs that runs another. */
export function lineOf(
  command: ListedCommand,
  ids: Ids,
  more: readonly string[] = [],
  program: readonly string[] = ["--", "sh", "-c", "env > child.env"],
): string[] {
  const words = command.name.split(" ");
  const args = command.arguments.map((one) => sampleOf(command, one, ids));
  const flags = command.flags
    .filter(({ required, flag }) => required && !more.includes(flag))
    .flatMap((one) => flagWords(command, one, ids));
  return [
    ...words,
    ...args,
    ...(alwaysNeeded[command.name] ?? []),
    ...flags,
    ...more,
    ...(runsAnother(command) ? program : []),
  ];
}

/** A flag with its value, if it has one. */
export const flagWords = (command: ListedCommand, flag: ListedFlag, ids: Ids): string[] =>
  flag.value === null ? [flag.flag] : [flag.flag, sampleOf(command, flag, ids)];

/** Whether a command has a flag. */
export const hasFlag = ({ flags }: ListedCommand, flag: string): boolean =>
  flags.some((one) => one.flag === flag);
