import { type Command, InvalidArgumentError, Option } from "commander";
import type { Mock, MockOptions } from "../../mock/index.ts";
import type { App } from "../app.ts";
import { command, examples } from "../command.ts";
import { UsageError } from "../errors.ts";
import { ExitCode } from "../exit.ts";
import { positiveNumber, wholeNumber } from "../values.ts";

interface Flags {
  port: number;
  host: string;
  seed?: number;
  demo?: number;
  speed?: number;
  /** False with `--no-rate-limit`. */
  rateLimit?: { reads: number; writes: number } | boolean;
  latency?: number;
}

/** More would only fill the memory. */
const mostDemoProducts = 100_000;

/** `cat serve --mock`: parses the flags; `run` does the work. */
export const serveCommand = (app: App, run = serveMock): Command =>
  command("serve")
    .usage("--mock [flags]")
    .description(
      "Run a made-up service on this machine: the whole API in memory, with its real limits, states and errors.\n" +
        "It runs until you stop it with Ctrl-C, and then forgets everything.",
    )
    .addOption(
      new Option("--port <PORT>", "port to listen on; 0 picks a free one")
        .default(4010)
        .argParser(wholeNumber({ min: 0, max: 65_535 })),
    )
    .addOption(new Option("--host <HOST>", "address to listen on").default("127.0.0.1"))
    .addOption(
      new Option("--seed <N>", "the same seed gives the same ids and contents").argParser(
        wholeNumber({ min: 0, max: 4_294_967_295 }),
      ),
    )
    .addOption(
      new Option("--demo <N>", "begin with this many products").argParser(
        wholeNumber({ min: 0, max: mostDemoProducts }),
      ),
    )
    .addOption(new Option("--speed <X>", "run jobs this many times faster").argParser(positiveNumber))
    .addOption(
      new Option("--rate-limit <READS,WRITES>", "requests a minute (default 600,60)").argParser(rateLimit),
    )
    .option("--no-rate-limit", "no limit on requests")
    .addOption(
      new Option("--latency <MS>", "wait this long before each answer").argParser(
        wholeNumber({ min: 0, max: 600_000 }),
      ),
    )
    .addHelpText(
      "after",
      examples([
        ["a service with 50 products to look at", "cat serve --mock --demo 50"],
        [
          "use it, in another terminal",
          "CAT_BASE_URL=http://127.0.0.1:4010 CAT_API_KEY=ak_mock cat products list",
        ],
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
      await run(app, mockOptions(flags));
    });

/** Serves until the interrupt comes, which is how it is meant to end: nothing is told about it. */
export async function serveMock(
  app: App,
  options: MockOptions & { port: number; host: string },
): Promise<void> {
  const { startMock } = await import("../../mock/index.ts");
  const { interrupt } = app.context;
  let mock: Mock;
  try {
    mock = await startMock(options);
  } catch (error) {
    throw cannotListen(error, options);
  }
  app.onClose(() => mock.stop());
  if (app.io.json) await app.io.jsonData({ base_url: mock.baseUrl, api_key: mock.apiKey });
  else await greet(app, mock);
  await new Promise<void>((resolve) => {
    if (interrupt.aborted) resolve();
    else interrupt.addEventListener("abort", () => resolve(), { once: true });
  });
  app.exit = interrupt.reason?.signal === "SIGTERM" ? ExitCode.terminated : ExitCode.interrupted;
}

async function greet(app: App, { baseUrl, apiKey }: Mock): Promise<void> {
  const { bold, dim } = app.io.paintNote;
  await app.io.note(
    [
      `A made-up service runs at ${bold(baseUrl)} with the key ${bold(apiKey)}. Ctrl-C stops it.`,
      "",
      dim("  # in another terminal"),
      `  export CAT_BASE_URL=${baseUrl} CAT_API_KEY=${apiKey}`,
      "  cat products list",
      `  curl -H "Authorization: Bearer ${apiKey}" ${baseUrl}/v1/products`,
    ].join("\n"),
  );
}

function mockOptions(flags: Flags): MockOptions & { port: number; host: string } {
  const { port, host, seed, demo, speed, rateLimit: limit, latency } = flags;
  return {
    port,
    host,
    ...(seed === undefined ? {} : { seed }),
    ...(demo === undefined ? {} : { demo }),
    ...(speed === undefined ? {} : { speed }),
    ...(limit === false || typeof limit === "object" ? { rateLimit: limit } : {}),
    ...(latency === undefined ? {} : { latencyMs: latency }),
  };
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

/** Why a port cannot be listened on, in a sentence. Anything else is passed on as it is. */
function cannotListen(error: unknown, { port, host }: { port: number; host: string }): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const refuse = (what: string, hint: string, param: string) =>
    new UsageError(what, { code: "cannot_listen", hint, param, cause: error });
  switch (code) {
    case "EADDRINUSE":
      return refuse(
        `port ${port} on ${host} is in use`,
        "Choose another with --port, or --port 0 for a free one.",
        "port",
      );
    case "EACCES":
      return refuse(`port ${port} may not be used by you`, "Choose one above 1023 with --port.", "port");
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EINVAL":
      return refuse(`${JSON.stringify(host)} is not an address of this machine`, "Leave --host out.", "host");
    default:
      return error;
  }
}
