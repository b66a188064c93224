import type { ChildProcess } from "node:child_process";
import { fstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

const forwarded = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM"] as const;

/** Runs `path` and ends this process as it ended; returns an error if it could not start. */
export async function runSystemCat(
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
    // Listen before the start: a signal right after it would end this process and leave the child behind.
    for (const signal of forwarded) host.on(signal, forward);
    try {
      // GNU cat starts its messages with argv[0], which is `cat` when started from a shell.
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
      if (signal !== null) dieBy(host, signal);
      else host.exitCode = code ?? 1;
      resolve(null);
    });
  });
}

/** Ends this process by the signal that ended the child, so that the shell sees the same status. */
function dieBy(host: NodeJS.Process, signal: NodeJS.Signals): void {
  // Node ignores SIGPIPE from its start; removing a listener restores the default action of a signal.
  const listener = () => {};
  try {
    host.on(signal, listener);
    host.removeListener(signal, listener);
  } catch {
    // SIGKILL and SIGSTOP accept no listener, and need none.
  }
  host.exitCode = 1;
  host.kill(host.pid, signal);
}

/** A descriptor of the child: inherited, closed, or the open one with this number. */
type Descriptor = "inherit" | "ignore" | number;

/**
 * The descriptors for the system's cat: the three standard ones and those in the arguments (`cat <(command)`
 * becomes `cat /dev/fd/3`), because Node closes low descriptors of a child otherwise. "ignore" beyond the
 * third leaves one alone.
 */
async function descriptors(platform: string, argv: readonly string[]): Promise<Descriptor[]> {
  const stdio: Descriptor[] = ["inherit", "inherit", "inherit"];
  for (const argument of argv) {
    const named = Number(/^\/(?:dev|proc\/self)\/fd\/(\d{1,4})$/.exec(argument)?.[1] ?? 0);
    if (named < 3 || !(await isTheCallers(platform, named))) continue;
    while (stdio.length <= named) stdio.push("ignore");
    stdio[named] = named;
  }
  return stdio;
}

/** Whether the caller opened a descriptor: it is open, and Node did not open it for its own use. */
async function isTheCallers(platform: string, descriptor: number): Promise<boolean> {
  try {
    fstatSync(descriptor);
    if (platform !== "linux") return true;
    const target = linkTarget(descriptor);
    if (target.startsWith("anon_inode:")) return false;
    // Node holds both ends of its own pipes, and one end of a pipe from the caller.
    return !(
      target.startsWith("pipe:") &&
      readdirSync("/proc/self/fd").some(
        (other) => linkTarget(other) === target && accessMode(other) !== accessMode(descriptor),
      )
    );
  } catch {
    return false;
  }

  function accessMode(open: number | string): number {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${open}`, "latin1"))?.[1];
    return Number.parseInt(flags ?? "0", 8) & 0o3;
  }

  function linkTarget(open: number | string): string {
    try {
      return readlinkSync(`/proc/self/fd/${open}`);
    } catch {
      return ""; // The descriptor that listed the folder is closed again.
    }
  }
}

/**
 * The original bytes of the arguments if some are not UTF-8, such as a file name in Latin-1: Node replaces
 * those bytes in `argv`, but Linux still has them. Null if `argv` is exact, or if the bytes are not
 * available.
 */
async function rawArguments(platform: string, argv: readonly string[]): Promise<Uint8Array[] | null> {
  if (platform !== "linux" || !argv.some((argument) => argument.includes("\uFFFD"))) return null;
  try {
    const all = splitAtNul(readFileSync("/proc/self/cmdline"));
    const raw = all.slice(all.length - argv.length);
    const same = raw.every((bytes, index) => new TextDecoder().decode(bytes) === argv[index]);
    return same && raw.length === argv.length ? raw : null;
  } catch {
    return null;
  }
}

/** A shell command that starts `path` with these bytes as octal escapes: Node only passes text. */
function throughShell(path: string, raw: readonly Uint8Array[]): [string, string[], string] {
  const folder = path.slice(0, path.lastIndexOf("/"));
  const lines = ["set --"];
  for (const bytes of raw) {
    const octal = Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    // The x protects newlines at the end of a name, which a command substitution removes.
    lines.push(`a=$(printf '${octal}x')`, `set -- "$@" "\${a%x}"`);
  }
  // Started by name, so that argv[0] is `cat`.
  lines.push(`PATH="$0:$PATH"`, `exec cat "$@"`);
  return ["/bin/sh", ["-c", lines.join("\n"), folder], "sh"];
}

function splitAtNul(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
    parts.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return parts;
}
