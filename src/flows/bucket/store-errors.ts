// The errors of an object store, as sentences with a way out.

import { CatalogueError, CatError } from "../../errors.ts";
import { BadResponseError, NetworkError, TimeoutError } from "../../http/errors.ts";

/** An error of the SDK: of the store, by its code, or of the SDK itself. */
interface StoreFailure extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  /** The region of a bucket that is elsewhere. */
  readonly Region?: string;
}

/** The HTTP status of a failed request; undefined without a response. */
export const readStatus = (error: unknown): number | undefined =>
  (error as StoreFailure | undefined)?.$metadata?.httpStatusCode;

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError) return error.transient;
  if (error instanceof TimeoutError) return true;
  const status = readStatus(error) ?? 0;
  const { name } = error as Error;
  return (
    // 409: another write to the same key is in progress.
    [409, 429].includes(status) ||
    // Not what the store does not know, or has no room for.
    (status >= 500 && status !== 501 && status !== 507) ||
    name === "RequestTimeout" ||
    name === "SlowDown"
  );
}

const signInHint =
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or check AWS_PROFILE and sign in again (for example aws sso login).";

/** The error of a profile or role that gives no credentials, with the code of the server that was asked. */
export function signInError(error: unknown): unknown {
  const { name = "", code = name } = error as { name?: string; code?: string };
  const isOfSignIn = ["bucket_key_missing", "bucket_key_expired"].includes(findFact(name)?.[1] ?? "");
  if (error instanceof CatalogueError || isOfSignIn) return error;
  return new CatError(`no credentials for the store: the sign-in failed (${code})`, {
    type: "unauthorized",
    code: "bucket_key_missing",
    hint: signInHint,
    cause: error,
  });
}

export const unusableKey = (): CatError =>
  new CatError(
    "the access key or the session token of the store has a line break or another character that no key has",
    {
      type: "unauthorized",
      code: "bucket_key_invalid",
      hint: "Set AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN again, or check the profile.",
    },
  );

const keys = "Check the access key, or sign in again (for example aws sso login).";

/** The errors of a store, by its code: the type and code, what happened, and the next step. */
const known: Readonly<
  Record<string, readonly [type: string, code: string, what: (bucket: string) => string, hint: string]>
> = {
  NoSuchBucket: [
    "not_found",
    "bucket_not_found",
    (bucket) => `the bucket ${bucket} does not exist`,
    "Check its name, and --endpoint or --region.",
  ],
  AccessDenied: [
    "forbidden",
    "bucket_denied",
    (bucket) => `access to the bucket ${bucket} was denied`,
    "The key needs s3:ListBucket and s3:GetObject for it; to write, also s3:PutObject and s3:DeleteObject.",
  ],
  InvalidAccessKeyId: [
    "unauthorized",
    "bucket_key_invalid",
    () => "the store does not know the access key",
    keys,
  ],
  SignatureDoesNotMatch: [
    "unauthorized",
    "bucket_key_invalid",
    () => "the secret of the access key is wrong",
    keys,
  ],
  ExpiredToken: [
    "unauthorized",
    "bucket_key_expired",
    () => "the credentials for the store have expired",
    keys,
  ],
  CredentialsProviderError: [
    "unauthorized",
    "bucket_key_missing",
    () => "no credentials for the store",
    signInHint,
  ],
  RequestTimeTooSkewed: [
    "unauthorized",
    "clock_skew",
    () => "the clock of this machine differs from that of the store",
    "Correct the clock.",
  ],
};

/** Codes that mean the same as another one. */
const aliases: Readonly<Record<string, string>> = {
  Forbidden: "AccessDenied",
  AllAccessDisabled: "AccessDenied",
  InvalidToken: "ExpiredToken",
  ExpiredTokenException: "ExpiredToken",
  TokenRefreshRequired: "ExpiredToken",
  RequestExpired: "RequestTimeTooSkewed",
  TokenProviderError: "CredentialsProviderError",
};

const findFact = (code: string) => known[aliases[code] ?? code];

/** Whether a proxy responded: errors of HEAD requests have no body, and no code. */
const isHtml = ({ $response }: StoreFailure): boolean =>
  /html/.test($response?.headers?.["content-type"] ?? "");

const elsewhere = new Set([
  "PermanentRedirect",
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
]);

/** Failures to connect, whose next step names the address of the service. */
const notConnected: readonly string[] = ["unreachable", "host_not_found"];

/** An error of a bucket as a CatError; a CatError stays. `act`: e.g. `list s3://a/b`. */
export function storeError(error: unknown, act: string, bucket: string): CatError {
  if (error instanceof NetworkError && notConnected.includes(error.code))
    return new NetworkError(error.message, { ...error, hint: "Check --endpoint and your network." });
  if (error instanceof CatError) return error;
  const failure = error as StoreFailure;
  const status = readStatus(failure);
  const isBare = /^(?:403|Unknown)$/.test(failure.name);
  const name = isHtml(failure) ? "SyntaxError" : status === 403 && isBare ? "AccessDenied" : failure.name;
  // A 400 about credentials or the region is not about the input.
  const detail = { requestId: failure.$metadata?.requestId, cause: error, ...(status !== 400 && { status }) };
  const fact = findFact(name);
  if (fact !== undefined) {
    const [type, code, what, hint] = fact;
    return new CatError(`cannot ${act}: ${what(bucket)}`, { ...detail, type, code, hint });
  }
  if (/^Region is missing/.test(failure.message)) {
    const hint = "Set AWS_REGION or use --region; for a store other than Amazon's, use --endpoint.";
    const what = `cannot ${act}: the region of the bucket is not known`;
    return new CatError(what, { ...detail, type: "not_found", code: "wrong_region", hint });
  }
  if (elsewhere.has(name) || status === 301) {
    const region = failure.Region ?? failure.$response?.headers?.["x-amz-bucket-region"];
    const where = region === undefined ? "another region" : `the region ${region}`;
    const hint = `Add --region ${region ?? "REGION"}.`;
    const what = `cannot ${act}: the bucket ${bucket} is in ${where}`;
    return new CatError(what, { ...detail, type: "not_found", code: "wrong_region", hint });
  }
  if (status === undefined || status < 400 || name === "SyntaxError")
    return new BadResponseError(`cannot ${act}: the response is not that of an object store`, {
      code: "not_a_store",
      status,
      cause: error,
      hint: "Check --endpoint, and the proxy or gateway in front of the store.",
    });
  return new CatError(`cannot ${act}: the store responded with ${status} (${name})`, {
    ...detail,
    status,
    type: status >= 500 ? "internal" : status === 403 ? "forbidden" : "invalid_request",
    code: "store_failed",
    hint: status >= 500 ? "Run the command again." : "Check the address, and what the store supports.",
  });
}
