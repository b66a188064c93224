import { type Command, Option } from "commander";
import { limits, optionRanges } from "../../../contract/limits.ts";
import { signatureHeader, verifySignature } from "../../../contract/signature.ts";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { wholeNumber } from "../../flags/values.ts";
import { signatureHeaderInUse } from "../../settings/signature-header.ts";
import { readBody } from "./read-body.ts";
import { webhookSecret } from "./secret.ts";

interface VerifyInput {
  header: string;
  /** The file with the body as typed; `-` for standard input. */
  file: string;
  toleranceSeconds: number;
}

/** `cat webhooks verify`: parses the flags; `run` does the work. */
export const verifyCommand = (app: App, run = verify): Command =>
  command("verify")
    .summary("check the signature of a delivery, offline")
    .usage("--header VALUE [flags]")
    .description(
      "Check the signature of a delivery with CAT_WEBHOOK_SECRET, and say why it is wrong. " +
        "The body must be the bytes as received. Exits with 0 for a valid signature, and 3 for any other.",
    )
    .requiredOption("--header <VALUE>", `value of the header ${signatureHeader}`)
    .option("--file <FILE>", "file with the body, or - for standard input", "-")
    .addOption(
      new Option("--tolerance <SECONDS>", "maximum distance of the timestamp from now")
        .default(limits.signatureToleranceSeconds)
        .argParser(wholeNumber(optionRanges.toleranceSeconds)),
    )
    .addHelpText(
      "after",
      examples([
        [
          "check a stored delivery of any age",
          'cat webhooks verify --header "$HEADER" --file body.json --tolerance 999999999',
        ],
      ]),
    )
    .action(async ({ header, file, tolerance }: { header: string; file: string; tolerance: number }) =>
      run(app, { header: withoutName(header), file, toleranceSeconds: tolerance }),
    );

/** The value of a header that was copied with its name. */
const withoutName = (header: string): string => header.trim().replace(/^[\w-]+:\s*/, "");

/** Checks one delivery. Throws a CatError (exit 3) with the reason if its signature is not valid. */
export async function verify(app: App, { header, file, toleranceSeconds }: VerifyInput): Promise<void> {
  const { clock, env } = app.context;
  const secret = await webhookSecret(app);
  const headerName = await signatureHeaderInUse(app.globals, env);
  const rawBody = await readBody(app, file);
  const delivery = { header, rawBody, secret, toleranceSeconds };
  const verdict = verifySignature({ ...delivery, now: clock.now() });
  if (!verdict.ok) {
    const { explainRejection } = await import("../../../flows/listen/explain-rejection.ts");
    const { code, message, hint } = explainRejection(verdict, delivery, headerName);
    throw new CatError(`invalid signature: ${message}`, { type: "input", code, hint });
  }
  const age_seconds = Math.floor(clock.now() / 1000) - verdict.timestamp;
  if (app.io.json) await app.io.jsonData({ valid: true, age_seconds });
  else
    await app.io.data(
      `valid: signed ${age_seconds < 0 ? `${-age_seconds} s in the future` : `${age_seconds} s ago`}\n`,
    );
}
