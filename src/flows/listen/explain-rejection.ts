import { verifySignature } from "../../contract/signature.ts";
import type { SignatureVerdict, VerifyInput } from "../../contract/signature-header.ts";
import { parseJson } from "../../json.ts";

/** The longest body that is re-encoded for an explanation, in bytes: garbage must not cost much time. */
const longest = 100_000;

/** The usual changes of a body by programs on the way, as phrases, and how it may have been before. */
const changes: readonly (readonly [change: string, undo: (text: string) => readonly string[]])[] = [
  // First: trimming removes it as well.
  ["a byte order mark was added or removed", (text) => [text.replace(/^\uFEFF/, ""), `\uFEFF${text}`]],
  [
    "space or line ends around it were added or removed",
    (text) => ["", "\n", "\r\n"].map((end) => text.trim() + end),
  ],
  ["its line ends were converted", (text) => [text.replace(/\r\n/g, "\n"), text.replace(/\r?\n/g, "\r\n")]],
  ["its JSON was parsed and written again", writtenAgain],
];

/** The same JSON, compact and indented. */
function writtenAgain(text: string): string[] {
  try {
    const value: unknown = parseJson(text);
    return [0, 2, 4]
      .map((indent) => JSON.stringify(value, null, indent))
      .flatMap((json) => [json, `${json}\n`]);
  } catch {
    return [];
  }
}

/** Why a delivery was not accepted, in words: a phrase in lower case, and a sentence with the next step. */
export interface SignatureProblem {
  /** `signature_missing` and so on; `signature_reencoded` for the right secret over other bytes. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Explains a rejected signature. `headerName` is the header that should have carried it. */
export function explainRejection(
  verdict: Extract<SignatureVerdict, { ok: false }>,
  delivery: Pick<VerifyInput, "header" | "rawBody" | "secret" | "toleranceSeconds">,
  headerName: string,
): SignatureProblem {
  const code = `signature_${verdict.reason}`;
  switch (verdict.reason) {
    case "missing":
      return {
        code,
        message: `the header ${headerName} is missing`,
        hint: "Check that the request comes from the service, and that no proxy removes the header.",
      };
    case "malformed":
      return {
        code,
        message: `the header ${headerName} is not of the form t=SECONDS,v1=HEX`,
        hint: "Pass the complete value of the header, unchanged.",
      };
    case "out_of_tolerance": {
      const { ageSeconds } = verdict;
      const seconds = Math.abs(ageSeconds);
      const tolerance = delivery.toleranceSeconds!;
      const when = ageSeconds > 0 ? `${seconds} s old` : `from ${seconds} s in the future`;
      const toCheckOld = " To check an old delivery, add --tolerance SECONDS.";
      return {
        code,
        message: `the signature is ${when}, ${seconds - tolerance} s more than the tolerance of ${tolerance} s`,
        hint: `Check the clock of this machine.${ageSeconds > 0 ? toCheckOld : ""}`,
      };
    }
    case "mismatch":
      return wrongBytes(code, delivery);
  }
}

/** Distinguishes another secret from the right secret over a body that something has changed on its way. */
function wrongBytes(
  code: string,
  { header, rawBody, secret }: Pick<VerifyInput, "header" | "rawBody" | "secret">,
): SignatureProblem {
  // The age does not matter here.
  const isSigned = (changed: Partial<Pick<VerifyInput, "rawBody" | "secret">>) =>
    verifySignature({
      header,
      rawBody,
      secret,
      now: 0,
      toleranceSeconds: Number.POSITIVE_INFINITY,
      ...changed,
    }).ok;
  const bytes = Buffer.from(rawBody as Uint8Array);
  const text = bytes.toString("utf8");
  const change =
    bytes.length <= longest &&
    changes.find(([, undo]) => undo(text).some((original) => isSigned({ rawBody: original })));
  if (change) {
    return {
      code: "signature_reencoded",
      message: `the secret is right, but the body was changed after signing: ${change[0]}`,
      hint: "Verify the raw bytes of the request, before anything parses or converts them.",
    };
  }
  if (isSigned({ secret: secret.trim() })) {
    return {
      code,
      message: "the secret has spaces or a line break around it",
      hint: "Set CAT_WEBHOOK_SECRET without them.",
    };
  }
  return {
    code,
    message: "the signature was made with another secret, or over another body",
    hint: secret.startsWith("whsec_")
      ? "Use the signing_secret of this webhook. It changes with each rotation."
      : "Use the complete signing_secret, including whsec_.",
  };
}
