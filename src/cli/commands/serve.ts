import { type Command, InvalidArgumentError, Option } from "commander";
import { optionRanges } from "../../contract/option-ranges.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { command, examples } from "../flags/command.ts";
import { positiveNumber, wholeNumber } from "../flags/values.ts";
import { type ServeInput, serveMock } from "./serve/run.ts";

interface Flags {
  port?: number;
  host: string;
  seed?: number;
  demo?: number;
  speed?: number;
  /** False with `--no-rate-limit`. */
  rateLimit?: { reads: number; writes: number } | boolean;
  latency?: number;
  load?: string;
  save?: string;
  fetchImages?: boolean;
  strict?: boolean;
}

/** Where it listens unless told; a command that is served knows its place from the environment, so any port will do. */
const usualPort = 4010;

/** `cat serve --mock`: parses the flags; `run` does the work. */
export function serveCommand(app: App, run = serveMock): Command {
  const rateFlags = new Set<string>();
  const made = command("serve")
    .usage("--mock [flags] [-- COMMAND ARG...]")
    .description(
      "Run a made-up service on this machine: the whole API in memory, with its real limits, states and errors.\n" +
        "It runs until you stop it with Ctrl-C, and then forgets everything that --save does not keep.\n" +
        "With a COMMAND it serves just that one, with CAT_BASE_URL and CAT_API_KEY set, and ends as that does.",
    )
    .addOption(
      new Option(
        "--port <PORT>",
        `port to listen on; 0 picks a free one (default: ${usualPort}, with a COMMAND 0)`,
      ).argParser(wholeNumber(optionRanges.port)),
    )
    .addOption(new Option("--host <HOST>", "address to listen on").default("127.0.0.1").argParser(hostName))
    .addOption(
      new Option("--seed <N>", "the same seed gives the same ids and contents").argParser(
        wholeNumber(optionRanges.seed),
      ),
    )
    .addOption(
      new Option("--demo <N>", "begin with this many products").argParser(wholeNumber(optionRanges.demo)),
    )
    .addOption(new Option("--speed <X>", "run jobs this many times faster").argParser(positiveNumber))
    .addOption(
      new Option("--rate-limit <READS,WRITES>", "requests a minute (default 600,60)").argParser(rateLimit),
    )
    .option("--no-rate-limit", "no limit on requests")
    .addOption(
      new Option("--latency <MS>", "wait this long before the work of each request").argParser(
        wholeNumber(optionRanges.latencyMs),
      ),
    )
    .option("--load <FILE>", "begin with the state in this file, in place of demo products")
    .option("--save <FILE>", "write the state to this file at the end")
    .option("--fetch-images", "fetch the image URLs of imports, in place of making pictures up")
    .option("--strict", "refuse webhook URLs on this machine, as the service does")
    .addHelpText(
      "after",
      examples([
        ["a service with 50 products to look at", "cat serve --mock --demo 50"],
        [
          "use it, in another terminal",
          "CAT_BASE_URL=http://127.0.0.1:4010 CAT_API_KEY=ak_mock cat products list",
        ],
        ["a service for your tests alone", "cat serve --mock --seed 1 -- npm test"],
        ["one that goes on where it stopped", "cat serve --mock --load shop.json --save shop.json"],
        ["on a free port, for a script", "cat serve --mock --port 0 --json"],
      ]),
    )
    .action(async (flags: Flags) => {
      if (!app.globals.mock) {
        throw new UsageError("serve needs --mock, which is the only service it can run", {
          code: "missing_mock",
          hint: "Give: cat serve --mock",
        });
      }
      rejectBothRateFlags(rateFlags);
      await run(app, readFlags(flags, app.commandLine));
    });
  // Both set one option, of which commander keeps the last: only its events show that both were used.
  for (const flag of ["rate-limit", "no-rate-limit"]) made.on(`option:${flag}`, () => rateFlags.add(flag));
  return made;
}

function rejectBothRateFlags(used: ReadonlySet<string>): void {
  if (used.size < 2) return;
  throw new UsageError("--rate-limit cannot be used with --no-rate-limit", {
    code: "conflicting_option",
    param: "--rate-limit",
    hint: "Remove one of them.",
  });
}

function readFlags(flags: Flags, commandLine: readonly string[] | null): ServeInput {
  const { host, seed, demo, speed, rateLimit: limit, latency, load, save } = flags;
  const command = commandOf(commandLine);
  return {
    load,
    save,
    command,
    mock: {
      port: flags.port ?? (command === null ? usualPort : 0),
      host,
      ...(seed === undefined ? {} : { seed }),
      ...(demo === undefined ? {} : { demo }),
      ...(speed === undefined ? {} : { speed }),
      ...(limit === false || typeof limit === "object" ? { rateLimit: limit } : {}),
      ...(latency === undefined ? {} : { latencyMs: latency }),
      strict: flags.strict ?? false,
      fetchImages: flags.fetchImages ?? false,
    },
  };
}

function commandOf(commandLine: readonly string[] | null): ServeInput["command"] {
  if (commandLine === null) return null;
  const [program, ...args] = commandLine;
  if (program !== undefined && program !== "") return [program, ...args];
  throw new UsageError("there is no command after --", {
    code: "missing_command",
    hint: "Give one, such as: cat serve --mock -- npm test",
  });
}

/** Listening at no name in particular would be listening everywhere. */
function hostName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must be an address or a name.");
  return text;
}

function rateLimit(text: string): { reads: number; writes: number } {
  const match = /^\s*(\d{1,9})\s*,\s*(\d{1,9})\s*$/.exec(text);
  const [reads, writes] = [Number(match?.[1]), Number(match?.[2])];
  if (!(reads >= 1 && writes >= 1)) {
    throw new InvalidArgumentError(
      "It must be two whole numbers above 0, reads and writes a minute, e.g. 600,60.",
    );
  }
  return { reads, writes };
}
