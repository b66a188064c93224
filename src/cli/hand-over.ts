import type { ChildProcess } from "node:child_process";
import { writeSync } from "node:fs";
import { versionLine } from "./context/version.ts";
import { findCommand } from "./find-command.ts";
import { descriptors } from "./hand-over/descriptors.ts";
import { leadsToUs } from "./hand-over/leads-to-us.ts";
import { rawArguments, throughShell } from "./hand-over/raw-arguments.ts";
import { systemCats } from "./hand-over/system-cats.ts";

/*
 * Everything that runs before a call is known to be ours. It is built into one small file, so that a foreign call pays
 * for Node's start and nothing else; Node's own modules are imported where they are needed, as some cost milliseconds.
 */

/**
 * Whether a call of `cat` is ours. Anything else belongs to the system's cat, so that a shell in which ours comes
 * first on PATH works as ever (interface, Two names for one program).
 */
export async function isOurs(argv: readonly string[]): Promise<boolean> {
  if (argv.length > 0) return findCommand(argv) !== null;
  const { isatty } = await import("node:tty");
  if (!isatty(0)) return false;
  // `cat > notes.txt`, typed at a terminal, is a habit of its own; help must not end up in the file.
  const { fstatSync } = await import("node:fs");
  return isatty(1) || !fstatSync(1).isFile();
}

/**
 * Answers a call that asks for the version, as scripts do at every look at a machine; false for any other call.
 * It is done here since anything more would cost more than the answer.
 */
export function answeredVersion(host: NodeJS.Process): boolean {
  if (findCommand(host.argv.slice(2))?.name !== "--version") return false;
  try {
    // process.stdout would load the network's modules for a pipe.
    writeSync(1, versionLine);
  } catch (error) {
    // A reader that went away is no fault; what is, as a full disk, the rest of the program tells.
    return (error as NodeJS.ErrnoException).code === "EPIPE";
  }
  return true;
}

/**
 * Has Node keep compiled code between calls, where it can (22.8 and later), in its usual folder;
 * NODE_DISABLE_COMPILE_CACHE turns it off. Called before the rest of the program loads. A failure only costs time.
 */
export function keepCompiledCode(host: Pick<NodeJS.Process, "env" | "getBuiltinModule" | "getuid">): void {
  const module = host.getBuiltinModule("node:module") as { enableCompileCache?(folder: string): unknown };
  if (module.enableCompileCache === undefined || host.env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const { lstatSync, mkdirSync } = host.getBuiltinModule("node:fs");
    const folder = `${host.getBuiltinModule("node:os").tmpdir()}/node-compile-cache`;
    try {
      // Node makes missing folders with a call that never ends in /proc.
      mkdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return;
      // What another user put there would run as ours.
      if (lstatSync(folder).uid !== (host.getuid?.() ?? 0)) return;
    }
    module.enableCompileCache(folder);
  } catch {}
}

/** Signals that end or nudge a program, and which the system's cat would have received in our place. */
const forwarded = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM"] as const;

/**
 * The environment variable that lists what was tried already, so that a wrapper that calls us back ends no loop: by no
 * look at a wrapper can it be told whom it will call. A system's own cat calls nobody, so it gets the environment as it
 * was: `cat /proc/self/environ` prints it.
 */
const triedVariable = "CAT_HANDED_TO";

/** Errors of a start that mean "not this one": the next cat on PATH may do. */
const notStartable = new Set(["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "ELOOP", "ETXTBSY"]);

/**
 * Runs the system's cat in our place: same arguments, same streams, same signals, same exit status.
 * `self` is the file of the program that was called, as a file URL.
 */
export async function handOver(host: NodeJS.Process, self: string): Promise<void> {
  const { fileURLToPath } = await import("node:url");
  const ours = fileURLToPath(self);
  const { [triedVariable]: before = "", ...asItWas } = host.env;
  const tried = before.split("\n").filter((path) => path !== "");
  for await (const { path, realPath, mayCallBack } of systemCats(host, (path) => leadsToUs(path, ours))) {
    if (tried.includes(realPath)) continue;
    tried.push(realPath);
    const problem = await run(
      host,
      path,
      mayCallBack ? { ...asItWas, [triedVariable]: tried.join("\n") } : asItWas,
    );
    if (problem === null) return;
    if (!notStartable.has(problem.code ?? "")) {
      host.stderr.write(`cat: ${path}: ${problem.message}\n`);
      host.exitCode = 126;
      return;
    }
  }
  host.stderr.write("cat: there is no other cat on PATH that this call could be handed to\n");
  host.exitCode = 127;
}

/** Runs the program at `path` to its end and ends as it did; an error when it could not be started. */
async function run(
  host: NodeJS.Process,
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ErrnoException | null> {
  const { spawn } = await import("node:child_process");
  const argv = host.argv.slice(2);
  const raw = await rawArguments(host.platform, argv);
  const stdio = await descriptors(host.platform, argv);
  const [file, args, argv0] = raw === null ? [path, argv, "cat"] : throughShell(path, raw);
  return new Promise((resolve) => {
    let child: ChildProcess;
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    const release = () => {
      for (const signal of forwarded) host.removeListener(signal, forward);
    };
    // Before the start: a signal that came right after it would end us and leave the child behind.
    for (const signal of forwarded) host.on(signal, forward);
    try {
      // GNU cat begins its messages with argv[0], which is `cat` when a shell starts it.
      child = spawn(file, args, { argv0, env, stdio });
    } catch (error) {
      release();
      return resolve(error as NodeJS.ErrnoException);
    }
    child.once("error", (error: NodeJS.ErrnoException) => {
      release();
      resolve(error);
    });
    child.once("exit", (code, signal) => {
      release();
      if (signal === null) host.exitCode = code ?? 1;
      else dieBy(host, signal);
      resolve(null);
    });
  });
}

/** Ends this process by the signal that ended the child, so that a shell sees what it would have seen. */
function dieBy(host: NodeJS.Process, signal: NodeJS.Signals): void {
  // Node ignores SIGPIPE from its start; taking a listener away sets a signal back to what the system does.
  const listener = () => {};
  try {
    host.on(signal, listener);
    host.removeListener(signal, listener);
  } catch {
    // SIGKILL and SIGSTOP take no listener, and need none.
  }
  host.exitCode = 1;
  host.kill(host.pid, signal);
}
