import { once } from "node:events";
import { constants } from "node:os";
import type { Clock } from "../../../clock.ts";
import { childEnvironment } from "../../context/child-environment.ts";
import type { Context } from "../../context/context.ts";
import { NotStartedError, UsageError } from "../../context/errors.ts";

/**
 * Runs another program until it exits, with the streams of this process and its environment, but `env`
 * instead of the API key and the webhook secret, and passes signals on. Resolves to its exit status: 128 plus
 * the number of the signal if one ended it. Throws NotStartedError. `stop` ends the program with SIGTERM, and
 * with SIGKILL after 5 s. With `hasOwnGroup` it ends what the program has started as well: they are a process
 * group, which gets all signals (not on Windows). Such a program has no terminal of its own, so that it
 * cannot ask for a password.
 */
export async function runAnother(
  context: Pick<Context, "cwd" | "env" | "passSignals" | "clock">,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string | undefined>>,
  { stop, hasOwnGroup: wantsGroup = false }: { stop?: AbortSignal; hasOwnGroup?: boolean } = {},
): Promise<number> {
  const spawn = await spawnOfSystem(program, args);
  const hasOwnGroup = wantsGroup && process.platform !== "win32";
  let target: number | null = null;
  let ending: Promise<void> = Promise.resolve();
  // Listen before the start: a signal right after it would end this process and leave the child behind.
  const release = await context.passSignals((signal) => {
    if (target !== null) signalTo(target, signal);
  }, hasOwnGroup);
  try {
    const child = spawn(program, args, {
      cwd: context.cwd,
      env: childEnvironment(context.env, "command", env),
      stdio: "inherit",
      detached: hasOwnGroup,
    });
    // Without an ID it was not started, which is reported as an error.
    if (child.pid !== undefined) {
      const started = hasOwnGroup ? -child.pid : child.pid;
      target = started;
      const end = () => {
        ending = endProgram(started, context.clock);
      };
      if (stop?.aborted) end();
      else stop?.addEventListener("abort", end, { once: true });
    }
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    await ending;
    return code ?? 128 + constants.signals[signal];
  } catch (error) {
    // Also for an argument with a NUL, which cannot be passed to a program.
    throw new NotStartedError(program, error as NodeJS.ErrnoException);
  } finally {
    release();
  }
}

/** Options that its types lack: how a program is started, where that option is set for cmd. */
interface Parser {
  _parse(program: string, args: readonly string[]): { options: { windowsVerbatimArguments?: boolean } };
}

/**
 * Node's `spawn`, or on Windows one that starts batch files too, such as npm and all programs of packages.
 * There cmd reads arguments twice: throws UsageError if it would run a part of one, or lose what follows it.
 */
async function spawnOfSystem(program: string, args: readonly string[]) {
  if (process.platform !== "win32") return (await import("node:child_process")).spawn;
  const { default: crossSpawn } = await import("cross-spawn");
  // One quote changes what is within quotes in all arguments after it.
  const line = args.join(" ");
  const isUnsafe = /[\r\n]/.test(line) || (line.includes('"') && /[&|<>]/.test(line));
  if (isUnsafe && (crossSpawn as unknown as Parser)._parse(program, args).options.windowsVerbatimArguments)
    throw new UsageError(
      `cannot pass arguments with a line break, or with " and one of & | < >, to the batch file ${JSON.stringify(program)}`,
      { hint: "Start the program that it starts, such as: -- node FILE" },
    );
  return crossSpawn.spawn;
}

/** The time that a program has to end after SIGTERM, in milliseconds. */
const programEndMs = 5_000;
/** How often it is checked whether the program has ended, in milliseconds. */
const checkMs = 100;

/** Ends a process, or all of a group if `target` is its negative ID: SIGTERM, and SIGKILL after 5 s. */
async function endProgram(target: number, clock: Clock): Promise<void> {
  const deadline = clock.now() + programEndMs;
  signalTo(target, "SIGTERM");
  while (isAlive(target)) {
    if (clock.now() >= deadline) return signalTo(target, "SIGKILL");
    await clock.sleep(checkMs);
  }
}

/** Sends a signal to a process, or to all of a group; one that has ended is skipped. */
function signalTo(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // It has ended.
  }
}

function isAlive(target: number): boolean {
  try {
    return process.kill(target, 0);
  } catch {
    return false;
  }
}
