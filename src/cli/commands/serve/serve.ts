import { type Command, InvalidArgumentError, Option } from "commander";
import { optionRanges } from "../../../contract/limits.ts";
import { exactHost } from "../../../contract/url-policy.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { type CommandTexts, command, otherFlags } from "../../flags/command.ts";
import { conflict } from "../../flags/usage-error.ts";
import { hostName, positiveNumber, readProgram, wholeNumber } from "../../flags/values.ts";
import type { ServeFlags } from "./run.ts";

/** The default port; any free one with a COMMAND, which gets the URL in its environment. */
const usualPort = 4010;

const texts: CommandTexts = {
  usage: "--mock [flags] [-- COMMAND ARG...]",
  about:
    "Run a mock of the imaging service on this machine, with the real limits, states and errors.\n\n" +
    "The mock runs until you press Ctrl-C. Its data is lost then, unless you add --save.\n\n" +
    "With a COMMAND, the mock runs on a free port, only for that command, and exits with its status. " +
    "The command gets CAT_BASE_URL and CAT_API_KEY of the mock, and no real secret.\n\n" +
    "With --base-url, signed URLs start with that URL: the address at which clients reach the mock.",
  examples: [
    ["start with 50 demo products", "cat serve --mock --demo 50"],
    [
      "use the mock from another terminal",
      "CAT_BASE_URL=http://127.0.0.1:4010 CAT_API_KEY=ak_mock cat products list",
    ],
    ["see the requests of your program in a browser", "cat serve --mock --open"],
    ["run your tests against the mock", "cat serve --mock --seed 1 -- npm test"],
    ["keep the data between runs", "cat serve --mock --load shop.json --save shop.json"],
    ["try a change on a copy of your catalogue", "cat serve --mock --clone"],
    [
      "save a copy of your catalogue, with photos",
      "cat serve --mock --clone --photos --save shop.json -- true",
    ],
    [
      "run in a container",
      "cat serve --mock --host 0.0.0.0 --base-url http://mock:4010 --allow-host mock --allow-host app",
    ],
    ["print the address and the API key as JSON", "cat serve --mock --port 0 --json"],
  ],
};

export function serveCommand(app: App): Command {
  const rateFlags = new Set<string>();
  const subcommand = otherFlags(addBehavior(addData(command("serve", texts)))).action(
    async (flags: ServeFlags) => {
      if (!app.globals.mock) {
        throw new UsageError("serve requires --mock", {
          code: "missing_mock",
          hint: "Run: cat serve --mock",
        });
      }
      if (flags.photos && !flags.clone) {
        throw new UsageError("--photos needs --clone", { param: "--photos", hint: "Add --clone." });
      }
      if (rateFlags.size > 1) throw conflict("--rate-limit", "--no-rate-limit");
      const program = readProgram(app.commandLine, "cat serve --mock -- npm test");
      const { serveMock } = await import("./run.ts");
      await serveMock(app, { ...flags, port: flags.port ?? (program === null ? usualPort : 0) }, program);
    },
  );
  // Both flags set one option and commander keeps the last value; only its events show that both were used.
  for (const flag of ["rate-limit", "no-rate-limit"])
    subcommand.on(`option:${flag}`, () => rateFlags.add(flag));
  return subcommand;
}

const addData = (serve: Command): Command =>
  serve
    .optionsGroup("Address:")
    .addOption(
      new Option("--port <PORT>", "port to listen on, or 0 for a free one")
        .default(undefined, String(usualPort))
        .argParser(wholeNumber(optionRanges.port)),
    )
    .option("--host <HOST>", "address to listen on", hostName, "127.0.0.1")
    .option(
      "--allow-host <NAME>",
      "host that may use /_mock and receive webhooks, besides this machine (repeatable)",
      exactHosts,
    )
    .optionsGroup("Page:")
    .option("--open", "open the page with the requests and data in a browser", false)
    .option("--bodies", "keep bodies and responses of the last 200 requests from the start", false)
    .optionsGroup("Data:")
    .addOption(
      new Option("--demo <N>", "number of demo products")
        .default(undefined, "0")
        .argParser(wholeNumber(optionRanges.demo)),
    )
    .option("--seed <N>", "generate the same IDs and data for the same N", wholeNumber(optionRanges.seed))
    .option("--load <FILE>", "start with the state saved in FILE")
    .option("--save <FILE>", "save the state to FILE on exit")
    .addOption(
      new Option("--clone", "start with a copy of your catalogue, with random API keys").conflicts([
        "load",
        "demo",
        "seed",
      ]),
    )
    .option("--photos", "with --clone, also download the photos (default: draw them)")
    .option("--tomorrow", "send fields and values that a later version of the service may have", false);

const addBehavior = (serve: Command): Command =>
  serve
    .optionsGroup("Speed and limits:")
    .addOption(
      new Option("--speed <X>", "run jobs X times faster").default(undefined, "1").argParser(positiveNumber),
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
    .option("--fetch-images", "download image URLs instead of generating images", false)
    .option("--strict", "reject webhook URLs that lead to this machine", false)
    .option("--strict-slugs", "reject backgrounds and angles that are not listed (default)")
    .option("--no-strict-slugs", "accept any background, angle and length of a product field");

/** Collects host names. Rejects wildcards, with which a web page could use the mock by a name of its own. */
function exactHosts(text: string, earlier: readonly string[] = []): string[] {
  const host = exactHost(text);
  if (host !== null) return [...earlier, host];
  throw new InvalidArgumentError("use an exact host name or address, without a port or a wildcard");
}

function rateLimit(text: string): { reads: number; writes: number } {
  const match = /^\s*(\d{1,9})\s*,\s*(\d{1,9})\s*$/.exec(text);
  const [reads, writes] = [Number(match?.[1]), Number(match?.[2])];
  if (!(reads >= 1 && writes >= 1)) {
    throw new InvalidArgumentError("use two whole numbers above 0: reads and writes per minute, e.g. 600,60");
  }
  return { reads, writes };
}
