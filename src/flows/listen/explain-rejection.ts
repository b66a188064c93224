import { type SignatureVerdict, type VerifyInput, verifySignature } from "../../contract/signature.ts";

/** The longest body that is re-encoded for an explanation, in bytes: garbage must not cost much time. */
const longest = 100_000;

/**
 * Finds how a body differs from the one that was signed, trying what programs on the way usually do to it.
 * Returns the change as a phrase, or null if none of them fits.
 */
function originalBody(
  body: Uint8Array | string,
  isSigned: (candidate: Uint8Array | string) => boolean,
): string | null {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
  if (bytes.length > longest) return null;
  const text = bytes.toString("utf8");
  for (const [change, undo] of changes) {
    for (const candidate of undo(text)) if (isSigned(candidate)) return change;
  }
  return null;
}

const changes: readonly (readonly [change: string, undo: (text: string) => Iterable<string>])[] = [
  // First: trimming removes it as well.
  ["a byte order mark was added or removed", (text) => [text.replace(/^\uFEFF/, ""), `\uFEFF${text}`]],
  ["space or line ends around it were added or removed", aroundIt],
  ["its line ends were converted", (text) => [text.replace(/\r\n/g, "\n"), text.replace(/\r?\n/g, "\r\n")]],
  ["its JSON was parsed and written again", writtenAgain],
];

function* aroundIt(text: string): Generator<string> {
  const trimmed = text.trim();
  yield trimmed;
  yield `${trimmed}\n`;
  yield `${trimmed}\r\n`;
}

/** The same JSON as different programs write it. */
function* writtenAgain(text: string): Generator<string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  const compact = JSON.stringify(value);
  const spaced = spacedJson(value);
  const forms = [compact, spaced, JSON.stringify(value, null, 2), JSON.stringify(value, null, 4)];
  for (const form of forms) {
    yield form;
    yield `${form}\n`;
    yield asciiOnly(form);
    yield form.replace(/\//g, "\\/");
  }
}

/** As Python's `json.dumps` writes it: a space after each comma and colon. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${spacedJson(inner)}`)
    .join(", ")}}`;
}

const asciiOnly = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

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
