import { type Command, InvalidArgumentError, Option } from "commander";
import { optionRanges } from "../../contract/limits.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { command, examples, otherFlags } from "../flags/command.ts";
import { hostName } from "../flags/host-name.ts";
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
  strictSlugs: boolean;
}

/**
 * The default port. With a COMMAND any free port will do, because the command gets the URL in its
 * environment.
 */
const usualPort = 4010;

/** `cat serve --mock`: parses the flags; `run` does the work. */
export function serveCommand(app: App, run = serveMock): Command {
  const rateFlags = new Set<string>();
  const made = otherFlags(
    command("serve")
      .usage("--mock [flags] [-- COMMAND ARG...]")
      .description(
        "Run a mock of the imaging service on this machine, with the real limits, states and errors.\n\n" +
          "The mock runs until you press Ctrl-C. Its data is lost then, unless you add --save.\n\n" +
          "With a COMMAND, the mock runs on a free port, only for that command, and exits with its status. " +
          "The command gets CAT_BASE_URL and CAT_API_KEY.",
      )
      .optionsGroup("Address:")
      .addOption(
        new Option("--port <PORT>", "port to listen on, or 0 for a free one")
          .default(undefined, String(usualPort))
          .argParser(wholeNumber(optionRanges.port)),
      )
      .addOption(new Option("--host <HOST>", "address to listen on").default("127.0.0.1").argParser(hostName))
      .optionsGroup("Data:")
      .addOption(
        new Option("--demo <N>", "number of demo products")
          .default(undefined, "0")
          .argParser(wholeNumber(optionRanges.demo)),
      )
      .addOption(
        new Option("--seed <N>", "generate the same IDs and data for the same N").argParser(
          wholeNumber(optionRanges.seed),
        ),
      )
      .option("--load <FILE>", "start with the state saved in FILE")
      .option("--save <FILE>", "save the state to FILE on exit")
      .optionsGroup("Speed and limits:")
      .addOption(
        new Option("--speed <X>", "run jobs X times faster")
          .default(undefined, "1")
          .argParser(positiveNumber),
      )
      .addOption(
        new Option("--latency <MS>", "delay each request by MS ms")
          .default(undefined, "0")
          .argParser(wholeNumber(optionRanges.latencyMs)),
      )
      .addOption(
        new Option("--rate-limit <READS,WRITES>", "requests per minute")
          .default(undefined, "600,60")
          .argParser(rateLimit),
      )
      .option("--no-rate-limit", "allow any number of requests")
      .optionsGroup("Images and webhooks:")
      .option("--fetch-images", "download image URLs instead of generating images")
      .option("--strict", "reject webhook URLs that lead to this machine")
      .option("--strict-slugs", "reject backgrounds and angles that are not listed (default)")
      .option("--no-strict-slugs", "accept any background, angle and length of a product field"),
  )
    .addHelpText(
      "after",
      examples([
        ["start with 50 demo products", "cat serve --mock --demo 50"],
        [
          "use the mock from another terminal",
          "CAT_BASE_URL=http://127.0.0.1:4010 CAT_API_KEY=ak_mock cat products list",
        ],
        ["run your tests against the mock", "cat serve --mock --seed 1 -- npm test"],
        ["keep the data between runs", "cat serve --mock --load shop.json --save shop.json"],
        ["print the address and the API key as JSON", "cat serve --mock --port 0 --json"],
      ]),
    )
    .action(async (flags: Flags) => {
      if (!app.globals.mock) {
        throw new UsageError("serve requires --mock", {
          code: "missing_mock",
          hint: "Run: cat serve --mock",
        });
      }
      rejectBothRateFlags(rateFlags);
      await run(app, readFlags(flags, app.commandLine));
    });
  // Both flags set one option and commander keeps the last value; only its events show that both were used.
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
      strictSlugs: flags.strictSlugs,
      fetchImages: flags.fetchImages ?? false,
    },
  };
}

function commandOf(commandLine: readonly string[] | null): ServeInput["command"] {
  if (commandLine === null) return null;
  const [program, ...args] = commandLine;
  if (program !== undefined && program !== "") return [program, ...args];
  throw new UsageError("no command after --", {
    code: "missing_command",
    hint: "Add one, for example: cat serve --mock -- npm test",
  });
}

function rateLimit(text: string): { reads: number; writes: number } {
  const match = /^\s*(\d{1,9})\s*,\s*(\d{1,9})\s*$/.exec(text);
  const [reads, writes] = [Number(match?.[1]), Number(match?.[2])];
  if (!(reads >= 1 && writes >= 1)) {
    throw new InvalidArgumentError("use two whole numbers above 0: reads and writes per minute, e.g. 600,60");
  }
  return { reads, writes };
}
