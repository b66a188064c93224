import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Context } from "../../src/cli/context/context.ts";
import { InterruptError, type InterruptSignal } from "../../src/cli/context/errors.ts";
import { LastActs } from "../../src/cli/context/last-acts.ts";
import { main } from "../../src/cli/main.ts";
import type { Product } from "../../src/contract/resources/products.ts";
import { type Mock, type MockOptions, startMock } from "../../src/mock/index.ts";
import { FakeKeychain } from "./fake-keychain.ts";
import { FakeOutput } from "./fake-output.ts";
import { keepPictures } from "./kept-pictures.ts";
import { splitWords } from "./split-words.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestClock } from "./test-clock.ts";

export interface WorldOptions {
  /** The start time of the scenario. */
  now?: string;
  mock?: Omit<MockOptions, "port" | "host">;
  /** Added to CAT_BASE_URL and CAT_API_KEY of the mock; undefined removes a variable. */
  env?: Record<string, string | undefined>;
  /** Whether stdout and stderr are a terminal, and its width. */
  tty?: boolean;
  columns?: number;
}

/** Overrides of the environment for one command. */
export interface CallOptions {
  env?: Record<string, string | undefined>;
  /** The input; a stream for keys pressed while the command runs. */
  stdin?: string | Uint8Array | PassThrough;
  /** Whether stdin, stdout and stderr are terminals. */
  tty?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  /** The number of writes to stdout that succeed before its reader closes the pipe. */
  stdoutReads?: number;
  /** Replaces parts of the context. */
  context?: Partial<Context>;
}

/** The result of a command. */
export interface Ran {
  exit: number;
  stdout: string;
  stderr: string;
}

/** A running command. */
export interface Running extends Promise<Ran> {
  /** Interrupts it; a second call stops it immediately, as far as possible in a test: other work keeps running. */
  interrupt(signal?: InterruptSignal): void;
  /** The output on stderr and stdout so far. */
  readonly stderr: string;
  readonly stdout: string;
}

/**
 * A test environment: a service, a clock that jumps over waits, a folder, and `cat` in it. It is removed when
 * the test is over.
 */
export async function createWorld(options: WorldOptions = {}) {
  keepPictures();
  const clock = new TestClock({ frozenAt: Date.parse(options.now ?? "2026-01-05T09:00:00Z") });
  const mock: Mock = await startMock({ seed: 1, clock, ...options.mock });
  onTestFinished(() => mock.stop());
  const folder = temporaryFolder();
  const settings = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_HOME: join(folder, ".home") };

  const keychain = new FakeKeychain();

  const at = (path: string): string => join(folder, path);
  return {
    clock,
    mock,
    folder,
    keychain,
    /** Runs a command line, without the leading `cat`, in this process. */
    cat(line: string | readonly string[], call: CallOptions = {}): Running {
      const argv = typeof line === "string" ? splitWords(line) : line;
      const { tty = options.tty ?? false } = call;
      const terminal = typeof tty === "boolean" ? { stdin: tty, stdout: tty, stderr: tty } : tty;
      const columns = options.columns ?? 80;
      const stdout = new FakeOutput({ isTTY: terminal.stdout ?? false, columns });
      const stderr = new FakeOutput({ isTTY: terminal.stderr ?? false, columns });
      if (call.stdoutReads !== undefined) stdout.readsLeft = call.stdoutReads;
      const stdin =
        call.stdin === undefined
          ? new PassThrough().end()
          : call.stdin instanceof PassThrough
            ? call.stdin
            : Readable.from([Buffer.from(call.stdin as string)]);
      const interrupt = new AbortController();
      const lastActs = new LastActs();
      const env: Context["env"] = { ...settings, ...options.env, ...call.env };
      const { CAT_HOME: home } = env;
      const context: Context = {
        program: "cat",
        stdin: Object.assign(stdin, { isTTY: terminal.stdin ?? false }),
        stdout,
        stderr,
        env,
        // As of a folder that is not new: without the note about new ones.
        ...(home?.startsWith("/") && { homeFolder: async () => home }),
        cwd: folder,
        clock,
        who: () => "ann@shop",
        random: () => 0.5,
        pid: 4711,
        nodeVersion: "20.19.0",
        // PID 1 exists on every system.
        isRunning: (pid) => pid === 1 || pid === 4711,
        interrupt: interrupt.signal,
        onStop: (run, finishing) => lastActs.add(run, finishing),
        passSignals: async () => () => {},
        keychain: async () => keychain,
        ...call.context,
      };
      const ran = main(argv, context).then((exit) => ({ exit, stdout: stdout.text, stderr: stderr.text }));
      return Object.defineProperties(ran, {
        interrupt: {
          value: (signal: InterruptSignal = "SIGINT") => {
            const stop = () => lastActs.run(signal);
            if (!interrupt.signal.aborted) interrupt.abort(new InterruptError(signal));
            else void (lastActs.finished(clock)?.then(stop) ?? stop());
          },
        },
        stdout: { get: () => stdout.text },
        stderr: { get: () => stderr.text },
      }) as Running;
    },
    /** The service's current products, in order of creation. */
    products: (): Product[] =>
      mock
        .state()
        .organizations.main.products.filter((product) => product.deleted_at === null)
        .sort((one, other) => one.order - other.order)
        .map(({ id, name, reference, description, sex, images, created_at, updated_at }) => {
          return { id, name, reference, description, sex, images, created_at, updated_at };
        }),
    /** The requests that the service received, oldest first. */
    requests: () => mock.requests(),
    write(path: string, content: string | Uint8Array): string {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
    read: (path: string): string => readFileSync(at(path), "utf8"),
    /** Copies the project's fixtures into the folder, as `fixtures/`. */
    withFixtures(): void {
      cpSync(fileURLToPath(new URL("../../fixtures", import.meta.url)), at("fixtures"), { recursive: true });
    },
  };
}

export type TestWorld = Awaited<ReturnType<typeof createWorld>>;
