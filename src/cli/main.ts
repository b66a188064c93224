import { didYouMean } from "../contract/did-you-mean.ts";
import { asFileError, CatError } from "../errors.ts";
import { createApp } from "./app/app.ts";
import { asCalled, commandNames, findCommand } from "./command-names.ts";
import type { Context } from "./context/context.ts";
import { InterruptError, PartialError, toExitCode, withHint } from "./context/errors.ts";
import { earlyFlags, noGlobals } from "./context/globals.ts";
import { withOpenFileLimit } from "./context/open-files.ts";
import { toVersionLine } from "./context/version.ts";
import { explain } from "./output/explain.ts";
import { createPaint } from "./output/paint.ts";
import { maskedContext, Secrets } from "./output/secrets.ts";
import { lineWidth } from "./output/wrapped.ts";
import { createProgram } from "./program.ts";

/** For the programs in bin/: `process.exitCode = await main(argv, nodeContext("cat"))`. */
export { nodeContext } from "./context/context.ts";

/** The line that names the command probably meant, e.g. by `improt`; null for none. */
export async function nearMiss(word: string): Promise<string | null> {
  const { meantCommands } = await import("./flags/first-guesses.ts");
  const meant = meantCommands(word, "cat").map((line) => `\`${line}\``);
  if (meant.length > 0) return `Did you mean ${meant.join(" or ")} of catalogue? See: cat --help\n`;
  const [near] = didYouMean(word, commandNames);
  return near === undefined
    ? null
    : `Did you mean the command \`cat ${near}\` of catalogue? See: cat help ${near}\n`;
}

/** Runs a command line and returns the exit status, without ending the process. */
export async function main(argv: readonly string[], context: Context): Promise<number> {
  const secrets = new Secrets(context.env);
  const masked = maskedContext(context, secrets);
  try {
    if (findCommand(argv)?.name === "--version") await masked.stdout.write(toVersionLine(argv));
    else return await run(argv, masked, secrets);
    return 0;
  } catch (error) {
    return await reportError(error, argv, masked, secrets);
  } finally {
    context.release?.();
  }
}

/** Runs the command line, closes its resources and reports its end. Returns the exit status. */
async function run(argv: readonly string[], context: Context, secrets: Secrets): Promise<number> {
  const { color } = earlyFlags(argv);
  const { app, close } = createApp(context, noGlobals(), {
    secrets,
    typed: argv,
    runCommand: main,
    asCalled: asCalled(context.program, argv),
    paint: await createPaint(context, "stdout", color),
    paintNote: await createPaint(context, "stderr", color),
    openOut: async (app, name) => (await import("./files/out-files.ts")).openOutFile(app, name),
  });
  const work = async () => {
    try {
      const program = await createProgram(app, argv);
      await program.parse();
      await app.runs.end(app.exit);
    } catch (error) {
      await app.runs.end(toExitCode(reportedError(error, context)));
      throw app.lastFailure?.addTo(error) ?? error;
    } finally {
      await close();
    }
  };
  let failure: unknown;
  const exit = await work().then(
    () => app.exit,
    (error: unknown) => {
      failure = reportedError(error, context);
      return reportError(error, argv, context, secrets);
    },
  );
  // A user reads the error before a receiver that does not respond.
  await app.afterRun?.(exit, failure);
  return exit;
}

/** Prints an error on stderr, without the secrets of the user, and returns its exit status. */
export async function reportError(
  thrown: unknown,
  argv: readonly string[],
  context: Context,
  secrets: Secrets,
): Promise<number> {
  const told = reportedError(thrown, context);
  const error = told === context.interrupt.reason ? told : await withCertificateFile(told, context);
  const { json, quiet, verbose, color } = earlyFlags(argv);
  if (error instanceof PartialError && !json && !quiet) return toExitCode(error);
  const named = asCalled(context.program, argv);
  const mask = (text: string) => secrets.mask(named(text));
  const { red } = await createPaint(context, "stderr", color);
  const text = explain(error, { json, verbose, width: lineWidth(context.stderr), mask, paint: red });
  if (text !== "") await context.stderr.write(text);
  return toExitCode(error);
}

/** The error to report: after an interrupt, work fails with errors of its own. */
function reportedError(thrown: unknown, context: Context): unknown {
  const { interrupt } = context;
  const isInterrupt = interrupt.aborted && !(thrown instanceof InterruptError);
  return isInterrupt ? interrupt.reason : withOpenFileLimit(asFileError(thrown), context);
}

/** An error of TLS with the file that should have had the certificate, if that is unusable. */
async function withCertificateFile(error: unknown, { env }: Context): Promise<unknown> {
  if (!(error instanceof CatError) || error.code !== "tls") return error;
  const { certificateFileProblem } = await import("./settings/certificate-file.ts");
  const file = certificateFileProblem(env);
  if (file === null) return error;
  return withHint(error, `${file.message[0]!.toUpperCase()}${file.message.slice(1)}. ${file.hint}`);
}
