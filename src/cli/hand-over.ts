import { existsSync, fstatSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { asCalled, findCommand, firstWord } from "./command-names.ts";
import type { ProgramName } from "./context/context.ts";
import { leadsToUs, systemCats } from "./context/system-cats.ts";
import { exitAsTold } from "./context/terminals.ts";
import { toVersionLine } from "./context/version.ts";
import type * as Program from "./main.ts";
import { programLoader } from "./program-loader.ts";
import { runSystemCat } from "./run-system-cat.ts";

/*
 * The code that runs before the program knows whether a command line is its own. It is built into one small
 * file, so that a command for the system's cat costs no more than starting Node. Node's modules are imported
 * on use: some take milliseconds.
 */

/** Whether this program runs a command line of `cat`: scripts that expect the system's cat work. */
export async function isOurs(argv: readonly string[]): Promise<boolean> {
  if (argv.length > 0) return findCommand(argv) !== null;
  const { isatty } = await import("node:tty");
  if (!isatty(0)) return false;
  // `cat > notes.txt` is often typed at a terminal; the help must not be written to that file.
  return isatty(1) || !fstatSync(1).isFile();
}

/** Prints the version or top help if asked for, else returns false: before the program loads. */
export function answeredVersion(host: NodeJS.Process, program: ProgramName): boolean {
  const argv = host.argv.slice(2);
  if (findCommand(argv)?.name !== "--version") return answeredHelp(host, program);
  try {
    // For a pipe, process.stdout would load Node's network modules.
    writeSync(1, toVersionLine(argv));
  } catch (error) {
    // A closed pipe is not an error; the rest of the program reports real ones, such as a full disk.
    return (error as NodeJS.ErrnoException).code === "EPIPE";
  }
  return true;
}

/** Prints the top help of the build, if no terminal decides its form; else returns false. */
function answeredHelp(host: NodeJS.Process, program: ProgramName): boolean {
  const [word, ...others] = host.argv.slice(2);
  const asks = word === "--help" || word === "-h" || word === "help";
  if (!asks || others.length > 0 || host.env.FORCE_COLOR !== undefined) return false;
  if (host.getBuiltinModule("node:tty").isatty(1)) return false;
  try {
    // Shorter than what a pipe accepts at once.
    writeSync(1, asCalled(program, [])(readFileSync(new URL("./help.txt", import.meta.url), "utf8")));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPIPE";
  }
  return true;
}

const loadProgram = (host: NodeJS.Process): typeof Program =>
  programLoader(host, dirname(fileURLToPath(import.meta.url)))("main.js") as typeof Program;

/** Loads the rest of the program, and runs it. */
export async function runProgram(host: NodeJS.Process, name: ProgramName): Promise<void> {
  const { main, nodeContext } = loadProgram(host);
  host.on("exit", () => {
    // Node's status for what never settles, which would be 0 otherwise.
    host.exitCode ??= 13;
    exitAsTold(host);
  });
  host.exitCode = await main(host.argv.slice(2), nodeContext(name));
}

/**
 * The environment variable with the programs tried so far, which breaks a loop when a wrapper starts this
 * program again: the text of a wrapper does not show which program it will start. The system's own cat starts
 * no program, so it gets the unchanged environment, which `cat /proc/self/environ` prints.
 */
const triedVariable = "CAT_HANDED_TO";

/** Start errors after which the next cat on PATH is tried. */
const notStartable = new Set(["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "ELOOP", "ETXTBSY"]);

/** Runs the system's cat instead, and exits with its status. `own`: the running program. */
export async function handOver(host: NodeJS.Process, own: string): Promise<void> {
  host.on("exit", () => exitAsTold(host));
  const { [triedVariable]: before = "", ...unchanged } = host.env;
  const tried = before.split("\n").filter((path) => path !== "");
  for await (const { path, realPath, mayCallBack } of systemCats(host, (path) => leadsToUs(path, own))) {
    if (tried.includes(realPath)) continue;
    tried.push(realPath);
    const problem = await runSystemCat(
      host,
      path,
      mayCallBack ? { ...unchanged, [triedVariable]: tried.join("\n") } : unchanged,
    );
    if (problem === null) return host.exitCode === 0 ? undefined : suggest(host);
    if (!notStartable.has(problem.code ?? "")) {
      host.stderr.write(`cat: ${path}: ${problem.message}\n`);
      host.exitCode = 126;
      return;
    }
  }
  host.stderr.write("cat: cannot find the system's cat on PATH\n");
  if (host.platform === "win32")
    host.stderr.write("To print a file: type FILE. For the commands of this program: catalogue --help\n");
  host.exitCode = 127;
}

/** After a failure on a terminal, names the command probably meant, e.g. for `cat improt x.csv`. */
async function suggest(host: NodeJS.Process): Promise<void> {
  const { isatty } = await import("node:tty");
  const word = firstWord(host.argv.slice(2))?.word;
  if (!isatty(2) || word === undefined || !/^[a-z]{3,20}$/i.test(word)) return;
  if (existsSync(word)) return;
  const { nearMiss } = loadProgram(host);
  const line = await nearMiss(word);
  if (line !== null) host.stderr.write(line);
}
