import { type SignatureVerdict, type VerifyInput, verifySignature } from "../../../contract/signature.ts";
import { originalBody } from "./original-body.ts";

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
    case "out_of_tolerance":
      return { code, ...wrongTime(verdict.ageSeconds, delivery.toleranceSeconds!) };
    case "mismatch":
      return wrongBytes(code, delivery);
  }
}

function wrongTime(ageSeconds: number, tolerance: number): Omit<SignatureProblem, "code"> {
  if (ageSeconds > 0) {
    return {
      message: `the signature is ${ageSeconds} s old, ${ageSeconds - tolerance} s more than the tolerance of ${tolerance} s`,
      hint: "Check the clock of this machine. To check an old delivery, add --tolerance SECONDS.",
    };
  }
  return {
    message: `the signature is from ${-ageSeconds} s in the future, ${-ageSeconds - tolerance} s more than the tolerance of ${tolerance} s`,
    hint: "Check the clock of this machine.",
  };
}

/** Tells another secret from the right secret over a body that something has changed on its way. */
function wrongBytes(
  code: string,
  { header, rawBody, secret }: Pick<VerifyInput, "header" | "rawBody" | "secret">,
): SignatureProblem {
  // The age does not matter here.
  const toleranceSeconds = Number.POSITIVE_INFINITY;
  const isSigned = (body: Uint8Array | string) =>
    verifySignature({ header, rawBody: body, secret, now: 0, toleranceSeconds }).ok;
  const found = originalBody(rawBody, isSigned);
  if (found !== null) {
    return {
      code: "signature_reencoded",
      message: `the secret is right, but the body was changed after signing: ${found}`,
      hint: "Verify the raw bytes of the request, before anything parses or converts them.",
    };
  }
  const trimmed = secret.trim();
  if (
    trimmed !== secret &&
    verifySignature({ header, rawBody, secret: trimmed, now: 0, toleranceSeconds }).ok
  ) {
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
