import type { Command } from "commander";
import { limits, optionRanges } from "../../../contract/limits.ts";
import { signatureHeader, verifySignature } from "../../../contract/signature.ts";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command } from "../../flags/command.ts";
import { wholeNumber } from "../../flags/values.ts";
import { signatureHeaderInUse } from "../../settings/settings.ts";

interface VerifyFlags {
  /** The value, perhaps copied with the name of the header. */
  header: string;
  /** The file with the body as typed; `-` for standard input. */
  file: string;
  /** In seconds. */
  tolerance: number;
}

/** `cat webhooks verify` */
export const verifyCommand = (app: App): Command =>
  command("verify", {
    summary: "check the signature of a delivery, offline",
    usage: "--header VALUE [flags]",
    about:
      "Check the signature of a delivery with CAT_WEBHOOK_SECRET, and say why it is wrong. " +
      "The body must be the bytes as received. Exits with 0 for a valid signature, and 3 for any other.",
    examples: [
      [
        "check a stored delivery of any age",
        'cat webhooks verify --header "$HEADER" --file body.json --tolerance 999999999',
      ],
    ],
  })
    .requiredOption("--header <VALUE>", `value of the header ${signatureHeader}`)
    .option("--file <FILE>", "file with the body, or - for standard input", "-")
    .option(
      "--tolerance <SECONDS>",
      "maximum distance of the timestamp from now",
      wholeNumber(optionRanges.toleranceSeconds),
      limits.signatureToleranceSeconds,
    )
    .action((flags: VerifyFlags) => verify(app, flags));

/** Checks one delivery. Throws a CatError (exit 3) with the reason if its signature is not valid. */
async function verify(app: App, { header, file, tolerance }: VerifyFlags): Promise<void> {
  const { clock, env } = app.context;
  const { webhookSecret } = await import("./handlers.ts");
  const secret = await webhookSecret(app);
  const headerName = await signatureHeaderInUse(app.globals, env);
  const delivery = {
    header: header.trim().replace(/^[\w-]+:\s*/, ""),
    rawBody: await readBody(app, file),
    secret,
    toleranceSeconds: tolerance,
  };
  const verdict = verifySignature({ ...delivery, now: clock.now() });
  if (!verdict.ok) {
    const { explainRejection } = await import("../../../flows/listen/explain-rejection.ts");
    const { code, message, hint } = explainRejection(verdict, delivery, headerName);
    throw new CatError(`invalid signature: ${message}`, { type: "input", code, hint });
  }
  const age_seconds = Math.floor(clock.now() / 1000) - verdict.timestamp;
  if (app.io.json) return app.io.jsonData({ valid: true, age_seconds });
  const age = age_seconds < 0 ? `${-age_seconds} s in the future` : `${age_seconds} s ago`;
  await app.io.data(`valid: signed ${age}\n`);
}

/** The bytes of a body from a file, or from standard input for `-`. Throws UsageError if it cannot be read. */
async function readBody(app: App, file: string): Promise<Uint8Array> {
  if (file === "-" && app.context.stdin.isTTY) {
    throw new UsageError("no body to check", {
      param: "--file",
      hint: "Add --file FILE, or send the body to standard input.",
    });
  }
  const { readBytes } = await import("../../files/read-bytes.ts");
  return readBytes(file, app.context, {
    // A delivery names one resource and its status (Events, Delivery).
    bytes: 10_000_000,
    shown: "10 MB",
    param: "--file",
    hint: "Choose the file with the body of one delivery.",
  });
}
